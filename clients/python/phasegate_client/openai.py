"""Guardrails for the OpenAI Agents SDK, for tools that are functions: `@function_tool(**openai_guardrail(guard))`."""

import asyncio
import json

from .calls import joined, written


def openai_guardrail(guard) -> dict:
    """The arguments of `function_tool` that ask before the tool runs, and report how it ended."""
    from agents import ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputGuardrail

    failed = {}

    def call(context) -> dict:
        try:
            input = json.loads(context.tool_arguments or "{}")
        except ValueError:
            input = context.tool_arguments
        return {"tool": context.tool_name, "input": input, "id": context.tool_call_id}

    async def before(data):
        said = await asyncio.to_thread(guard.before, call(data.context))
        if said.allowed:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(said.reason)

    async def after(data):
        error = failed.pop(data.context.tool_call_id, None)
        context = await asyncio.to_thread(guard.after, call(data.context), data.output, error)
        if context is None:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(joined(written(data.output), context))

    def error(context, raised):
        """The SDK makes a text of an error; a failed call must not look like one that gave back a text."""
        failed[context.tool_call_id] = raised
        return f"The tool failed: {raised}"

    return {
        "tool_input_guardrails": [ToolInputGuardrail(guardrail_function=before, name="phasegate")],
        "tool_output_guardrails": [ToolOutputGuardrail(guardrail_function=after, name="phasegate")],
        "failure_error_function": error,
    }
