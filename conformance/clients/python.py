"""The Python SDK as a client, version 1 or 2: `python.py PLAN COMMAND [ARGUMENTS...]`.

The plan's steps are done one after another over standard input and output of the command, and what came of each is
printed as a line of JSON: `{tools}`, `{isError, text, structured}`, `{error}` or `{cancelled}`. Version 2 speaks the
plan's `revision`, version 1 only those that begin with a handshake.
"""

import asyncio
import json
import os
import sys

import anyio
import mcp
from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client

SECOND = hasattr(mcp, "Client")
Failure = mcp.MCPError if SECOND else mcp.McpError


async def answer(_context, _params):
    return types.ElicitResult(action="accept", content={"name": "nobody"})


async def sample(_context, _params):
    content = types.TextContent(type="text", text="nothing")
    return types.CreateMessageResult(role="assistant", model="none", content=content)


async def roots(_context):
    return types.ListRootsResult(roots=[])


async def progress(*_):
    pass


def told(result):
    answer = result.model_dump(by_alias=True, mode="json")
    return {
        "isError": answer.get("isError") is True,
        "text": "\n".join(part.get("text") or "" for part in answer.get("content") or []),
        "structured": answer.get("structuredContent"),
    }


async def call(client, step):
    asked = client.call_tool(step["call"], step.get("arguments") or {}, progress_callback=progress)
    try:
        if "cancel_after_ms" not in step:
            return told(await asked)
        with anyio.move_on_after(step["cancel_after_ms"] / 1000):
            return told(await asked)
        return {"cancelled": True}
    except Failure as failure:
        return {"error": str(failure), "code": failure.error.code}


async def done(client, step):
    if "together" in step:
        return {"together": await asyncio.gather(*(done(client, one) for one in step["together"]))}
    if "call" in step:
        return await call(client, step)
    if "tools" in step:
        return {"tools": [tool.name for tool in (await client.list_tools()).tools]}
    if "resources" in step:
        return {"resources": [str(one.uri) for one in (await client.list_resources()).resources]}
    if "read" in step:
        return {"contents": len((await client.read_resource(step["read"])).contents)}
    if "prompt" in step:
        return {"messages": len((await client.get_prompt(step["prompt"], step.get("arguments"))).messages)}
    raise ValueError(f"no such step: {step}")


async def lived(client, steps):
    for step in steps:
        print(json.dumps(await done(client, step)), flush=True)


async def main():
    plan, command, *arguments = sys.argv[1:]
    with open(plan, encoding="utf-8") as file:
        plan = json.load(file)
    server = StdioServerParameters(command=command, args=arguments, env=dict(os.environ))
    callbacks = {"elicitation_callback": answer, "sampling_callback": sample, "list_roots_callback": roots}
    if SECOND:
        revision = plan.get("revision", "auto")
        mode = revision if revision in ("auto", "2026-07-28") else "legacy"
        async with mcp.Client(server, mode=mode, **callbacks) as client:
            await lived(client, plan["steps"])
    else:
        async with stdio_client(server) as (read, write), ClientSession(read, write, **callbacks) as client:
            await client.initialize()
            await lived(client, plan["steps"])


asyncio.run(main())
