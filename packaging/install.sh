#!/bin/sh
# Installs phasegate from the archive of a release:
#
#     curl -fsSL https://github.com/phasegate/phasegate/releases/latest/download/install.sh | sh
#
# PHASEGATE_VERSION    a version such as 0.1.0; default: the newest
# PHASEGATE_BIN        the folder to install into; default: ~/.local/bin
# PHASEGATE_BASE_URL   where the archives and SHA256SUMS are; default: the release on GitHub
# PHASEGATE_SHA256     the sum that the archive has to have; default: the one in SHA256SUMS
#
# It stops, and installs nothing, where the platform is unknown, something is missing, or a sum is wrong.
set -eu

releases=https://github.com/phasegate/phasegate/releases

fail() {
  echo "install.sh: $1" >&2
  echo "Nothing was installed." >&2
  exit 1
}

needs() {
  command -v "$1" >/dev/null 2>&1 || fail "needs \`$1\`, which is not on PATH"
}

target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $machine in
    x86_64 | amd64) machine=x86_64 ;;
    aarch64 | arm64) machine=aarch64 ;;
    *) fail "there is no program for the machine \`$machine\`; build it from source: https://github.com/phasegate/phasegate" ;;
  esac
  case $system in
    Linux) echo "$machine-unknown-linux-musl" ;;
    Darwin)
      # A shell that Rosetta translates says x86_64.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" != 1 ] || machine=aarch64
      echo "$machine-apple-darwin"
      ;;
    *) fail "there is no archive for the system \`$system\`; on Windows: npm install -g phasegate" ;;
  esac
}

# fetch ADDRESS FILE
fetch() {
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 2 -o "$2" "$1" || fail "$1 cannot be fetched"
  elif command -v wget >/dev/null 2>&1; then
    wget -q -O "$2" "$1" || fail "$1 cannot be fetched"
  else
    fail "needs curl or wget, and neither is on PATH"
  fi
}

# The SHA-256 of a file, by what this system has.
sum_of() {
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1" | cut -d ' ' -f 1
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1" | cut -d ' ' -f 1
  else
    fail "needs sha256sum or shasum, and neither is on PATH"
  fi
}

main() {
  needs tar
  needs gzip
  target=$(target)
  name=phasegate-$target
  archive=$name.tar.gz
  if [ -n "${PHASEGATE_BASE_URL:-}" ]; then
    base=${PHASEGATE_BASE_URL%/}
  elif [ -n "${PHASEGATE_VERSION:-}" ]; then
    base=$releases/download/v$PHASEGATE_VERSION
  else
    base=$releases/latest/download
  fi
  if [ -n "${PHASEGATE_BIN:-}" ]; then
    folder=$PHASEGATE_BIN
  else
    [ -n "${HOME:-}" ] || fail "HOME is not set; name a folder in PHASEGATE_BIN"
    folder=$HOME/.local/bin
  fi

  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  trap 'exit 1' HUP INT TERM
  fetch "$base/$archive" "$scratch/$archive"
  wanted=${PHASEGATE_SHA256:-}
  if [ -z "$wanted" ]; then
    fetch "$base/SHA256SUMS" "$scratch/SHA256SUMS"
    wanted=$(awk -v file="$archive" '$2 == file || $2 == "*" file { print $1 }' "$scratch/SHA256SUMS")
    [ -n "$wanted" ] || fail "$base/SHA256SUMS has no sum of $archive"
  fi
  found=$(sum_of "$scratch/$archive")
  [ "$found" = "$wanted" ] || fail "$archive is not what was released: its SHA-256 is $found, and $wanted is wanted"

  tar -xzf "$scratch/$archive" -C "$scratch" "$name/phasegate" || fail "$archive has no $name/phasegate"
  version=$("$scratch/$name/phasegate" --version) || fail "the program of $archive does not run here"
  mkdir -p "$folder"
  # A hook may start the program at any time: the new one takes the name of the old one at once.
  cp "$scratch/$name/phasegate" "$folder/.phasegate.$$"
  chmod 755 "$folder/.phasegate.$$"
  mv -f "$folder/.phasegate.$$" "$folder/phasegate"

  echo "$version is installed as $folder/phasegate"
  case :$PATH: in
    *:"$folder":*) ;;
    *) echo "Put $folder into PATH: export PATH=\"$folder:\$PATH\"" ;;
  esac
  echo "Next, in a project: phasegate init && phasegate doctor"
}

# All of the script is read before any of it runs: a download that breaks off does nothing.
main
