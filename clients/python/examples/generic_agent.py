"""An agent without an SDK: a loop around a model, here a scripted one."""

from phasegate_client import Guard
from scenario import judge, project, read, script, write

folder, results = project(), []
model = iter(script(folder))
tools = {"Read": read, "Write": write}

with Guard(folder) as guard:
    guard.prompt("Write the report.")
    for name, input in model:
        answer = guard.call(name, input, tools[name])  # asks, runs the tool if it may, reports how it ended
        results.append(answer.text)  # what the model reads as the call's result

judge(folder, results)
