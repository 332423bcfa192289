"""An agent of the Claude Agent SDK with the guard as its hooks. The model is scripted, on loopback."""

import asyncio

from claude_agent_sdk import ClaudeAgentOptions, query
from phasegate_client import Guard
from phasegate_client.claude import claude_hooks
from scenario import Messages, judge, messages_api, project, script

folder = project()
env = {"ANTHROPIC_BASE_URL": messages_api(script(folder)), "ANTHROPIC_API_KEY": "scripted"}


async def main() -> None:
    with Guard(folder) as guard:
        options = ClaudeAgentOptions(
            cwd=folder, hooks=claude_hooks(guard), permission_mode="acceptEdits", setting_sources=[], env=env
        )
        async for message in query(prompt="Write the report.", options=options):
            print(type(message).__name__)


asyncio.run(main())
judge(folder, [Messages.results[f"toolu_{at}"] for at in range(len(Messages.results))])
