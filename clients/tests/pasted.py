"""Plays what docs/sdk.md and the TypeScript client's README show: each block is pasted into a folder with the page's
policy and nothing else, and has to print the denial of a call that comes too early. Arguments: the repository, a
folder, the words of one language's interpreter."""

import os
import re
import subprocess
import sys
from pathlib import Path

root, folder, interpreter = Path(sys.argv[1]), Path(sys.argv[2]).resolve(), sys.argv[3:]
sys.path.insert(0, str(root / "clients/python/examples"))
from scenario import messages_api  # noqa: E402

language = "js" if Path(interpreter[0]).name == "node" else "python"
pages = ["docs/sdk.md", *(["clients/typescript/README.md"] if language == "js" else [])]
text = "\n".join((root / page).read_text() for page in pages)
blocks = re.findall(r"```(\w+)\n(.*?)```", text, re.DOTALL)
config, skill = (block for name, block in blocks if name == "yaml")
(folder / ".phasegate/skills").mkdir(parents=True)
(folder / ".phasegate/config.yaml").write_text(config)
(folder / ".phasegate/skills/read-first.yaml").write_text(skill)
pasted = [block for name, block in blocks if name == language]
assert len(pasted) == 4, f"an agent for each SDK and one without: {len(pasted)}"
for at, block in enumerate(pasted):
    file = folder / f"agent{at}.{'mjs' if language == 'js' else 'py'}"
    file.write_text(block)
    model = messages_api([("Write", {"file_path": str(folder / "a.txt"), "content": "x"})])
    env = {**os.environ, "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "scripted"}
    ran = subprocess.run([*interpreter, file], cwd=folder, env=env, capture_output=True, text=True, timeout=120)
    imports = next(line for line in block.splitlines() if "import" in line and "node:" not in line)
    print(f"{imports}: status {ran.returncode}")
    assert ran.returncode == 0, ran.stderr
    assert "[not-done]" in ran.stdout, ran.stdout + ran.stderr
    assert not (folder / "a.txt").exists(), "the call ran"
