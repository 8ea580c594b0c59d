#!/bin/sh
# Relative errors of peigh, pdsyev, pdsyevd and pdsyevr on graded matrices, as
# the table in README.md.
#
#   scripts/accuracy.sh [RANKS]
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh test
make --no-print-directory build/accuracy >&2
exec scripts/mpirun.sh -np "${1:-2}" build/accuracy
