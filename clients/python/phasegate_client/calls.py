"""The generic adapter: `call` and `acall` of a guard ask, run a tool and report how it ended."""

import asyncio
import json
import uuid


def joined(*texts: str | None) -> str | None:
    return "\n\n".join(dict.fromkeys(text for text in texts if text)) or None


def written(value) -> str:
    """A result as a text; that of a program, as `{"exit_code": 3, "output": "..."}`, as phasegate reads it."""
    if isinstance(value, dict) and "exit_code" in value:
        texts = [text for text in value.values() if text and isinstance(text, str)]
        return "\n".join([f"Exit code {value['exit_code']}", *texts])
    return value if isinstance(value, str) else json.dumps(value, default=str)


def called(tool: str, input: dict) -> dict:
    return {"tool": tool, "input": input, "id": str(uuid.uuid4())}


class Calls:
    """What a guard does around a tool that it runs itself."""

    def call(self, tool: str, input: dict, run):
        """Asks, runs `run(**input)` if the call is allowed, and reports how it ended. The tool's error is raised."""
        said = self.before(call := called(tool, input))
        if not said.allowed:
            return said
        try:
            ended = run(**input)
        except Exception as error:
            ended = error
        return self._ended(call, said, ended)

    async def acall(self, tool: str, input: dict, run):
        """The same for a tool that is a coroutine."""
        said = await asyncio.to_thread(self.before, call := called(tool, input))
        ran = said.allowed and await asyncio.gather(run(**input), return_exceptions=True)
        return await asyncio.to_thread(self._ended, call, said, ran[0]) if ran else said

    def _ended(self, call: dict, said, ended):
        told = self.after(call, error=ended) if isinstance(ended, BaseException) else self.after(call, ended)
        if isinstance(ended, BaseException):
            raise ended
        said.result, said.context = ended, joined(said.context, told)
        said.text = joined(written(ended), said.context) or ""
        return said
