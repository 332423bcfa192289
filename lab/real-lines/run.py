#!/usr/bin/env python3
"""Runs each line of a list in a checkout, bare and held by `phasegate confine read-only`, and compares how they end.

    lab/real-lines/run.py --phasegate target/debug/phasegate --checkout DIR --lines lab/real-lines/go.txt [--json FILE]

A line is run by `bash -o pipefail -c`, so that what stands before `| tail` counts too. After each run the checkout is put back
to its last commit; what git ignores stays. Where a line ends otherwise, it is run once more bare: one that does not end the
same way twice by itself says nothing, and is listed as unsteady. Exit status 1: fewer than 95 % of the others ended the same.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

WANTED = 0.95


def ended(words, folder, limit):
    began = time.monotonic()
    child = subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             text=True, errors="replace", start_new_session=True)
    try:
        out, err = child.communicate(timeout=limit)
        status = child.returncode
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        status = "time"
    return status, out, err, time.monotonic() - began


def put_back(folder):
    for words in (["checkout", "-q", "-f", "."], ["clean", "-fdq"]):
        subprocess.run(["git", *words], cwd=folder, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--phasegate", required=True)
    parser.add_argument("--checkout", required=True)
    parser.add_argument("--lines", required=True)
    parser.add_argument("--level")
    parser.add_argument("--limit", type=int, default=120, help="seconds for a line")
    parser.add_argument("--json", help="where each line's ends are kept")
    args = parser.parse_args()
    shell = ["bash", "-o", "pipefail", "-c"]
    level = ["--level", args.level] if args.level else []
    confine = [os.path.abspath(args.phasegate), "--json", "confine", "read-only", *level, "--", *shell]
    with open(args.lines, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip()]
    rows = []
    for number, line in enumerate(lines):
        bare, out, err, bare_time = ended([*shell, line], args.checkout, args.limit)
        put_back(args.checkout)
        status, held_out, held_err, held_time = ended([*confine, line], args.checkout, args.limit)
        changed = subprocess.run(["git", "status", "--porcelain"], cwd=args.checkout, capture_output=True, text=True).stdout
        put_back(args.checkout)
        try:
            report = json.loads(held_err.strip().splitlines()[-1])
        except (ValueError, IndexError):
            report = {}
        own = report.get("status", status)
        row = {"line": line, "bare": bare, "held": own, "status": status, "changes": [change.get("path") for change in report.get("changes", [])],
               "kept": changed, "seconds": [round(bare_time, 2), round(held_time, 2)]}
        if own != bare:
            again, *_ = ended([*shell, line], args.checkout, args.limit)
            put_back(args.checkout)
            row["unsteady"] = again != bare
            row["told"] = {"bare": (out + err)[-600:], "held": (held_out + held_err)[-900:]}
        rows.append(row)
        print(f"{number + 1:4} {bare!s:>4} {own!s:>4} {status!s:>4}  {line[:100]}", flush=True)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)
    steady = [row for row in rows if not row.get("unsteady")]
    same = sum(row["bare"] == row["held"] for row in steady)
    times = [sum(row["seconds"][at] for row in rows) for at in (0, 1)]
    print(f"{len(rows)} lines, {len(rows) - len(steady)} unsteady, {same} of {len(steady)} ended the same "
          f"({same / max(1, len(steady)):.1%}); {sum(row['bare'] != 0 for row in rows)} failed bare; "
          f"{sum(row['status'] == 73 for row in rows)} ended with 73 as something was not kept; "
          f"{sum(bool(row['kept']) for row in rows)} left something; {times[0]:.0f} s bare, {times[1]:.0f} s held")
    for row in rows:
        if row["bare"] != row["held"]:
            print(f"bare {row['bare']}, held {row['held']}{', unsteady' if row['unsteady'] else ''}: {row['line']}")
    return 0 if same >= WANTED * len(steady) else 1


if __name__ == "__main__":
    sys.exit(main())
