#!/usr/bin/env bash
# Tests both clients, and runs their examples with the SDKs that package-lock.json and requirements.txt name.
#
#     PHASEGATE=path/to/phasegate clients/test.sh [FOLDER]
#
# What it installs goes to FOLDER, by default target/clients, and stays there for the next run.
# Needs bash, git, node 20 with npm, Python 3.10 with venv, and packages of npm and PyPI (about 500 MB, 1.5 GB on disk).
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
program=$(realpath "$(command -v "${PHASEGATE:-phasegate}")")
mkdir -p "${1:-$root/target/clients}"
work=$(cd "${1:-$root/target/clients}" && pwd)
python=$work/python/bin/python
clients=$work/tree/clients

# The sources, in a tree of their own: nothing is built in the repository.
mkdir -p "$clients/typescript/examples"
rm -rf "$clients/python" "$clients/tests" "$clients/typescript"/{src,test,dist} "$clients/typescript/examples"/*.mjs
cp -R "$root/clients/python" "$root/clients/tests" "$clients"
cp -R "$root/clients/typescript"/{src,test,package.json,package-lock.json,tsconfig.json,README.md} "$clients/typescript"
cp "$root/clients/typescript/examples"/*.{mjs,json} "$clients/typescript/examples"
ln -sfn "$root/conformance" "$work/tree/conformance"

# Installs the packages that a lock names into a folder, unless they are there.
locked() {
    local folder=$1 installed=$1/node_modules/.installed-lock.json
    cmp -s "$folder/package-lock.json" "$installed" && return
    (cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund)
    cp "$folder/package-lock.json" "$installed"
}

locked "$clients/typescript"
locked "$clients/typescript/examples"
(cd "$clients/typescript" && npx tsc && npm pack --ignore-scripts --silent --pack-destination "$work")
# The examples use the package, as a user of it does.
package=$clients/typescript/examples/node_modules/@phasegate/client
rm -rf "$package"
mkdir -p "$package"
tar -xzf "$work"/phasegate-client-*.tgz --strip-components=1 -C "$package"

if ! cmp -s "$root/clients/python/requirements.txt" "$work/installed-requirements.txt"; then
    python3 -m venv --clear "$work/python"
    "$python" -m pip install --quiet --requirement "$root/clients/python/requirements.txt"
    cp "$root/clients/python/requirements.txt" "$work/installed-requirements.txt"
fi
"$python" -m pip install --quiet --force-reinstall --no-deps "$clients/python"

# From here on nothing is loaded, and nothing reads or writes the real home. The projects of the tests lie outside of the
# repository: a project below it would be a part of it.
TMPDIR=$(mktemp -d)
trap 'rm -rf "$TMPDIR"' EXIT
export TMPDIR HOME=$TMPDIR/home
unset XDG_STATE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME PYTHONPATH
rm -rf "$work"/bin-*
mkdir -p "$HOME" "$work"/bin-{real,broken,open}
ln -s "$program" "$work/bin-real/phasegate"
ln -s "$clients/tests/fake_bridge.py" "$work/bin-open/phasegate"
printf '#!/bin/sh\nexit 1\n' >"$work/bin-broken/phasegate"
chmod +x "$work/bin-broken/phasegate"
export PHASEGATE=$program

passed=0
failed=0

# counts NAME COMMAND...: runs a command that is to succeed.
counts() {
    local name=$1
    shift
    echo "== $name"
    if "$@"; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $name"
    fi
}

# An example, with the folder of programs that stands first.
example() {
    local programs=$work/bin-$1 file=$2
    case $file in
    *.py) (cd "$clients/python/examples" && PATH=$programs:$PATH timeout 120 "$python" "$file") ;;
    *.mjs) (cd "$clients/typescript/examples" && PATH=$programs:$PATH timeout 120 node "$file") ;;
    esac
}

# With the guard, the forbidden call is denied, and the example prints the denial.
denies() {
    local said
    said=$(example real "$1" 2>&1) || { echo "$said" && return 1; }
    echo "$said"
    grep -q -F '[not-done]' <<<"$said"
}

# With a program that fails, the forbidden call does not run.
fails_closed() {
    local said status=0
    said=$(example broken "$1" 2>&1) || status=$?
    if [ "$status" != 1 ] || grep -q 'the forbidden call ran' <<<"$said"; then echo "$status: $said" && return 1; fi
}

# With a guard that allows all, the example says that the forbidden call ran: else it would prove nothing.
can_fail() {
    local said status=0
    said=$(FAKE=allows example open "$1" 2>&1) || status=$?
    if [ "$status" != 1 ] || ! grep -q 'the forbidden call ran' <<<"$said"; then echo "$status: $said" && return 1; fi
}

typescript_tests() {
    (cd "$clients/typescript" && node --test --test-reporter=spec test/*.test.mjs)
}

# Not beside the sources, so that the installed package is tested.
python_tests() {
    (cd "$clients/python/tests" && "$python" -m unittest discover --pattern 'test_*.py')
}

# What the documents show, pasted into an empty folder.
pasted() {
    local folder=$TMPDIR/pasted-$1
    shift
    mkdir -p "$folder"
    ln -s "$clients/typescript/examples/node_modules" "$folder/node_modules"
    PATH=$work/bin-real:$PATH python3 "$clients/tests/pasted.py" "$root" "$folder" "$@"
}

counts 'the tests of the TypeScript client' typescript_tests
counts 'the tests of the Python client' python_tests
counts 'the blocks of the documents in Python' pasted python "$python"
counts 'the blocks of the documents in JavaScript' pasted js node
for file in {generic,claude,openai,langgraph}_agent.{mjs,py}; do
    counts "$file: the denial that the model reads" denies "$file"
    counts "$file: without a guard that answers" fails_closed "$file"
    counts "$file: with a guard that allows all" can_fail "$file"
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
