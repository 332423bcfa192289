#!/usr/bin/env bash
# Runs `phasegate check` on a project, and prints each mistake as a line that GitHub shows at its place.
#
# PHASEGATE   the program; default: the one on PATH
# PROJECT     the project's folder, from the workspace; default: the workspace
# JUNIT       the file for the result as JUnit XML; default: phasegate.xml
set -euo pipefail
program=${PHASEGATE:-phasegate}
project=${PROJECT:-.}
junit=${JUNIT:-phasegate.xml}
# The program would look for it from the project's folder.
[[ $junit = /* ]] || junit=$PWD/$junit
command -v jq >/dev/null || { echo "check.sh: needs jq" >&2; exit 2; }
[ -d "$project" ] || { echo "check.sh: there is no folder $project" >&2; exit 2; }
project=${project#./}
project=${project%/}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tests=()
if compgen -G "$project/.phasegate/tests/*.jsonl" >/dev/null; then
  tests=(--tests --junit "$junit")
else
  echo "::notice::There is no transcript in .phasegate/tests, so only the configs are checked."
fi
status=0
"$program" check --json --project "$project" "${tests[@]}" >"$scratch/out" 2>"$scratch/err" || status=$?

# The configs of a pull request are a stranger's: what they say is escaped, so that no line of theirs is a command.
escapes='
  def text: tostring | gsub("%"; "%25") | gsub("\r"; "%0D") | gsub("\n"; "%0A");
  def value: text | gsub(":"; "%3A") | gsub(","; "%2C");'
if [ "$status" -gt 1 ] || ! jq -e . "$scratch/out" >/dev/null 2>&1; then
  jq -rRs "$escapes"' . as $raw | (try ($raw | fromjson | .error | [.message, .help // empty] | join("; ")) catch $raw)
    | "::error title=phasegate::" + text' "$scratch/err"
  exit "$((status > 1 ? status : 2))"
fi
jq -r --arg folder "$project" "$escapes"'
  def file: if $folder == "." or $folder == "" or startswith("/") then . else $folder + "/" + . end;
  (.diagnostics[] | {
    level: (if .severity == "error" then "error" else "warning" end),
    path, line, column, title: "phasegate \(.code)",
    text: ([.message, .suggestion // empty] | join("; "))
  }), (.tests[]? | .path as $path | .mistakes[] | {
    level: "error", $path, line, column: null, title: "phasegate transcript", text: .message
  })
  | "::\(.level) file=\(.path | file | value)"
    + (if .line then ",line=\(.line)" else "" end) + (if .column then ",col=\(.column)" else "" end)
    + ",title=\(.title | value)::\(.text | text)"' "$scratch/out"
errors=$(jq '.errors + ([.tests[]?.mistakes[]] | length)' "$scratch/out")
jq -r '"Files: \(.files), errors: \(.errors). Transcripts: \([.tests[]?] | length), expectations: \([.tests[]?.expectations] | add // 0), mistakes: \([.tests[]?.mistakes[]] | length)."' \
  "$scratch/out" | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}"
echo "errors=$errors" >>"${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
