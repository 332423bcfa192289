"""Stories of the suite, played through `Guard` with tools that really run; `phasegate replay` decides them again."""

import json
import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from phasegate_client import Guard

STORIES = Path(__file__).parents[3] / "conformance/stories"
PHASEGATE = os.environ.get("PHASEGATE", "phasegate")


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

    def play(self, name: str, denied: int):
        story = json.loads((STORIES / f"{name}.json").read_text())
        for path, text in story["files"].items():
            (self.project / path).parent.mkdir(parents=True, exist_ok=True)
            (self.project / path).write_text(text)
        subprocess.run(["git", "init", "--quiet"], cwd=self.project, check=True)
        skill = ["--skill", story["skill"]] if "skill" in story else []
        self.run_phasegate("init", "claude-code", "--no-user", "--mode", story["mode"], *skill)
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
