#!/usr/bin/env python3
"""Stands in for `phasegate`, and does what $FAKE says: the clients' tests see what becomes of each failure."""

import json
import os
import sys
import time

FAKE = os.environ["FAKE"]


def say(line):
    sys.stdout.write((line if isinstance(line, str) else json.dumps(line)) + "\n")
    sys.stdout.flush()


def denied(text):
    how = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": text}
    return {"hookSpecificOutput": how}


assert sys.argv[1:] == ["serve", "--platform", "claude-code"], sys.argv
if FAKE == "exits":
    sys.exit(3)
greeting = json.loads(sys.stdin.readline())["hello"]
assert greeting["protocol"] == 1 and os.path.isabs(greeting["directory"]), greeting
if FAKE == "silent":
    time.sleep(60)
if FAKE == "refuses":
    say({"error": {"code": "bad-input", "message": "no", "text": "phasegate [bad-input]: no bridge for you."}})
    sys.exit(2)
if FAKE == "greets with garbage":
    say("hello there")
protocol = 2 if FAKE == "other protocol" else 1
say({"hello": {"protocol": protocol, "platform": "claude-code", "version": "0", "deadline_ms": 200, "largest": 33554432}})

if FAKE == "deaf":  # reads nothing: what is sent fills the pipe
    time.sleep(60)
held = []
for text in sys.stdin:
    asked = json.loads(text)
    id, event = asked["id"], asked["event"]
    name, guarded = event["hook_event_name"], {"guarded": {"root": "/", "mode": "closed"}}
    if name == "SessionStart":
        say({"id": id, "reply": None, **guarded})
    elif FAKE == "hangs":
        time.sleep(60)
    elif FAKE == "dies":
        sys.exit(4)
    elif FAKE == "closes":
        os.close(1)
        time.sleep(60)
    elif FAKE == "garbage":
        say("not json")
    elif FAKE == "other id":
        say({"id": id + 1000, "reply": None})
    elif FAKE == "no reply":
        say({"id": id})
    elif FAKE == "wrong reply":
        say({"id": id, "reply": 5})
    elif FAKE == "list":
        say([1])
    elif FAKE == "error":
        say({"id": id, "error": {"code": "internal", "message": "no", "text": "phasegate [internal]: it broke."}})
    elif FAKE == "deny":
        say({"id": id, "reply": {"deny": "phasegate [panic]: no."}})
    elif FAKE == "ask":
        say({"id": id, "reply": {"hookSpecificOutput": {"hookEventName": name, "permissionDecision": "ask", "permissionDecisionReason": "may it?"}}})
    elif FAKE == "ends the turn":
        say({"id": id, "reply": {**denied("enough"), "continue": False, "stopReason": "enough"}})
    elif FAKE == "once":  # answers one call and is gone
        say({"id": id, "reply": denied(f"by {os.getpid()}")})
        sys.exit(0)
    elif FAKE == "backwards":  # answers in tens, the last one first
        held.append({"id": id, "reply": denied(event.get("tool_use_id", ""))})
        if len(held) == 10:
            for answer in reversed(held):
                say(answer)
            held = []
    else:
        say({"id": id, "reply": None})
