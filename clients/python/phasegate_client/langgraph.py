"""Middleware for agents of LangChain on LangGraph: `create_agent(..., middleware=[langgraph_middleware(guard)])`."""

import asyncio

from .calls import joined


def langgraph_middleware(guard):
    from langchain.agents.middleware import AgentMiddleware, hook_config
    from langchain.messages import AIMessage, HumanMessage, ToolMessage

    def call(request) -> dict:
        tool = request.tool_call
        return {"tool": tool["name"], "input": tool["args"], "id": tool["id"]}

    def denied(request, said):
        tool = request.tool_call
        return ToolMessage(said.reason, tool_call_id=tool["id"], name=tool["name"], status="error")

    def after(request, answer):
        """Reports how the call ended. What a program ended with stands in the message's artifact, if anywhere."""
        if not isinstance(answer, ToolMessage):
            return answer
        artifact = answer.artifact if isinstance(answer.artifact, dict) else {}
        error = answer.text if answer.status == "error" else None
        context = guard.after(call(request), answer.text, error, artifact.get("exit_code"))
        return answer.model_copy(update={"content": joined(answer.text, context)}) if context else answer

    class Phasegate(AgentMiddleware):
        @hook_config(can_jump_to=["end"])
        def before_agent(self, state, runtime):
            said = guard.prompt(state["messages"][-1].text)
            if not said.allowed:
                return {"messages": [AIMessage(said.reason)], "jump_to": "end"}
            return {"messages": [HumanMessage(said.context)]} if said.context else None

        @hook_config(can_jump_to=["model"])
        def after_agent(self, state, runtime):
            reason = guard.stop()
            return {"messages": [HumanMessage(reason)], "jump_to": "model"} if reason else None

        def wrap_tool_call(self, request, handler):
            said = guard.before(call(request))
            if not said.allowed:
                return denied(request, said)
            try:
                answer = handler(request)
            except Exception as error:
                guard.after(call(request), error=error)
                raise
            return after(request, answer)

        async def abefore_agent(self, state, runtime):
            return await asyncio.to_thread(self.before_agent, state, runtime)

        async def aafter_agent(self, state, runtime):
            return await asyncio.to_thread(self.after_agent, state, runtime)

        async def awrap_tool_call(self, request, handler):
            said = await asyncio.to_thread(guard.before, call(request))
            if not said.allowed:
                return denied(request, said)
            [answer] = await asyncio.gather(handler(request), return_exceptions=True)
            if isinstance(answer, BaseException):
                await asyncio.to_thread(guard.after, call(request), error=answer)
                raise answer
            return await asyncio.to_thread(after, request, answer)

    return Phasegate()
