#!/usr/bin/env bash
# Packs one built program in every form, installs each into folders of its own, and runs it:
#
#     test.sh BINARY
#
# It needs the tools of the list below, asks no registry, and writes nothing outside of a temporary folder. It stops with 1
# at the first thing that is not as it should be, and leaves nothing out.
set -euo pipefail
[ $# = 1 ] || { echo "test.sh: usage: test.sh BINARY" >&2; exit 1; }
tools=(node npm python3 dpkg dpkg-deb readelf jq curl tar gzip sha256sum zip)
# dpkg gives files to root, or is told that it does.
as_root=()
[ "$(id -u)" = 0 ] || { as_root=(fakeroot) && tools+=(fakeroot); }
for tool in "${tools[@]}"; do
  command -v "$tool" >/dev/null || { echo "test.sh: needs $tool" >&2; exit 1; }
done
[ "$(uname -sm)" = "Linux x86_64" ] || { echo "test.sh: runs on Linux x86_64" >&2; exit 1; }
binary=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")

scratch=$(mktemp -d)
server=
end() {
  status=$?
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$scratch"
  [ "$status" = 0 ] || echo "test.sh: FAILED in: $step" >&2
  exit "$status"
}
step=begin
trap end EXIT
begin() { step=$1; echo "== $1"; }
fail() { echo "test.sh: $*" >&2; exit 1; }
# same WHAT FOUND WANTED
same() { [ "$2" = "$3" ] || fail "$1: found \`$2\`, wanted \`$3\`"; }
# holds WHAT TEXT PART
holds() { case $2 in *"$3"*) ;; *) fail "$1 does not say \`$3\`: $2" ;; esac; }
# fails STATUS WHAT COMMAND...: the command ends with the status; what it said is in $said
fails() {
  local wanted=$1 what=$2 status=0
  shift 2
  said=$("$@" 2>&1) || status=$?
  same "the status of $what" "$status" "$wanted"
}

export HOME=$scratch/home XDG_STATE_HOME=$scratch/state XDG_CONFIG_HOME=$scratch/config XDG_CACHE_HOME=$scratch/cache
export npm_config_offline=true npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
export SOURCE_DATE_EPOCH=1767225600
unset CLAUDE_PROJECT_DIR PHASEGATE_BASE_URL PHASEGATE_VERSION PHASEGATE_BIN PHASEGATE_SHA256
mkdir -p "$HOME" "$scratch/programs/linux-x64" "$scratch/programs/completions"
cp "$binary" "$scratch/programs/linux-x64/phasegate"
"$binary" completions bash >"$scratch/programs/completions/phasegate.bash"
"$binary" completions zsh >"$scratch/programs/completions/_phasegate"
"$binary" completions fish >"$scratch/programs/completions/phasegate.fish"
told=$("$binary" --version)
version=${told#phasegate }

begin "one version everywhere"
"$here/versions.sh" "$version"
"$here/notes.sh" "$version" >/dev/null
fails 1 "a version that no file has" "$here/versions.sh" 99.0.0

begin "pack"
out=$scratch/out
"$here/pack.sh" "$version" "$scratch/programs" "$out" linux-x64
fails 1 "a release without the other platforms" "$here/pack.sh" "$version" "$scratch/programs" "$scratch/none"
(cd "$out/release" && sha256sum --quiet --check SHA256SUMS)

# guards WHAT PROJECT LINK PROGRAM...: `init` of the program makes hooks that start it, and they deny
guards() {
  local what=$1 project=$2 link=$3 line frame answer status=0
  shift 3
  (cd "$project" && "$@" init claude-code --mode block --skill test-first >/dev/null)
  same "the link of $what" "$(readlink "$HOME/.local/share/phasegate/bin/phasegate")" "$link"
  head -c 4 "$HOME/.local/share/phasegate/bin/phasegate" | grep -q ELF || fail "$what: the hook starts no native program"
  line=$(jq -r '.hooks.PreToolUse[0].hooks[0].command' "$project/.claude/settings.json")
  frame=$(jq -cn --arg cwd "$project" '{session_id: "3f1c8a52-0000-4000-8000-000000000001", cwd: $cwd,
    hook_event_name: "PreToolUse", tool_use_id: "t1", tool_name: "Write",
    tool_input: {file_path: ($cwd + "/double.py"), content: "def double(x):\n    return 2 * x\n"}}')
  answer=$(cd "$project" && CLAUDE_PROJECT_DIR=$project sh -c "$line" <<<"$frame" 2>/dev/null) || status=$?
  same "the hook's status of $what" "$status" 2
  same "the hook's answer of $what" "$(jq -r .hookSpecificOutput.permissionDecision <<<"$answer")" deny
  (cd "$project" && "$@" init --undo >/dev/null)
  [ ! -e "$project/.claude/settings.json" ] || fail "$what: --undo left the settings"
}

begin "npm"
mkdir "$scratch/npm" "$scratch/npm-alone"
(cd "$scratch/npm" && npm install --silent "$out/npm/phasegate-$version.tgz" "$out/npm/phasegate-linux-x64-$version.tgz")
npx=("$scratch/npm/node_modules/.bin/phasegate")
same "npx phasegate --version" "$(cd "$scratch/npm" && npx phasegate --version)" "phasegate $version"
fails 2 "a wrong command" "${npx[@]}" no-such-command
guards npm "$scratch/npm" "$scratch/npm/node_modules/@phasegate/linux-x64/bin/phasegate" "${npx[@]}"
[ -z "$(jq -r '.scripts // empty' "$scratch"/npm/node_modules/phasegate/package.json "$scratch"/npm/node_modules/@phasegate/*/package.json)" ] ||
  fail "a package runs a script when it is installed"
# Another platform, and this one without its package.
cat >"$scratch/platform.cjs" <<'JS'
Object.defineProperty(process, "platform", { value: "freebsd" });
JS
fails 2 "a platform without a package" node -r "$scratch/platform.cjs" "${npx[@]}" --version
holds "a platform without a package" "$said" "there is no package for freebsd-x64"
(cd "$scratch/npm-alone" && npm install --silent "$out/npm/phasegate-$version.tgz")
fails 2 "a package that is missing" "$scratch/npm-alone/node_modules/.bin/phasegate" --version
holds "a package that is missing" "$said" "@phasegate/linux-x64 is not installed"
# A signal reaches the program, and none is left behind.
mkfifo "$scratch/held"
"${npx[@]}" mcp serve --listen 127.0.0.1:0 <"$scratch/held" >"$scratch/served" 2>&1 &
launched=$!
exec 9>"$scratch/held"
for _ in $(seq 100); do grep -q http "$scratch/served" && break; sleep 0.1; done
grep -q http "$scratch/served" || fail "the server does not start: $(cat "$scratch/served")"
address=$(grep -o 'http[^ ]*' "$scratch/served")
kill -TERM "$launched"
status=0
wait "$launched" || status=$?
exec 9>&-
case $status in 0 | 143) ;; *) fail "a signal ends the launcher with $status" ;; esac
fails 7 "a server that was stopped" curl -s "$address"

