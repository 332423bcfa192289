"""What becomes of a call when the bridge fails: it is denied in the mode `block`, and allowed in the mode `warn`."""

import asyncio
import os
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import phasegate_client
from phasegate_client import Guard
from phasegate_client.claude import replied

FAKE = str(Path(__file__).parents[2] / "tests/fake_bridge.py")
AGAIN = "Try again"
FAILURES = {
    "exits": "ended with status 3",
    "silent": "no answer came in",
    "refuses": "phasegate [bad-input]: no bridge for you.",
    "greets with garbage": "said what is no answer",
    "other protocol": "does not speak protocol 1",
    "deaf": "no answer came in",
    "hangs": "no answer came in",
    "dies": "ended with status 4",
    "closes": AGAIN,
    "garbage": "said what is no answer",
    "other id": "said what is no answer",
    "no reply": AGAIN,
    "wrong reply": AGAIN,
    "list": "said what is no answer",
    "error": "phasegate [internal]: it broke.",
}


def call(id="1", **input) -> dict:
    return {"tool": "Write", "input": input, "id": id}


def children() -> list[str]:
    """The processes of this one that live or wait for being read, by `ps`."""
    shown = subprocess.run(["ps", "-o", "pid=,args=", "--ppid", str(os.getpid())], capture_output=True, text=True)
    return [line for line in shown.stdout.splitlines() if " ps " not in line]


class Failures(unittest.TestCase):
    def setUp(self):
        quick = mock.patch.multiple(phasegate_client, GREETING_S=1.5, MARGIN_S=0.3)
        quick.start()
        self.addCleanup(quick.stop)

    def fake(self, what: str, **options) -> Guard:
        patched = mock.patch.dict(os.environ, {"FAKE": what})
        patched.start()
        self.addCleanup(patched.stop)
        guard = Guard(command=FAKE, **options)
        self.addCleanup(guard.close)
        return guard

    def test_every_failure_denies_in_block_mode_and_is_told_in_warn_mode(self):
        for what, said in FAILURES.items():
            with self.subTest(what):
                content = "x" * 2_000_000 if what == "deaf" else "x"
                denied = self.fake(what).before(call(content=content))
                self.assertFalse(denied.allowed)
                self.assertIn(said, denied.reason)
                allowed = self.fake(what, mode="warn").before(call(content=content))
                self.assertTrue(allowed.allowed)
                self.assertIn(said, allowed.context)
                self.assertIn("This was not guarded.", allowed.context)

    def test_a_missing_program_denies(self):
        denied = Guard(command="no-such-program").before(call())
        self.assertFalse(denied.allowed)
        self.assertIn("no-such-program", denied.reason)
        self.assertIn("install it", denied.reason)
        self.assertTrue(Guard(command="no-such-program", mode="warn").before(call()).allowed)

    def test_what_is_no_plain_yes_is_a_no(self):
        for what, reason in {"deny": "phasegate [panic]: no.", "ask": "may it?", "ends the turn": "enough"}.items():
            for mode in ("block", "warn"):
                denied = self.fake(what, mode=mode).before(call())
                self.assertFalse(denied.allowed)
                self.assertEqual(denied.reason, reason)
                self.assertEqual(denied.ends_turn, what == "ends the turn")

    def test_an_input_that_is_no_json_denies_and_harms_no_other_call(self):
        guard = self.fake("allows")
        self.assertTrue(guard.before(call()).allowed)
        for input in ({"n": float("nan")}, {"n": object()}):
            self.assertFalse(guard.before({"tool": "Write", "input": input, "id": "2"}).allowed)
        self.assertTrue(guard.before(call("3")).allowed)

    def test_a_dead_bridge_is_started_anew(self):
        guard = self.fake("once")
        said = set()
        for n in range(3):
            said.add(guard.before(call(str(n))).reason)
            guard._bridge._reader.join(2)
        self.assertEqual(len(said), 3, said)
        self.assertTrue(all(reason.startswith("by ") for reason in said), said)

    def test_a_bridge_that_died_before_the_question_is_not_waited_for(self):
        guard = self.fake("allows")
        guard.before(call())
        bridge = guard._bridge
        bridge.close()
        began = time.monotonic()
        with self.assertRaisesRegex(phasegate_client.Lost, "ended with status 0"):
            bridge.ask({})
        self.assertLess(time.monotonic() - began, 0.3)

    def test_the_tool_does_not_run_without_an_answer(self):
        ran = []
        outcome = self.fake("hangs").call("Write", {}, lambda: ran.append(1))
        self.assertEqual((outcome.allowed, ran), (False, []))
        outcome = asyncio.run(self.fake("hangs").acall("Write", {}, lambda: ran.append(1)))
        self.assertEqual((outcome.allowed, ran), (False, []))

    def test_answers_find_their_calls(self):
        with self.fake("backwards") as guard, ThreadPoolExecutor(50) as threads:
            said = list(threads.map(lambda n: guard.before(call(str(n))).reason, range(50)))
            self.assertEqual(said, [str(n) for n in range(50)])

            async def at_once():
                asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(50))
                calls = (asyncio.to_thread(guard.before, call(str(n))) for n in range(50))
                return [verdict.reason for verdict in await asyncio.gather(*calls)]

            self.assertEqual(asyncio.run(at_once()), [str(n) for n in range(50)])
            guard._begun.clear()  # This bridge answers in tens, and would not answer the end of the session.

    def test_calls_that_wait_when_the_bridge_dies_are_all_denied(self):
        with self.fake("backwards") as guard, ThreadPoolExecutor(7) as threads:
            began = time.monotonic()
            said = list(threads.map(lambda n: guard.before(call(str(n))), range(7)))
            self.assertLess(time.monotonic() - began, 3)
            self.assertTrue(all(not verdict.allowed and "no answer came" in verdict.reason for verdict in said))

    def test_nothing_is_left_behind(self):
        for what in ("allows", "hangs", "dies", "garbage", "closes"):
            guard = self.fake(what)
            guard.before(call())
            guard.close()
            for thread in threading.enumerate():
                if thread is not threading.main_thread() and isinstance(thread, threading.Timer):
                    thread.join(2)
            self.assertEqual([line for line in children() if "fake_bridge" in line or "defunct" in line], [], what)

    def test_a_program_that_never_closes_its_guard_ends(self):
        code = "from phasegate_client import Guard; g = Guard(command={!r}); print(g.before({!r}).allowed, g._bridge._process.pid)"
        ran = subprocess.run(
            [sys.executable, "-c", code.format(FAKE, call())],
            env={**os.environ, "FAKE": "allows", "PYTHONPATH": str(Path(__file__).parents[1])},
            capture_output=True, text=True, timeout=5,
        )  # fmt: skip
        said, pid = ran.stdout.split()
        self.assertEqual(said, "True", ran.stderr)
        until = time.monotonic() + 3
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            time.sleep(0.05)
        self.assertFalse(Path(f"/proc/{pid}").exists())

    def test_a_hook_without_an_answer_denies_in_the_form_of_its_event(self):
        self.assertEqual(replied("PreToolUse", {"deny": "no"})["hookSpecificOutput"]["permissionDecision"], "deny")
        self.assertEqual(replied("UserPromptSubmit", {"deny": "no"}), {"decision": "block", "reason": "no"})
        self.assertEqual(replied("Stop", {"deny": "no"}), {"systemMessage": "no"})


if __name__ == "__main__":
    unittest.main()
