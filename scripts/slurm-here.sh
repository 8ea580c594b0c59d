#!/bin/sh
# A Slurm of one node on this machine, for as long as a command runs:
#
#   scripts/slurm-here.sh COMMAND [arguments]
#
# munged, slurmctld and slurmd run from a temporary folder with a throw-away
# key, configuration, ports and state; nothing of an installed Slurm is used
# or changed.  srun, sbatch and the rest find it by SLURM_CONF.  Ends with the
# command's exit code; 77 where it cannot run (no Slurm, not root).
# SLURM_HERE_KEEP=FOLDER: the logs are copied there at the end.
set -eu
[ $# -gt 0 ] || { echo "usage: scripts/slurm-here.sh COMMAND" >&2; exit 1; }
PATH=$PATH:/usr/sbin:/sbin
for tool in munged mungekey slurmctld slurmd srun sbatch; do
    command -v $tool >/dev/null || { echo "slurm-here: no $tool" >&2; exit 77; }
done
[ "$(id -u)" = 0 ] || { echo "slurm-here: not root" >&2; exit 77; }

here=$(mktemp -d /tmp/slurm-here.XXXXXX) # short: paths of sockets are
chmod 755 "$here"
pids=
stop() {
    for pid in $pids; do kill "$pid" 2>/dev/null || true; done
    for pid in $pids; do wait "$pid" 2>/dev/null || true; done
    [ -z "${SLURM_HERE_KEEP:-}" ] || cp "$here"/*.log "$SLURM_HERE_KEEP" || true
    rm -rf "$here"
}
trap stop EXIT
trap 'exit 1' HUP INT TERM

# Two ports that nobody listens on.
ports=$(python3 -c 'import socket
s = [socket.socket() for _ in range(2)]
[x.bind(("", 0)) for x in s]
print(*[x.getsockname()[1] for x in s])')
host=$(uname -n | cut -d. -f1)
memory=$(awk '/^MemTotal/ { print int($2 / 1024) }' /proc/meminfo)
mkdir "$here/state" "$here/spool"
cat >"$here/slurm.conf" <<CONF
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=${ports% *}
SlurmdPort=${ports#* }
SlurmUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket=$here/munge.socket
StateSaveLocation=$here/state
SlurmdSpoolDir=$here/spool
SlurmctldPidFile=$here/slurmctld.pid
SlurmdPidFile=$here/slurmd.pid
SlurmctldLogFile=$here/slurmctld.log
SlurmdLogFile=$here/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
ReturnToService=2
KillWait=5
MailProg=/bin/true
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) RealMemory=$memory
PartitionName=here Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:16
CONF
export SLURM_CONF="$here/slurm.conf"
unset SLURM_JOB_ID SLURM_JOBID || true

mungekey -c -k "$here/munge.key"
munged -F --key-file="$here/munge.key" --socket="$here/munge.socket" \
    --pid-file="$here/munge.pid" --log-file="$here/munged.log" \
    --seed-file="$here/munge.seed" --force >"$here/munged.out" 2>&1 &
pids=$!
slurmctld -D -c >"$here/slurmctld.out" 2>&1 &
pids="$! $pids"
slurmd -D -N "$host" >"$here/slurmd.out" 2>&1 &
pids="$! $pids"

tries=0
until sinfo -h -o %T 2>/dev/null | grep -q idle; do
    tries=$((tries + 1))
    if [ $tries -gt 60 ]; then
        echo "slurm-here: Slurm does not come up" >&2
        tail -n 5 "$here"/*.log "$here"/*.out >&2
        exit 1
    fi
    sleep 0.5
done
code=0
"$@" || code=$?
scancel -Q --user=root 2>/dev/null || true
exit $code