begin "wheel"
wheel=$(echo "$out"/wheels/*.whl)
python3 -m venv "$scratch/venv"
"$scratch/venv/bin/pip" install --quiet --no-index --no-deps --disable-pip-version-check "$wheel"
same "the program of the wheel" "$("$scratch/venv/bin/phasegate" --version)" "phasegate $version"
mkdir "$scratch/wheel"
guards wheel "$scratch/wheel" "$scratch/venv/bin/phasegate" "$scratch/venv/bin/phasegate"
cmp "$binary" "$scratch/venv/bin/phasegate"
"$scratch/venv/bin/pip" uninstall --quiet --yes phasegate
[ ! -e "$scratch/venv/bin/phasegate" ] || fail "pip left the program"
"$here/python/wheel.py" "$version" x86_64-unknown-linux-musl "$binary" "$scratch/again" >/dev/null
cmp "$wheel" "$scratch/again/$(basename "$wheel")"
fails 1 "a binary for another machine" "$here/python/wheel.py" "$version" aarch64-unknown-linux-musl "$binary" "$scratch/again"

begin "Debian package"
deb=$(echo "$out"/release/*.deb)
system=$scratch/system
mkdir -p "$system/var/lib/dpkg/"{info,updates}
touch "$system/var/lib/dpkg/"{status,available}
# A root of its own has no libraries: a program that is not static asks for them.
debian() { PATH=$PATH:/usr/sbin:/sbin "${as_root[@]}" dpkg --root="$system" --log=/dev/null --force-not-root --force-depends --force-script-chrootless "$@" >/dev/null 2>"$scratch/dpkg" || fail "dpkg $*: $(cat "$scratch/dpkg")"; }
debian --install "$deb"
same "the program of the package" "$("$system/usr/bin/phasegate" --version)" "phasegate $version"
for file in share/bash-completion/completions/phasegate share/zsh/vendor-completions/_phasegate share/fish/vendor_completions.d/phasegate.fish share/doc/phasegate/copyright; do
  [ -s "$system/usr/$file" ] || fail "the package has no /usr/$file"
done
debian --verify phasegate
debian --purge phasegate
[ ! -e "$system/usr/bin/phasegate" ] || fail "dpkg left the program"

begin "install.sh"
(cd "$out/release" && exec python3 -u -m http.server 0 --bind 127.0.0.1) >"$scratch/http" 2>&1 &
server=$!
for _ in $(seq 100); do grep -q 'port [0-9]' "$scratch/http" && break; sleep 0.1; done
port=$(sed -n 's/.* port \([0-9]*\) .*/\1/p' "$scratch/http")
export PHASEGATE_BASE_URL=http://127.0.0.1:$port
curl -fsS "$PHASEGATE_BASE_URL/install.sh" | sh
same "the program of install.sh" "$("$HOME/.local/bin/phasegate" --version)" "phasegate $version"
mkdir "$scratch/script"
guards install.sh "$scratch/script" "$HOME/.local/bin/phasegate" "$HOME/.local/bin/phasegate"
rm -r "$HOME/.local/bin"
fails 1 "another sum" env PHASEGATE_SHA256=00 sh "$here/install.sh"
holds "another sum" "$said" "is not what was released"
printf x >>"$out/release/phasegate-x86_64-unknown-linux-musl.tar.gz"
fails 1 "an archive that was tampered with" sh "$here/install.sh"
holds "an archive that was tampered with" "$said" "is not what was released"
mkdir "$scratch/uname"
cat >"$scratch/uname/uname" <<'SH'
#!/bin/sh
case $1 in -s) echo Linux ;; *) echo riscv64 ;; esac
SH
chmod +x "$scratch/uname/uname"
fails 1 "an unknown machine" env PATH="$scratch/uname:$PATH" sh "$here/install.sh"
holds "an unknown machine" "$said" "there is no program for the machine \`riscv64\`"
mkdir "$scratch/few"
for tool in sh tar gzip uname mktemp rm; do ln -s "$(command -v "$tool")" "$scratch/few/"; done
fails 1 "no curl and no wget" env PATH="$scratch/few" sh "$here/install.sh"
holds "no curl and no wget" "$said" "needs curl or wget"
[ ! -e "$HOME/.local/bin" ] || fail "install.sh installed what it refused"
unset PHASEGATE_BASE_URL

