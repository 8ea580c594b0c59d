#!/bin/sh
# mpirun with what this machine needs, for `make run` and the tests:
#
#   scripts/mpirun.sh -np P PROGRAM [arguments]
#
# With Open MPI: allow running as root where we are root (containers), and
# more ranks than cores where there are more.  Users need none of it when
# their ranks fit their cores.
set -eu
if [ "${1:-}" != -np ] || [ $# -lt 3 ]; then
    echo "usage: scripts/mpirun.sh -np P PROGRAM [arguments]" >&2
    exit 1
fi
ranks=$2
shift 2
if mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    if [ "$(id -u)" = 0 ]; then
        export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    fi
    if [ "$ranks" -gt "$(nproc)" ]; then
        set -- --oversubscribe "$@"
    fi
fi
exec mpirun -np "$ranks" "$@"
