#!/bin/sh
# Time peigh beside ScaLAPACK's solvers and, where installed, ELPA's.
#
#   scripts/bench.sh [--sizes "N ..."] [--ranks "P ..."] [--repeats K]
#                    [--peers "SOLVER ..."] [--blocks "NB ..."] [--csv FILE]
#
# Without --sizes: 128 256 512 1024 on more ranks than cores, 512 1000 2000
# 4000 otherwise; without --ranks: 16, and one to a core.  All of that takes
# about half an hour on two cores.  scripts/bench.py does the work; BUILD is the
# build folder.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh build
command -v python3 >/dev/null || {
    echo "peigh: missing (Debian's package names): python3" >&2
    exit 1
}
export BUILD="${BUILD:-build}"
rm -f "$BUILD/bench" # make cannot know whether ELPA has come or gone
make --no-print-directory BUILD="$BUILD" "$BUILD/bench" >&2
exec python3 scripts/bench.py "$@"
