// What the adapters tell the guard, and what they do with its answers, in the real SDKs with their scripted models.

import assert from "node:assert/strict"
import { test } from "node:test"
import { Agent, Runner, tool as openaiTool } from "@openai/agents"
import { assistantMessage, functionCall, ScriptedModel } from "@openai/agents/testing"
import { AIMessage, createAgent, fakeModel, tool } from "langchain"
import { z } from "zod"
import { langgraphMiddleware } from "../dist/langgraph.js"
import { openaiGuardrail } from "../dist/openai.js"

/** Stands in for a guard: answers what it is told to, and keeps what it was told. */
function recorder({ context, prompt = { allowed: true }, reasons = [] } = {}) {
  const told = []
  return {
    told,
    async before({ tool, id }) {
      told.push(["before", tool, id])
      return { allowed: true }
    },
    async after({ id }, result, error, exitCode) {
      told.push(["after", id, result, error?.message ?? error, exitCode])
      return context
    },
    async prompt(text) {
      told.push(["prompt", text])
      return prompt
    },
    stop: async () => reasons.shift() ?? null,
  }
}

const works = () => "it worked"
function fails() {
  throw new Error("it broke")
}

async function openai(guard, execute) {
  const model = new ScriptedModel([[functionCall("Tool", {}, { callId: "c" })], [assistantMessage("Done.")]])
  const parameters = z.object({})
  const tools = [openaiTool({ name: "Tool", description: "A tool", parameters, execute, ...openaiGuardrail(guard) })]
  const result = await new Runner({ tracingDisabled: true }).run(new Agent({ name: "a", model, tools }), "Go.")
  const { output } = result.history.find(({ type }) => type === "function_call_result")
  return output.text ?? output
}

test("OpenAI: a tool that fails is reported as failed", async () => {
  const guard = recorder()
  assert.match(await openai(guard, fails), /^The tool failed: .*it broke/)
  assert.deepEqual(guard.told[0], ["before", "Tool", "c"])
  assert.match(guard.told[1][3], /it broke/)
  assert.equal(guard.told.length, 2)
})

test("OpenAI: the model reads the result, and what the guard adds", async () => {
  assert.equal(await openai(recorder(), works), "it worked")
  assert.equal(await openai(recorder({ context: "and this" }), works), "it worked\n\nand this")
})

async function langgraph(guard, run, options = {}) {
  const model = fakeModel().respondWithTools([{ name: "Bash", args: {}, id: "c" }])
  model.respond(new AIMessage("Done.")).respond(new AIMessage("Really done."))
  const tools = [tool(run, { name: "Bash", description: "Run it", schema: z.object({}), ...options })]
  const agent = createAgent({ model, tools, middleware: [langgraphMiddleware(guard)] })
  return (await agent.invoke({ messages: "Go." })).messages
}

test("LangGraph: an exit status is read from the artifact, and from no text", async () => {
  const guard = recorder()
  await langgraph(guard, () => ["text", { exit_code: 3 }], { responseFormat: "content_and_artifact" })
  const after = ["after", "c", "text", undefined, 3]
  assert.deepEqual(guard.told, [["prompt", "Go."], ["before", "Bash", "c"], after])
  const other = recorder()
  await langgraph(other, () => '{"exit_code": 0}')
  assert.deepEqual(other.told.at(-1), ["after", "c", '{"exit_code": 0}', undefined, undefined])
})

test("LangGraph: a tool that fails is reported as failed", async () => {
  const guard = recorder()
  await langgraph(guard, fails).catch(() => {})
  assert.match(guard.told.at(-1)[3], /it broke/)
})

test("LangGraph: the agent goes on while the guard holds it", async () => {
  const messages = await langgraph(recorder({ context: "and this", reasons: ["Not yet."] }), works)
  assert.deepEqual(messages.filter(({ type }) => type === "tool").map(({ text }) => text), ["it worked\n\nand this"])
  assert.deepEqual(messages.slice(-3).map(({ text }) => text), ["Done.", "Not yet.", "Really done."])
})

test("LangGraph: a prompt that is denied ends the run", async () => {
  const messages = await langgraph(recorder({ prompt: { allowed: false, reason: "No." } }), works)
  assert.deepEqual(messages.map(({ text }) => text), ["Go.", "No."])
})