begin "formula"
for target in {aarch64,x86_64}-{apple-darwin,unknown-linux-musl}; do
  echo "$(sha256sum <<<"$target" | cut -c1-64)  phasegate-$target.tar.gz"
done >"$scratch/sums"
formula=$("$here/homebrew/formula.py" "$version" "$scratch/sums")
while read -r sum archive; do
  holds "the formula" "$formula" "/v$version/$archive\"
      sha256 \"$sum\""
done <"$scratch/sums"
fails 1 "a formula without a sum" "$here/homebrew/formula.py" "$version" "$out/release/SHA256SUMS"

begin "plugin"
for file in "$root/.claude-plugin/marketplace.json" "$here"/claude-code/.claude-plugin/plugin.json "$here"/claude-code/hooks/hooks.json "$here"/mcp/server.json; do
  jq -e . "$file" >/dev/null || fail "$file is no JSON"
done
[ -f "$root/$(jq -r '.plugins[0].source' "$root/.claude-plugin/marketplace.json")/.claude-plugin/plugin.json" ] || fail "the marketplace leads to no plugin"
rm -rf "$HOME" && mkdir -p "$HOME" "$scratch/guarded/.phasegate" "$scratch/guarded/below"
# plugin [PATH]: what a person reads at the session's start, in a project that is guarded
plugin() { CLAUDE_PROJECT_DIR=$scratch/guarded/below PATH=${1:+$1:}$scratch/tools sh "$here/claude-code/hooks/installed.sh"; }
mkdir "$scratch/tools"
ln -s "$(command -v sh)" "$scratch/tools/sh"
holds "the plugin" "$(plugin | jq -r .systemMessage)" "This project is guarded by phasegate, and nothing guards it here yet. The program phasegate is not installed."
holds "the plugin" "$(plugin "$scratch/programs/linux-x64" | jq -r .systemMessage)" "no hook finds it"
mkdir -p "$HOME/.local/share/phasegate/bin"
ln -s "$binary" "$HOME/.local/share/phasegate/bin/phasegate"
same "the plugin where all is there" "$(plugin)" ""

begin "action"
project=$scratch/action/sub
mkdir -p "$project/.phasegate/skills" "$project/.phasegate/tests"
cat >"$project/.phasegate/skills/look-first.yaml" <<'YAML'
skill: look-first
mode: block
phases:
  look:
    allowed: [Read]
    done_when: { ok: Read }
  edit:
    allowed: [Edit]
YAML
cat >"$project/.phasegate/tests/early.jsonl" <<'JSON'
{"event": "skill", "name": "look-first", "by": "agent"}
{"event": "tool_call", "id": "1", "tool": "Edit", "input": {"file_path": "a.rs"}, "expect": {"decision": "allow"}}
JSON
check() { (cd "$scratch/action" && PHASEGATE=$binary PROJECT=./sub bash "$here/action/check.sh"); }
fails 1 "a transcript with a mistake" check
holds "the action" "$said" "::error file=sub/.phasegate/tests/early.jsonl,line=2,title=phasegate transcript::expected decision \"allow\", got \"deny\""
[ -s "$scratch/action/phasegate.xml" ] || fail "the action left no JUnit XML"
sed -i 's/"allow"}/"deny"}/' "$project/.phasegate/tests/early.jsonl"
fails 0 "a project without a mistake" check
sed -i s/allowed/alowed/ "$project/.phasegate/skills/look-first.yaml"
fails 1 "a config with a mistake" check
holds "the action" "$said" "::error file=sub/.phasegate/skills/look-first.yaml,line=5,col=5,"

echo "test.sh: all passed"
