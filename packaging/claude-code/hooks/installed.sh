#!/bin/sh
# Says to the person how to get the guard to work where a part of it is missing. It denies nothing and changes nothing.
link=$HOME/.local/share/phasegate/bin/phasegate
[ ! -x "$link" ] || exit 0

# A project is guarded if it, or a folder above it, has a folder `.phasegate`.
guarded=
folder=${CLAUDE_PROJECT_DIR:-$PWD}
while [ -n "$folder" ]; do
  if [ -d "$folder/.phasegate" ]; then
    guarded='This project is guarded by phasegate, and nothing guards it here yet. '
    break
  fi
  case $folder in
    */*) folder=${folder%/*} ;;
    *) folder= ;;
  esac
done

if command -v phasegate >/dev/null 2>&1; then
  say='phasegate is installed, and no hook finds it. Run in a terminal, in your project: phasegate init claude-code'
else
  say='The program phasegate is not installed. Run in a terminal: npm install -g phasegate. Then, in your project: phasegate init claude-code. Other ways: https://github.com/phasegate/phasegate/blob/main/docs/install.md'
fi
printf '{"systemMessage":"%s%s"}\n' "$guarded" "$say"
