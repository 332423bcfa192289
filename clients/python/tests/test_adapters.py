"""What the adapters tell the guard, and what they do with its answers, in the real SDKs with their scripted models."""

import asyncio
import importlib.util
import unittest

from phasegate_client import Verdict
from phasegate_client.langgraph import langgraph_middleware
from phasegate_client.openai import openai_guardrail


class Recorder:
    """Stands in for a guard: answers what it is told to, and keeps what it was told."""

    blocks = True

    def __init__(self, context=None, prompt=Verdict(True), reasons=()):
        self.context, self.answer, self.reasons, self.told = context, prompt, list(reasons), []

    def before(self, call):
        self.told.append(("before", call["tool"], call["id"]))
        return Verdict(True)

    def after(self, call, result=None, error=None, exit_code=None):
        self.told.append(("after", call["id"], result, error and str(error), exit_code))
        return self.context

    def prompt(self, text):
        self.told.append(("prompt", text))
        return self.answer

    def stop(self):
        return self.reasons.pop(0) if self.reasons else None


def fails() -> str:
    raise RuntimeError("it broke")


def works() -> str:
    return "it worked"


@unittest.skipUnless(importlib.util.find_spec("agents"), "openai-agents is not installed")
class OpenAI(unittest.TestCase):
    def run_tool(self, guard, run) -> str:
        from agents import Agent, RunConfig, Runner, function_tool
        from agents.testing import ScriptedModel, assistant_message, function_call

        model = ScriptedModel([[function_call("Tool", {}, call_id="c")], [assistant_message("Done.")]])
        agent = Agent(name="a", model=model, tools=[function_tool(run, name_override="Tool", **openai_guardrail(guard))])
        result = asyncio.run(Runner.run(agent, "Go.", run_config=RunConfig(tracing_disabled=True)))
        return next(item.output for item in result.new_items if item.type == "tool_call_output_item")

    def test_a_tool_that_fails_is_reported_as_failed(self):
        guard = Recorder()
        self.assertEqual(self.run_tool(guard, fails), "The tool failed: it broke")
        self.assertEqual(guard.told[0], ("before", "Tool", "c"))
        self.assertEqual([told[3] for told in guard.told[1:]], ["it broke"])

    def test_the_model_reads_the_result_and_what_the_guard_adds(self):
        self.assertEqual(self.run_tool(Recorder(), works), "it worked")
        self.assertEqual(self.run_tool(Recorder("and this"), works), "it worked\n\nand this")


@unittest.skipUnless(importlib.util.find_spec("langchain"), "langchain is not installed")
class LangGraph(unittest.TestCase):
    def invoke(self, guard, run, asynchronous=False, **options):
        from langchain.agents import create_agent
        from langchain.messages import AIMessage
        from langchain.tools import tool
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel

        class Scripted(GenericFakeChatModel):
            def bind_tools(self, tools, **_):
                return self

        call = {"name": "Bash", "args": {}, "id": "c"}
        says = [AIMessage("", tool_calls=[call]), AIMessage("Done."), AIMessage("Really done.")]
        tools = [tool("Bash", description="Run it", **options)(run)]
        agent = create_agent(Scripted(messages=iter(says)), tools, middleware=[langgraph_middleware(guard)])
        prompt = {"messages": "Go."}
        return (asyncio.run(agent.ainvoke(prompt)) if asynchronous else agent.invoke(prompt))["messages"]

    def test_an_exit_status_is_read_from_the_artifact_and_no_text(self):
        for asynchronous in (False, True):
            guard = Recorder()
            self.invoke(guard, lambda: ("text", {"exit_code": 3}), asynchronous, response_format="content_and_artifact")
            self.assertEqual(guard.told, [("prompt", "Go."), ("before", "Bash", "c"), ("after", "c", "text", None, 3)])
            guard = Recorder()
            self.invoke(guard, lambda: '{"exit_code": 0}', asynchronous)
            self.assertEqual(guard.told[-1], ("after", "c", '{"exit_code": 0}', None, None))

    def test_a_tool_that_fails_is_reported_as_failed(self):
        for asynchronous in (False, True):
            guard = Recorder()
            with self.assertRaises(RuntimeError):
                self.invoke(guard, fails, asynchronous)
            self.assertEqual(guard.told[-1], ("after", "c", None, "it broke", None))

    def test_the_agent_goes_on_while_the_guard_holds_it(self):
        messages = self.invoke(Recorder("and this", reasons=["Not yet."]), works)
        self.assertEqual([m.text for m in messages if m.type == "tool"], ["it worked\n\nand this"])
        self.assertEqual([m.text for m in messages[-3:]], ["Done.", "Not yet.", "Really done."])

    def test_a_prompt_that_is_denied_ends_the_run(self):
        for asynchronous in (False, True):
            messages = self.invoke(Recorder(prompt=Verdict(False, "No.")), works, asynchronous)
            self.assertEqual([message.text for message in messages], ["Go.", "No."])


if __name__ == "__main__":
    unittest.main()
