#!/usr/bin/env python3
"""A client that starts the hooks of its settings as Claude Code does, as far as a drill needs it: no model is in it, and no tool but three."""
import json
import os
import re
import subprocess
import sys
import urllib.request

if "--version" in sys.argv:
    print("0.0.1 (a fake)")
    sys.exit()
PROMPT, PROJECT = sys.argv[sys.argv.index("-p") + 1], os.getcwd()
FILES = [os.path.join(folder, ".claude", name) for folder in (PROJECT, os.environ["HOME"])
         for name in ("settings.json", "settings.local.json")]


def settings(path):
    try:
        with open(path) as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


found = [settings(path) for path in FILES]


def denied(event):
    """The reason of the first hook that denies."""
    if any(one.get("disableAllHooks") for one in found):
        return None
    hooks = {}
    for group in (group for one in found for group in one.get("hooks", {}).get(event["hook_event_name"], [])):
        if re.fullmatch(group.get("matcher") or ".*", event.get("tool_name", "")):
            hooks.update({hook["command"]: hook for hook in group["hooks"]})
    for hook in hooks.values():
        try:
            ran = subprocess.run(hook["command"], shell=True, input=json.dumps(event), capture_output=True, text=True,
                                 timeout=hook.get("timeout", 60))
        except subprocess.TimeoutExpired:
            if hook.get("onFailure") == "block":
                return "timed out"
            continue
        try:
            said = json.loads(ran.stdout)
        except ValueError:
            said = {}
            if ran.stdout.startswith("{") and hook.get("onFailure") == "block":
                return "no JSON"
        specific = said.get("hookSpecificOutput", {})
        if ran.returncode == 2 or specific.get("permissionDecision") == "deny" or said.get("decision") == "block":
            return specific.get("permissionDecisionReason") or said.get("reason") or ran.stderr or "blocked"
    return None


def tool(name, given):
    if name == "Bash":
        return subprocess.run(given["command"], shell=True, capture_output=True, text=True).stdout or "no output"
    if name == "Read":
        return open(given["file_path"]).read()
    os.makedirs(os.path.dirname(given["file_path"]), exist_ok=True)
    open(given["file_path"], "w").write(given["content"])
    return "written"


def event(name, **more):
    return {"hook_event_name": name, "session_id": "drill", "cwd": PROJECT, "permission_mode": "bypassPermissions",
            "transcript_path": os.path.join(os.environ["HOME"], "none.jsonl"), **more}


denied(event("SessionStart", source="startup"))
messages = [{"role": "user", "content": PROMPT}]
while True:
    body = json.dumps({"model": "m", "messages": messages, "tools": [{"name": "Bash"}]}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", body) as answer:
        message = json.load(answer)
    messages.append({"role": "assistant", "content": message["content"]})
    calls = [block for block in message["content"] if block["type"] == "tool_use"]
    if not calls:
        sys.exit()
    for call in calls:
        about = {"tool_name": call["name"], "tool_input": call["input"], "tool_use_id": call["id"]}
        reason = denied(event("PreToolUse", **about))
        text = reason or tool(call["name"], call["input"])
        if not reason:
            denied(event("PostToolUse", tool_response={"stdout": text, "stderr": "", "interrupted": False}, **about))
        messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call["id"], "is_error": bool(reason), "content": text}]})
