#!/bin/sh
# The small cases under valgrind (memcheck): reads of what was never written,
# accesses out of bounds.
#
#   scripts/valgrind.sh BUILD
#
# What Open MPI itself does is suppressed by its own list where it has one.
set -eu
cd "$(dirname "$0")/.."
build=${1:?usage: scripts/valgrind.sh BUILD}
suppressions=--suppressions=scripts/valgrind.supp
for list in /usr/share/openmpi/openmpi-valgrind.supp; do
    [ ! -f $list ] || suppressions="$suppressions --suppressions=$list"
done
export HWLOC_COMPONENTS=-x86 # it cannot work under valgrind, and says so
check() {
    ranks=$1
    shift
    echo "valgrind, $ranks rank(s): $*"
    # shellcheck disable=SC2086 # no word when there is no list
    scripts/mpirun.sh -np "$ranks" valgrind -q --error-exitcode=99 \
        $suppressions "$@"
}
check 1 "$build/test_rotate"
for n in 0 1 2 17 40; do
    check 1 ./peigh -q -n $n --no-compare
    check 3 ./peigh -q -n $n -w 2 --no-compare
done
check 2 ./peigh -q --uplo lower -o "$build/values.txt" -v "$build/vectors.npy" \
    tests/matrices/bcsstk01.mtx
check 2 ./peigh -q --symmetrize --compare pdsyev gallery:clement,n=30
echo "valgrind: no errors"
