#!/usr/bin/env bash
# Checks that every file that names the version names this one, and that the changelog has it:
#
#     versions.sh VERSION
set -euo pipefail
[ $# = 1 ] || { echo "versions.sh: usage: versions.sh VERSION" >&2; exit 1; }
cd "$(dirname "$0")/.."
command -v jq >/dev/null || { echo "versions.sh: needs jq" >&2; exit 1; }
status=0
check() { # check WHERE FOUND
  [ "$2" = "$version" ] || { echo "versions.sh: $1 says $2, not $version" >&2; status=1; }
}
version=$1
check Cargo.toml "$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)"
check "packaging/mcp/server.json" "$(jq -r '[.version, .packages[].version] | unique | join(" and ")' packaging/mcp/server.json)"
check ".claude-plugin/marketplace.json" "$(jq -r '.plugins[0].version' .claude-plugin/marketplace.json)"
check "packaging/claude-code" "$(jq -r .version packaging/claude-code/.claude-plugin/plugin.json)"
grep -q "^## ${version//./\\.}\( \|$\)" CHANGELOG.md || { echo "versions.sh: CHANGELOG.md has no $version" >&2; status=1; }
exit "$status"
