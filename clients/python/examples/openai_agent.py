"""An agent of the OpenAI Agents SDK with guarded tools. The model is the SDK's own scripted one."""

import asyncio

from agents import Agent, RunConfig, Runner, function_tool
from agents.testing import ScriptedModel, assistant_message, function_call
from phasegate_client import Guard
from phasegate_client.openai import openai_guardrail
from scenario import judge, project, read, script, write

folder = project()
calls = [[function_call(name, input, call_id=f"call_{at}")] for at, (name, input) in enumerate(script(folder))]
model = ScriptedModel([*calls, [assistant_message("Done.")]])


async def main() -> list[str]:
    with Guard(folder) as guard:
        guarded = openai_guardrail(guard)
        tools = [
            function_tool(read, name_override="Read", **guarded),
            function_tool(write, name_override="Write", **guarded),
        ]
        agent = Agent(name="writer", model=model, tools=tools)
        guard.prompt("Write the report.")
        result = await Runner.run(agent, "Write the report.", run_config=RunConfig(tracing_disabled=True))
        while reason := guard.stop():  # it may not end its turn yet
            result = await Runner.run(agent, [*result.to_input_list(), {"role": "user", "content": reason}])
    return [item.output for item in result.new_items if item.type == "tool_call_output_item"]


judge(folder, asyncio.run(main()))
