"""Stories of the suite, played through `Guard` with tools that really run; `phasegate replay` decides them again."""

import asyncio
import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from phasegate_client import Guard

STORIES = Path(__file__).parents[3] / "conformance/stories"
PHASEGATE = os.environ.get("PHASEGATE", "phasegate")
# The project is named, so that no folder above is taken for it.
INIT = ("init", "claude-code", "--no-user", "--mode", "block", "--project", ".")


READ_FIRST = """\
skill: read-first
description: Read before you write.
start: [session]
phases:
  look: { allowed: [Read], done_when: { ok: Read } }
  change: { allowed: [Read, Write] }
"""


async def slowly(**_) -> str:
    await asyncio.sleep(0.01)
    return "read"


class Tools:
    """The tools that the stories call, in a folder."""

    def __init__(self, folder: Path):
        self.folder = folder

    def named(self, name: str):
        server = name.removeprefix("mcp__lsp__")
        return getattr(self, name.lower()) if server == name else lambda **input: self.lsp(server, **input)

    def read(self, file_path):
        return Path(file_path).read_text()

    def write(self, file_path, content):
        Path(file_path).write_text(content)

    def edit(self, file_path, old_string, new_string):
        text = Path(file_path).read_text()
        assert old_string in text
        Path(file_path).write_text(text.replace(old_string, new_string, 1))

    def bash(self, command, description=""):
        ran = subprocess.run(["bash", "-c", command], cwd=self.folder, capture_output=True, text=True)
        return {"exit_code": ran.returncode, "stdout": ran.stdout, "stderr": ran.stderr}

    def skill(self, skill):
        return {"success": True, "commandName": skill}

    def lsp(self, tool, fail=False, **_):
        """The stories' language server leaves a trace of each call that reaches it."""
        (self.folder / "lsp").mkdir(exist_ok=True)
        at = next(n for n in range(1, 99) if not (self.folder / f"lsp/{tool}.{n}").exists())
        (self.folder / f"lsp/{tool}.{at}").touch()
        if fail:
            raise RuntimeError(f"{tool} failed")
        return f"{tool} is done"


class Stories(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp()).resolve()
        self.addCleanup(shutil.rmtree, self.folder)
        self.project, self.home = self.folder / "project", self.folder / "home"
        self.home.mkdir()
        self.project.mkdir()
        for name in ("HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"):
            if name in os.environ:
                self.addCleanup(os.environ.__setitem__, name, os.environ.pop(name))
        os.environ["HOME"] = str(self.home)

    def run_phasegate(self, *arguments, **options) -> str:
        options = {"cwd": self.project, "check": True, "capture_output": True, "text": True, **options}
        return subprocess.run([PHASEGATE, *arguments], **options).stdout

    def test_a_failed_build_opens_the_way_back(self):
        self.play("failed-build-back", denied=1)

    def test_a_skill_of_the_projects_own(self):
        self.play("own-skill", denied=3)

    def test_an_honest_agent(self):
        self.play("honest", denied=0)

    def guarded(self, session: str | None = None) -> Guard:
        return Guard(self.project, session=session, command=PHASEGATE)

    def test_a_new_session_begins_anew_and_an_old_one_goes_on(self):
        self.read_first()
        write = {"file_path": "a.txt", "content": "x"}
        with self.guarded("old") as guard:
            self.assertFalse(guard.call("Write", write, lambda **_: "written").allowed)
            with self.assertRaises(OSError):
                guard.call("Read", {"file_path": f"{self.project}/none"}, Tools(self.project).read)
            self.assertFalse(guard.call("Write", write, lambda **_: "written").allowed, "a failed reading is none")
            self.assertTrue(asyncio.run(guard.acall("Read", {"file_path": "a.txt"}, slowly)).allowed)
        with self.guarded() as guard:
            self.assertFalse(guard.call("Write", write, lambda **_: "written").allowed)
        with self.guarded("old") as guard:
            self.assertTrue(guard.call("Write", write, lambda **_: "written").allowed)

    def test_a_prompt_is_no_persons_word(self):
        self.read_first()
        with mock.patch.dict(os.environ, {"CLAUDE_CODE_ENTRYPOINT": "cli"}), self.guarded() as guard:
            self.assertIn("[command-refused]", guard.prompt("/phasegate skip").reason)

    def test_an_agent_that_is_not_done_is_held(self):
        self.run_phasegate(*INIT, "--skill", "test-first")
        with self.guarded() as guard:
            write = {"file_path": f"{self.project}/test_a.py", "content": "import unittest\nassert False\n"}
            self.assertTrue(guard.call("Write", write, Tools(self.project).write).allowed)
            self.assertIn("[unfinished]", guard.stop())

    def test_a_folder_that_nothing_guards_denies(self):
        call = {"tool": "Read", "input": {}, "id": "1"}
        for mode in ("block", "warn"):
            with Guard(self.project, mode=mode, command=PHASEGATE) as guard:
                said = guard.before(call)
                self.assertEqual(said.allowed, mode == "warn")
                self.assertIn("nothing guards", said.reason or said.context)

    def read_first(self):
        (self.project / ".phasegate/skills").mkdir(parents=True)
        (self.project / ".phasegate/config.yaml").write_text("mode: block\nuse: [read-first]\n")
        (self.project / ".phasegate/skills/read-first.yaml").write_text(READ_FIRST)

    def play(self, name: str, denied: int):
        story = json.loads((STORIES / f"{name}.json").read_text())
        for path, text in story["files"].items():
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(text)
        subprocess.run(["git", "init", "--quiet"], cwd=self.project, check=True)
        skill = ["--skill", story["skill"]] if "skill" in story else []
        self.run_phasegate(*INIT, *skill)
        tools, decisions = Tools(self.project), []
        with Guard(self.project, session="story", command=PHASEGATE) as guard:
            self.assertTrue(guard.prompt(story["prompt"]).allowed)
            for turn in story["turns"]:
                for call in turn.get("calls", []):
                    decisions.append(self.decided(guard, tools, call))
                if "text" in turn:
                    self.assertIsNone(guard.stop())
        self.assertEqual(decisions.count("deny"), denied)
        transcript = self.run_phasegate("audit", "export", "--transcript", "--session", "story")
        lines = [json.loads(line) for line in self.run_phasegate("replay", "-", input=transcript).splitlines()]
        again = [line["decision"] for line in lines if line["event"] == "tool_call"]
        self.assertEqual(again, decisions)

    def decided(self, guard: Guard, tools: Tools, call: dict) -> str:
        """Plays a call, and compares what became of it with what the story expects."""
        input = json.loads(json.dumps(call["input"]).replace("${PROJECT}", str(self.project)))
        failed, text, allowed = False, "", True
        try:
            outcome = guard.call(call["tool"], input, tools.named(call["tool"]))
            failed = isinstance(outcome.result, dict) and outcome.result.get("exit_code", 0) != 0
            text, allowed = outcome.text, outcome.allowed
        except RuntimeError:
            failed = True
        self.assertEqual("allowed" if allowed else "blocked", call["expect"], f"{call}: {text}")
        self.assertEqual(failed, call.get("fails", False), f"{call}: {text}")
        for said in call.get("reads", []) if not allowed else []:
            self.assertIn(said, text)
        if proof := call.get("proof"):
            file = self.project / proof["file"]
            there = file.exists() and proof.get("contains", "") in file.read_text()
            self.assertEqual(there, allowed, call)
        return "allow" if allowed else "deny"


if __name__ == "__main__":
    unittest.main()
