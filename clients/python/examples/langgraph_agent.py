"""An agent of LangChain on LangGraph with the guard as its middleware. The model is a scripted one."""

from langchain.agents import create_agent
from langchain.messages import AIMessage
from langchain.tools import tool
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from phasegate_client import Guard
from phasegate_client.langgraph import langgraph_middleware
from scenario import judge, project, read, script, write


class Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **_):
        return self


folder = project()
calls = [{"name": name, "args": input, "id": f"call_{at}"} for at, (name, input) in enumerate(script(folder))]
model = Scripted(messages=iter([*(AIMessage("", tool_calls=[call]) for call in calls), AIMessage("Done.")]))

with Guard(folder) as guard:
    tools = [tool("Read", description="Read a file")(read), tool("Write", description="Write a file")(write)]
    agent = create_agent(model, tools, middleware=[langgraph_middleware(guard)])
    state = agent.invoke({"messages": "Write the report."})

judge(folder, [message.text for message in state["messages"] if message.type == "tool"])
