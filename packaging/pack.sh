#!/usr/bin/env bash
# Makes everything that a release publishes, from built programs:
#
#     pack.sh VERSION PROGRAMS OUT [PLATFORM]...
#
# PROGRAMS holds PLATFORM/phasegate (linux-x64/phasegate, win32-x64/phasegate.exe, ...), and completions/ with
# phasegate.bash, _phasegate and phasegate.fish. Without PLATFORM all of them are packed, and all of them have to be there.
# OUT gets release/ (archives, Debian packages, install.sh, the formula, SHA256SUMS), npm/ and wheels/.
set -euo pipefail
fail() { echo "pack.sh: $*" >&2; exit 1; }
[ $# -ge 3 ] || fail "usage: pack.sh VERSION PROGRAMS OUT [PLATFORM]..."
version=$1 programs=$2 out=$3
shift 3
here=$(cd "$(dirname "$0")" && pwd)
for tool in node npm python3 dpkg-deb sha256sum; do
  command -v "$tool" >/dev/null || fail "needs $tool"
done

declare -A targets=(
  [linux-x64]=x86_64-unknown-linux-musl
  [linux-arm64]=aarch64-unknown-linux-musl
  [darwin-x64]=x86_64-apple-darwin
  [darwin-arm64]=aarch64-apple-darwin
  [win32-x64]=x86_64-pc-windows-msvc
)
all=(linux-x64 linux-arm64 darwin-x64 darwin-arm64 win32-x64)
platforms=("$@")
[ $# -gt 0 ] || platforms=("${all[@]}")

only=()
for platform in "${platforms[@]}"; do
  target=${targets[$platform]:-}
  [ -n "$target" ] || fail "no platform \`$platform\`; there are ${all[*]}"
  program=$programs/$platform/phasegate
  case $platform in win32-*) program=$program.exe ;; esac
  [ -f "$program" ] || fail "there is no $program"
  only+=(--only "$platform")
  "$here/archive.sh" "$target" "$program" "$programs/completions" "$out/release"
  "$here/python/wheel.py" "$version" "$target" "$program" "$out/wheels"
  case $platform in
    linux-*) "$here/debian/build.sh" "$version" "$program" "$out/release" "$programs/completions" ;;
  esac
done
"$here/npm/pack.mjs" "$version" "$programs" "$out/npm" "${only[@]}"

cp "$here/install.sh" "$out/release/"
cd "$out/release"
rm -f SHA256SUMS phasegate.rb
# shellcheck disable=SC2035 # No name begins with a dash.
sha256sum * >../SHA256SUMS
mv ../SHA256SUMS .
if [ ${#platforms[@]} = ${#all[@]} ]; then
  "$here/homebrew/formula.py" "$version" SHA256SUMS >phasegate.rb
else
  echo "pack.sh: no formula for Homebrew, which needs every platform"
fi
