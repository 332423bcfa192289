#!/usr/bin/env bash
# Makes the archive of a release from a built program, and the completions of shells beside it:
#
#     archive.sh TARGET BINARY COMPLETIONS OUT
#
# The archive is OUT/phasegate-TARGET.tar.gz, or .zip for Windows: its name has no version, so that an address of the
# newest release stays the same. COMPLETIONS is a folder with phasegate.bash, _phasegate and phasegate.fish.
set -euo pipefail
fail() { echo "archive.sh: $*" >&2; exit 1; }
[ $# = 4 ] || fail "usage: archive.sh TARGET BINARY COMPLETIONS OUT"
target=$1 binary=$2 completions=$3
mkdir -p "$4"
out=$(cd "$4" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
name=phasegate-$target
mkdir -p "$scratch/$name/completions"
cp "$binary" "$scratch/$name/"
chmod 755 "$scratch/$name/$(basename "$binary")"
cp "$root"/{README.md,CHANGELOG.md,LICENSE-APACHE,LICENSE-MIT} "$scratch/$name/"
cp "$completions"/{phasegate.bash,_phasegate,phasegate.fish} "$scratch/$name/completions/"
cd "$scratch"
case $target in
  *-windows-*)
    made=$out/$name.zip
    rm -f "$made"
    if command -v zip >/dev/null; then zip -qrX "$made" "$name"; else 7z a -tzip "$made" "$name" >/dev/null; fi
    ;;
  *)
    made=$out/$name.tar.gz
    tar -cf - "$name" | gzip -9n >"$made"
    ;;
esac
echo "$(basename "$made") $(wc -c <"$made" | tr -d ' ') bytes"
