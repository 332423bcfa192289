#!/usr/bin/env bash
# Makes a Debian package from a built program:
#
#     build.sh VERSION BINARY OUT [COMPLETIONS]
#
# COMPLETIONS is a folder with phasegate.bash, _phasegate and phasegate.fish. Without it the program is asked for them, so it
# must run here.
set -euo pipefail
fail() { echo "build.sh: $*" >&2; exit 1; }
[ $# -ge 3 ] || fail "usage: build.sh VERSION BINARY OUT [COMPLETIONS]"
version=$1 binary=$2 out=$3 completions=${4:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
for tool in dpkg-deb readelf gzip; do
  command -v "$tool" >/dev/null || fail "needs $tool"
done

machine=$(readelf -h "$binary" | sed -n 's/^ *Machine: *//p')
case $machine in
  *X86-64) architecture=amd64 ;;
  AArch64) architecture=arm64 ;;
  *) fail "no architecture of Debian is known here for \`$machine\`" ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
doc=$tree/usr/share/doc/phasegate
install -Dm755 "$binary" "$tree/usr/bin/phasegate"

if [ -z "$completions" ]; then
  completions=$scratch
  "$binary" completions bash >"$scratch/phasegate.bash"
  "$binary" completions zsh >"$scratch/_phasegate"
  "$binary" completions fish >"$scratch/phasegate.fish"
fi
install -Dm644 "$completions/phasegate.bash" "$tree/usr/share/bash-completion/completions/phasegate"
install -Dm644 "$completions/_phasegate" "$tree/usr/share/zsh/vendor-completions/_phasegate"
install -Dm644 "$completions/phasegate.fish" "$tree/usr/share/fish/vendor_completions.d/phasegate.fish"

maintainer="The phasegate contributors <phasegate@users.noreply.github.com>"
# The same program gives the same package: dpkg-deb takes this time for every file.
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -C "$root" log -1 --format=%ct)}
date=$(date -R -u -d "@$SOURCE_DATE_EPOCH")
install -d "$doc"
{
  cat <<'TEXT'
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: phasegate
Source: https://github.com/phasegate/phasegate

Files: *
Copyright: 2026 The phasegate contributors
License: Apache-2.0 or MIT

License: Apache-2.0
 On Debian systems the text is in /usr/share/common-licenses/Apache-2.0.

License: MIT
TEXT
  # Every line of a text begins with a blank, and a dot stands for an empty one.
  sed -n '/^Permission/,$p' "$root/LICENSE-MIT" | sed 's/^$/./; s/^/ /'
} >"$doc/copyright"
gzip -9n <"$root/CHANGELOG.md" >"$doc/changelog.gz"
printf 'phasegate (%s-1) unstable; urgency=medium\n\n  * phasegate %s: see changelog.gz.\n\n -- %s  %s\n' \
  "${version/-/\~}" "$version" "$maintainer" "$date" | gzip -9n >"$doc/changelog.Debian.gz"

# A static program needs nothing; what another one loads, dpkg-shlibdeps finds.
depends=
if readelf -lW "$binary" | grep -q INTERP; then
  command -v dpkg-shlibdeps >/dev/null || fail "needs dpkg-shlibdeps (dpkg-dev) for a program that is not static"
  install -Dm644 /dev/stdin "$scratch/debian/control" <<<"Source: phasegate"
  depends=$(cd "$scratch" && dpkg-shlibdeps --warnings=0 -O "tree/usr/bin/phasegate" 2>"$scratch/told" | sed -n 's/^shlibs:Depends=/Depends: /p')
fi
install -d "$tree/DEBIAN"
{
  echo "Package: phasegate"
  # Before a release candidate comes a tilde, which sorts before nothing.
  echo "Version: ${version/-/\~}-1"
  echo "Architecture: $architecture"
  echo "Maintainer: $maintainer"
  echo "Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)"
  [ -z "$depends" ] || echo "$depends"
  echo "Section: devel"
  echo "Priority: optional"
  echo "Homepage: https://github.com/phasegate/phasegate"
  cat <<'TEXT'
Description: guard for the tool calls of AI coding agents
 phasegate sees every tool call of an AI coding agent before it runs. It knows
 which skill is active and in which phase, and what the agent has really done.
 It allows the call, warns, or denies it and says what to do now.
TEXT
} >"$tree/DEBIAN/control"
find "$tree" -type d -exec chmod 755 {} +
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$tree/DEBIAN/md5sums"

mkdir -p "$out"
made=$out/phasegate_${version/-/\~}-1_$architecture.deb
dpkg-deb --build --root-owner-group "$tree" "$made" >/dev/null
echo "$(basename "$made") $(stat -c %s "$made") bytes"
