#!/usr/bin/env bash
# Prints what the changelog says of a version:
#
#     notes.sh VERSION
set -euo pipefail
[ $# = 1 ] || { echo "notes.sh: usage: notes.sh VERSION" >&2; exit 1; }
notes=$(awk -v version="$1" '/^## / { inside = $2 == version; next } inside' "$(dirname "$0")/../CHANGELOG.md")
[ -n "$notes" ] || { echo "notes.sh: CHANGELOG.md has nothing of $1" >&2; exit 1; }
echo "$notes"
