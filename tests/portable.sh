#!/bin/sh
# What is shipped runs on any processor of its kind: vector instructions of
# newer ones only in the variants that are chosen at run time (field report:
# a binary that died with SIGILL).
#
#   tests/portable.sh OBJECT...
set -eu
case $(uname -m) in x86_64) ;; *) exit 77 ;; esac
for object; do
    objdump -d --no-show-raw-insn "$object" |
        awk -v object="$object" '
            /^[0-9a-f]+ <.*>:$/ { variant = $2 ~ /arch_x86_64_v[34]|_avx(2|512)[.>]/; name = $2 }
            !variant && /%[yz]mm/ { print object ": " name " " $0; bad = 1 }
            END { exit bad }'
done
