#!/bin/sh
# Tests of `make install`: the files, the names that the libraries export, and
# the README's example built against them as a user would, through pkg-config
# with the shared library and with the static one.
set -eu
cd "$(dirname "$0")/.."
CC=${CC:-mpicc}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
prefix=$folder/prefix

fail() { echo "tests/install.sh: $*" >&2; exit 1; }

make_quietly() {
    make "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; fail "make $*"; }
}

make_quietly install PREFIX="$prefix"
make_quietly build/example.c
[ -s build/example.c ] || fail "README.md has no example"

# --- the files

for file in bin/peigh bin/peigh-sum include/peigh.h lib/libpeigh.a lib/libpeigh.so \
            lib/libpeigh.so.0 lib/pkgconfig/peigh.pc share/man/man1/peigh.1; do
    [ -s "$prefix/$file" ] || fail "$file was not installed"
done
[ -x "$prefix/bin/peigh" ] || fail "bin/peigh cannot be executed"
installed=$(find "$prefix" ! -type d | wc -l)
[ "$installed" -eq 8 ] || fail "$installed files instead of 8"

version=$(sed -n 's/^#define PEIGH_VERSION "\(.*\)"/\1/p' include/peigh.h)
[ "$("$prefix/bin/peigh" --version)" = "peigh $version" ] ||
    fail "the installed program is not version $version"

# With DESTDIR everything moves but the paths inside of the files.
make_quietly install PREFIX=/opt/peigh DESTDIR="$folder/stage"
grep -q '^prefix=/opt/peigh$' \
    "$folder/stage/opt/peigh/lib/pkgconfig/peigh.pc" || fail "DESTDIR"

# --- the names

# Defined global names of the nm(1) output on standard input that are not ours.
others() { awk 'NF == 3 && $3 !~ /^peigh_/ { print $3 }'; }

expect_own_names_only() {
    library=$1
    shift
    nm "$@" --defined-only "$prefix/lib/$library" >"$folder/names"
    grep -q ' T peigh_solve$' "$folder/names" ||
        fail "$library has no peigh_solve"
    [ -z "$(others <"$folder/names")" ] ||
        fail "$library exports" "$(others <"$folder/names" | tr '\n' ' ')"
}

expect_own_names_only libpeigh.a -g
expect_own_names_only libpeigh.so -D

# --- the example

PKG_CONFIG_PATH="$prefix/lib/pkgconfig:${PKG_CONFIG_PATH:-}"
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion peigh)" = "$version" ] ||
    fail "pkg-config knows another version than $version"

# build PROGRAM LIBRARIES: the example, in strict C and without a warning.
build() {
    # shellcheck disable=SC2046,SC2086 # flags are meant to be split
    $CC -std=c11 -Wall -Wextra -Wshadow -Werror $(pkg-config --cflags peigh) \
        -o "$folder/$1" build/example.c $2 || fail "$1 was not built"
}

build shared "$(pkg-config --libs peigh)"
build static "$(pkg-config --static --libs peigh |
                sed 's/-lpeigh/-l:libpeigh.a/')"

# run PROGRAM: its output on 3 ranks, with the installed library.
run() {
    LD_LIBRARY_PATH="$prefix/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
        scripts/mpirun.sh -np 3 "$folder/$1" </dev/null ||
        fail "the $1 example failed"
}

needs_library() { readelf -d "$folder/$1" | grep -q 'libpeigh\.so\.0'; }

needs_library shared || fail "the shared example does not use libpeigh.so.0"
! needs_library static || fail "the static example uses libpeigh.so"
run shared >"$folder/shared.out"
run static >"$folder/static.out"
[ -s "$folder/shared.out" ] || fail "the example prints nothing"
cmp -s "$folder/shared.out" "$folder/static.out" ||
    fail "the libraries differ: $(cat "$folder"/*.out)"
