"""Asks `phasegate serve` about each tool call of an agent. Only the standard library."""

import contextlib, itertools, json, os, threading, uuid
from concurrent.futures import Future
from dataclasses import dataclass
from subprocess import DEVNULL, PIPE, Popen, TimeoutExpired

from .calls import Calls, joined, written

PROTOCOL, GREETING_S, MARGIN_S, LONGEST = 1, 5.0, 2.0, 64 * 1024 * 1024
AGAIN = "Try again: each call starts phasegate anew. If it stays so, install it or run `phasegate doctor`."
# What happens where a line is no answer, or an input no JSON.
GARBAGE = (ValueError, TypeError, KeyError, AttributeError, RecursionError, TimeoutExpired)


class Lost(Exception):
    """There is no answer; the text says why."""


@dataclass
class Verdict:
    allowed: bool
    reason: str | None = None  # why not, for the model
    context: str | None = None  # what the model is to read besides
    ends_turn: bool = False  # the agent is to stop, and not to try something else
    text: str = ""  # what the model reads as the call's result, where `call` made it
    result: object = None  # what the tool gave back, where `call` ran it


def verdict(reply: dict) -> Verdict:
    own, ends = reply.get("hookSpecificOutput") or {}, reply.get("continue") is False
    allowed = not ("deny" in reply or "decision" in reply or ends) and own.get("permissionDecision", "allow") == "allow"
    why = reply.get("deny") or own.get("permissionDecisionReason") or reply.get("reason") or "phasegate says no"
    context = joined(own.get("additionalContext"), reply.get("systemMessage"))
    return Verdict(True, None, context) if allowed else Verdict(False, why, context, ends, why)


class Bridge:
    """One process of `phasegate serve`. Whatever goes wrong ends it, and the next call starts another one."""

    def __init__(self, command: str, directory: str):
        # A prompt that the application passes on is not the word of a person at a terminal.
        env = {**os.environ, "CLAUDE_CODE_ENTRYPOINT": "sdk-phasegate"}
        pipes = {"stdin": PIPE, "stdout": PIPE, "stderr": DEVNULL, "start_new_session": True}
        self._process = Popen([command, "serve", "--platform", "claude-code"], cwd=directory, env=env, **pipes)
        self.dead, self._limit, self._ids, self._open = None, GREETING_S, itertools.count(1), {}
        hello = {"protocol": PROTOCOL, "platform": "claude-code", "directory": directory}
        self._hello = self._send(0, {"hello": hello})
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def ask(self, event: dict) -> dict:
        self._hello.result()
        return self._send(id := next(self._ids), {"id": id, "event": event}).result()

    def close(self):
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        self._reader.join(1)
        self._fail("it is closed")
        self._reader.join()

    def _send(self, id: int, line: dict) -> Future:
        data = json.dumps(line, allow_nan=False).encode() + b"\n"
        asked = self._open[id] = Future()
        late = threading.Timer(self._limit, self._fail, [f"no answer came in {self._limit:g} s"])
        late.start()
        asked.add_done_callback(lambda _: late.cancel())
        with contextlib.suppress(OSError, ValueError):  # Where it has ended, the reader says how.
            self._process.stdin.write(data)
            self._process.stdin.flush()
        if self.dead:
            self._fail(self.dead)
        return asked

    def _read(self):
        try:
            for line in iter(lambda: self._process.stdout.readline(LONGEST), b""):
                self._take(json.loads(line))
            why = f"`phasegate serve` ended with status {self._process.wait(1)}"
        except (Lost, *GARBAGE) as error:
            why = str(error) if isinstance(error, Lost) else f"`phasegate serve` said what is no answer ({error!r})"
        self._fail(why)
        with contextlib.suppress(OSError, ValueError), self._process:
            pass  # It is waited for, and its pipes are closed.

    def _take(self, line: dict):
        if "error" in line and "id" not in line:
            raise Lost(line["error"]["text"])
        if not self._hello.done():
            if line["hello"]["protocol"] != PROTOCOL:
                raise Lost(f"phasegate does not speak protocol {PROTOCOL}, as this client does. Update the older one")
            self._limit = line["hello"]["deadline_ms"] / 1000 + MARGIN_S
        self._open.pop(line.get("id", 0)).set_result(line)

    def _fail(self, why: str):
        self.dead = self.dead or why
        self._process.kill()
        for id in list(self._open):
            if asked := self._open.pop(id, None):
                asked.set_exception(Lost(self.dead))


