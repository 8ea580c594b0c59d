#!/bin/sh
# Tests of scripts/setup.sh: what it finds missing, what it says, what it asks
# apt-get for.  Nothing is installed: tools are hidden by a PATH that holds
# links to all others, and the apt-get in it only notes what it was told.
set -eu
setup=$(cd "$(dirname "$0")/.." && pwd)/scripts/setup.sh
unset BLAS_LIBS SCALAPACK_LIBS || true

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM

fail() { echo "tests/setup.sh: $*" >&2; cat "$folder/output" >&2; exit 1; }

# run CODE [VARIABLE=VALUE...] [argument...]: run setup.sh under env(1) and
# expect its exit code; what it prints is in $folder/output.
run() {
    expected=$1
    shift
    code=0
    env "$@" >"$folder/output" 2>&1 </dev/null || code=$?
    [ $code = "$expected" ] || fail "$*: exit code $code, not $expected"
}

prints() { grep -q -e "$1" "$folder/output" || fail "no line matches: $1"; }

prints_nothing() { [ ! -s "$folder/output" ] || fail "it printed"; }

# hide TOOL...: a new $tools, a PATH without these and without apt-get.
tools=$folder/tools
hide() {
    rm -rf "$tools"
    mkdir "$tools"
    for tool in sh env make gcc cc ar objcopy pkg-config mpirun mpicc ctest \
                python3 cat tail mktemp rm; do
        case " $* " in *" $tool "*) continue ;; esac
        ln -s "$(command -v $tool)" "$tools/$tool"
    done
    printf '#!/bin/sh\necho 0\n' >"$tools/id" # we are root
    chmod +x "$tools/id"
}

# An apt-get that notes its arguments and ends with the given code.
fake_apt_get() {
    rm -f "$folder/apt"
    printf '#!/bin/sh\necho "$*" >>"%s"\nexit %s\n' "$folder/apt" "$1" \
        >"$tools/apt-get"
    chmod +x "$tools/apt-get"
}

# With everything in place it prints nothing, whether it may install or not.
for level in build test; do
    run 0 "$setup" --check $level
    prints_nothing
done
hide
fake_apt_get 0
run 0 PATH="$tools" "$setup" build
prints_nothing
[ ! -e "$folder/apt" ] || fail "apt-get was called for nothing"

# A wrong argument gives the usage.
for arguments in frobnicate "--check all" --install; do
    # shellcheck disable=SC2086 # words are meant to be split
    run 1 "$setup" $arguments
    prints '^usage: scripts/setup.sh'
done

# What is missing is named on one line, all of it, and nothing else is.
hide mpicc pkg-config
fake_apt_get 0
run 1 PATH="$tools" "$setup" --check build
prints '^peigh: missing.*: .*pkg-config.* libopenmpi-dev'
[ "$(grep -c libopenmpi-dev "$folder/output")" = 1 ] || fail "said twice"
[ ! -e "$folder/apt" ] || fail "--check called apt-get"
hide mpicc
run 1 PATH="$tools" "$setup" --check build
prints '^peigh: missing.*: libopenmpi-dev$'

# Tools of the tests are not needed to build.
hide ctest
run 0 PATH="$tools" "$setup" --check build
prints_nothing
run 1 PATH="$tools" "$setup" --check test
prints '^peigh: missing.*: cmake$'

# Without apt-get it says what to do instead of installing.
run 1 PATH="$tools" "$setup" test
prints '^peigh: missing.*: cmake$'
prints '^peigh: install them'

# With it, just what is missing is installed.
hide mpicc mpirun
fake_apt_get 0
run 0 PATH="$tools" "$setup" build
prints '^peigh: installing openmpi-bin libopenmpi-dev$'
grep -q '^update' "$folder/apt" || fail "no apt-get update"
grep -q '^install.* -y .*openmpi-bin libopenmpi-dev$' "$folder/apt" ||
    fail "apt-get was told: $(cat "$folder/apt")"

# An apt-get that fails is a failure that names the packages.
fake_apt_get 100
run 1 PATH="$tools" "$setup" build
prints '^peigh: apt-get could not install: openmpi-bin libopenmpi-dev$'
