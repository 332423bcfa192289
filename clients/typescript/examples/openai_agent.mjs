// An agent of the OpenAI Agents SDK with guarded tools. The model is the SDK's own scripted one.

import { Agent, Runner, tool } from "@openai/agents"
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing"
import { Guard } from "@phasegate/client"
import { openaiGuardrail } from "@phasegate/client/openai"
import { z } from "zod"
import { judge, project, read, script, write } from "./scenario.mjs"

const folder = project()
const calls = script(folder).map(({ name, input }, at) => [functionCall(name, input, { callId: `call_${at}` })])
const model = new ScriptedModel([...calls, [assistantMessage("Done.")]])

const guard = new Guard(folder)
const guarded = openaiGuardrail(guard)
const file_path = z.string()
const parameters = { Read: z.object({ file_path }), Write: z.object({ file_path, content: z.string() }) }
const tools = [
  tool({ name: "Read", description: "Read a file", parameters: parameters.Read, execute: read, ...guarded }),
  tool({ name: "Write", description: "Write a file", parameters: parameters.Write, execute: write, ...guarded }),
]
const agent = new Agent({ name: "writer", model, tools })
const runner = new Runner({ tracingDisabled: true })
await guard.prompt("Write the report.")
let result = await runner.run(agent, "Write the report.")
for (let reason; (reason = await guard.stop()); ) {
  result = await runner.run(agent, [...result.history, { role: "user", content: reason }]) // it may not end its turn yet
}
await guard.close()

const outputs = result.history.filter(({ type }) => type === "function_call_result").map(({ output }) => output)
judge(folder, outputs.map((output) => output.text ?? output))