class Guard(Calls):
    """Decides the tool calls of an agent. Where no answer comes, a call is denied; in the mode `warn` it is allowed.

    A call is `{"tool": ..., "input": {...}, "id": ...}`: the id pairs what is asked before with what is reported after.
    """

    def __init__(self, directory=".", session: str | None = None, mode="block", command="phasegate"):
        self.directory, self.session, self.command = os.path.abspath(directory), session or str(uuid.uuid4()), command
        self.blocks, self._bridge, self._begun, self._guarded = mode != "warn", None, set(), False
        self._lock, self._beginning = threading.Lock(), threading.Lock()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def ask(self, event: dict) -> dict:
        """The reply to a message in the hook format of Claude Code; where no answer comes, a reply that says why."""
        session = event["session_id"]
        try:
            with self._beginning:  # A session that does not begin would go on with the runs of another one.
                if session not in self._begun and event["hook_event_name"] != "SessionStart":
                    self._answer({**event, "hook_event_name": "SessionStart", "source": "startup"})
                self._begun.add(session)
            return self._answer(event)
        except (Lost, OSError, *GARBAGE) as lost:
            self._begun.discard(session)
            why = str(lost) if str(lost).startswith("phasegate") else f"phasegate [bridge-lost]: {lost}. {AGAIN}"
            return {"deny": why} if self.blocks else {"systemMessage": f"{why} This was not guarded."}

    def before(self, call: dict) -> Verdict:
        return verdict(self._own("PreToolUse", call))

    def after(self, call: dict, result=None, error=None, exit_code: int | None = None) -> str | None:
        """Reports how a call ended. What comes back is for the model to read besides the result."""
        result = result if exit_code is None else {"exit_code": exit_code, "output": written(result)}
        code, name = result.get("exit_code") if isinstance(result, dict) else None, "PostToolUse"
        if error is not None or code:
            name, how = "PostToolUseFailure", {"error": str(error or written(result))}
        elif code == 0 and call["tool"] in ("Bash", "PowerShell"):
            how = {"tool_response": {"stdout": written(result), "stderr": "", "interrupted": False}}
        else:
            how = {"tool_response": json.loads(json.dumps(result, default=str))}
        said = verdict(self._own(name, call, **how))
        return joined(said.reason, said.context)

    def prompt(self, text: str) -> Verdict:
        return verdict(self._own("UserPromptSubmit", prompt=text))

    def stop(self) -> str | None:
        """Tells that the agent would end its turn. What comes back is why it has to go on."""
        reply = self._own("Stop", stop_hook_active=False)
        return reply.get("reason") if reply.get("decision") == "block" else None

    def close(self):
        for session in list(self._begun):
            self.ask({"session_id": session, "cwd": self.directory, "hook_event_name": "SessionEnd", "reason": "other"})
        if self._bridge:
            self._bridge.close()
        self._bridge, self._begun = None, set()

    def _own(self, name: str, call: dict | None = None, **fields) -> dict:
        if call:
            fields |= {"tool_name": call["tool"], "tool_input": call["input"], "tool_use_id": call["id"]}
        return self.ask({"session_id": self.session, "cwd": self.directory, "hook_event_name": name, **fields})

    def _answer(self, event: dict) -> dict:
        with self._lock:
            alive = self._bridge and not self._bridge.dead
            bridge = self._bridge = self._bridge if alive else Bridge(self.command, self.directory)
        line = bridge.ask(event)
        if "error" in line:
            raise Lost(line["error"]["text"])
        self._guarded = self._guarded or "guarded" in line
        if not self._guarded:
            raise Lost(f"phasegate: nothing guards {self.directory}: write .phasegate/config.yaml.")
        reply = dict(line["reply"] or {})
        verdict(reply)  # What cannot be read is no answer.
        return reply
