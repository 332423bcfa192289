#!/usr/bin/env python3
"""Prints the Homebrew formula of a release, made from the sums of its archives:

    formula.py VERSION SHA256SUMS > phasegate.rb
"""

import re
import sys

FORMULA = """\
class Phasegate < Formula
  desc "Guard for the tool calls of AI coding agents"
  homepage "https://github.com/phasegate/phasegate"
  version "{version}"
  license any_of: ["Apache-2.0", "MIT"]

  on_macos do
{macos}
  end

  on_linux do
{linux}
  end

  def install
    bin.install "phasegate"
    bash_completion.install "completions/phasegate.bash" => "phasegate"
    zsh_completion.install "completions/_phasegate"
    fish_completion.install "completions/phasegate.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{{bin}}/phasegate --version")
    system bin/"phasegate", "init", "claude-code", "--no-user", "--dry-run"
  end
end
"""
PART = """\
    on_{cpu} do
      url "https://github.com/phasegate/phasegate/releases/download/v{version}/{archive}"
      sha256 "{digest}"
    end"""
SYSTEMS = {"macos": "apple-darwin", "linux": "unknown-linux-musl"}
CPUS = {"arm": "aarch64", "intel": "x86_64"}


def main(version, sums_file):
    sums = {}
    with open(sums_file, encoding="utf-8") as lines:
        for line in lines:
            found = re.fullmatch(r"([0-9a-f]{64}) [ *](\S+)\n?", line)
            if not found:
                sys.exit(f"formula.py: {sums_file} has a line that is no sum: {line.strip()}")
            sums[found[2]] = found[1]
    parts = {}
    for system, ending in SYSTEMS.items():
        blocks = []
        for cpu, machine in CPUS.items():
            archive = f"phasegate-{machine}-{ending}.tar.gz"
            if archive not in sums:
                sys.exit(f"formula.py: {sums_file} has no sum of {archive}")
            blocks.append(PART.format(cpu=cpu, version=version, archive=archive, digest=sums[archive]))
        parts[system] = "\n".join(blocks)
    print(FORMULA.format(version=version, **parts), end="")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("formula.py: usage: formula.py VERSION SHA256SUMS")
    main(*sys.argv[1:])
