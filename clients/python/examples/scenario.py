"""What the examples have in common: a guarded folder, what the scripted model does there, and how it must end."""

import json
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SKILL = """\
skill: read-first
description: Read the notes before you write.
start: [session]
unlisted: deny
phases:
  look:
    allowed: [Read]
    done_when: { ok: Read }
  change:
    allowed: [Read, Write]
"""


def project() -> Path:
    """A new folder whose skill asks for a reading before the first writing."""
    folder = Path(tempfile.mkdtemp(prefix="guarded-")).resolve()
    (folder / ".phasegate/skills").mkdir(parents=True)
    (folder / ".phasegate/skills/read-first.yaml").write_text(SKILL)
    (folder / ".phasegate/config.yaml").write_text("mode: block\nuse: [read-first]\n")
    (folder / "notes.txt").write_text("the notes\n")
    return folder


def script(folder: Path) -> list[tuple[str, dict]]:
    """The model's calls: one that is forbidden, then what it asks for, then one that is permitted."""
    return [
        ("Write", {"file_path": f"{folder}/early.txt", "content": "too early\n"}),
        ("Read", {"file_path": f"{folder}/notes.txt"}),
        ("Write", {"file_path": f"{folder}/report.txt", "content": "after the notes\n"}),
    ]


def read(file_path: str) -> str:
    return Path(file_path).read_text()


def write(file_path: str, content: str) -> str:
    Path(file_path).write_text(content)
    return f"{file_path} is written"


def judge(folder: Path, results: list[str]) -> None:
    """Prints what the model read as the result of its first call; exits with 1 if the guard did not hold."""
    print(results[0] if results else "the model got no result")
    if (folder / "early.txt").exists():
        sys.exit("the forbidden call ran")
    if not results or "[not-done]" not in results[0] or not (folder / "report.txt").exists():
        sys.exit("the model was not denied, or could not go on")


class Messages(BaseHTTPRequestHandler):
    """A scripted model on loopback that speaks just enough of the Messages API."""

    calls: list[tuple[str, dict]] = []
    results: dict[str, str] = {}

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        blocks = [b for m in request.get("messages", []) if isinstance(m["content"], list) for b in m["content"]]
        for block in blocks:
            if block["type"] == "tool_result":
                text = block["content"]
                text = text if isinstance(text, str) else "\n".join(part.get("text", "") for part in text)
                self.results[block["tool_use_id"]] = text
        at = sum(block["type"] == "tool_use" for block in blocks)
        block, delta, stop = {"type": "text", "text": ""}, {"type": "text_delta", "text": "Done."}, "end_turn"
        if request.get("tools") and at < len(self.calls):
            name, input = self.calls[at]
            block = {"type": "tool_use", "id": f"toolu_{at}", "name": name, "input": {}}
            delta, stop = {"type": "input_json_delta", "partial_json": json.dumps(input)}, "tool_use"
        usage = {"input_tokens": 1, "output_tokens": 1}
        message = {"id": f"msg_{at}", "type": "message", "role": "assistant", "content": [], "model": request.get("model")}
        message |= {"stop_reason": None, "stop_sequence": None, "usage": usage}
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        for event in (
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def do_HEAD(self):
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def messages_api(calls: list[tuple[str, dict]]) -> str:
    """Starts it; gives its address."""
    Messages.calls = calls
    server = ThreadingHTTPServer(("127.0.0.1", 0), Messages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return f"http://127.0.0.1:{server.server_port}"
