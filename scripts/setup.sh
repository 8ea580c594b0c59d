#!/bin/sh
# Install what peigh needs, or say exactly what is missing.
#
#   scripts/setup.sh [--check] build|test|valgrind|fuzz|slurm
#
# build: to build and run peigh; test: also to run its tests; valgrind: also
# to run them under valgrind; fuzz: also clang, for make fuzz; slurm: also
# the Slurm that the tests labelled slurm start.  With everything in place it
# prints nothing and changes nothing.  --check never installs.
set -eu

check=no
if [ "${1:-}" = --check ]; then check=yes; shift; fi
level=${1:-build}
case $level in
build|test|valgrind|fuzz|slurm) ;;
*) echo "usage: scripts/setup.sh [--check] build|test|valgrind|fuzz|slurm" >&2
   exit 1 ;;
esac

missing= # Debian's package names
need() { missing="$missing $1"; }

has() { command -v "$1" >/dev/null 2>&1; }
has_library() { has pkg-config && pkg-config --exists "$1"; }
python_has() { for python in /usr/bin/python3 python3; do
    "$python" -c "import $1" 2>/dev/null && return; done; return 1; }

has make || need make
has gcc || has cc || need gcc
has ar && has objcopy || need binutils
echo '#include <stdlib.h>' | cc -E - >/dev/null 2>&1 || need libc6-dev
has pkg-config || need pkg-config
has mpirun || need openmpi-bin
has mpicc || need libopenmpi-dev
# Own choices, given to make, are not looked for.
[ -n "${ZLIB_LIBS:-}" ] || has_library zlib || need zlib1g-dev
[ -n "${BLAS_LIBS:-}" ] || has_library openblas || has_library flexiblas ||
    need libopenblas-serial-dev
[ -n "${SCALAPACK_LIBS:-}" ] || has_library scalapack-openmpi ||
    has_library scalapack || need libscalapack-openmpi-dev
if [ "$level" != build ]; then
    has_library check || need check
    has ctest || need cmake
    python_has numpy || need python3-numpy
    python_has scipy || need python3-scipy
fi
[ "$level" != valgrind ] || has valgrind || need valgrind
if [ "$level" = slurm ]; then
    PATH=$PATH:/usr/sbin:/sbin # where the daemons are
    has munged || need munge
    has slurmctld || need slurmctld
    has slurmd || need slurmd
    has srun || need slurm-client
    # srun --mpi=pmix
    ls /usr/lib/*/slurm*/mpi_pmix.so >/dev/null 2>&1 ||
        need slurm-wlm-basic-plugins
fi
if [ "$level" = fuzz ]; then
    has clang || need clang
    # its libFuzzer comes in a package of its own
    echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return n < 0 && *d; }' |
        clang -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null || need libclang-rt-dev
fi

[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
    if has sudo && sudo -n true 2>/dev/null; then as_root="sudo -n"; else as_root=no; fi
fi
if [ $check = yes ] || ! has apt-get || [ "$as_root" = no ]; then
    echo "peigh: missing (Debian's package names):$missing" >&2
    if [ $check = yes ]; then
        echo "peigh: scripts/setup.sh $level installs them where there is apt" >&2
    else
        echo "peigh: install them, with apt-get as root or your system's own names, and try again" >&2
    fi
    exit 1
fi

# RUNLEVEL=1: no package starts a service of its own.
echo "peigh: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # words are meant to be split
if ! { $as_root apt-get update -q &&
       $as_root env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 \
           apt-get install -q -y --no-install-recommends $missing; } >"$log" 2>&1
then
    tail -n 20 "$log" >&2
    echo "peigh: apt-get could not install:$missing" >&2
    exit 1
fi
