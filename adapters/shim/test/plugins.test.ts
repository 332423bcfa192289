// The plugins with clients that are made up: what no recorded session shows of the parts in TypeScript.

import assert from "node:assert/strict"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { after, before, test } from "node:test"

import { Phasegate } from "../../opencode/shim/phasegate.ts"
import phasegate from "../../pi/shim/phasegate.ts"

const world = mkdtempSync(join(tmpdir(), "phasegate-plugins-"))
const project = join(world, "project")

before(() => {
  for (const folder of [".phasegate/skills", ".pi/skills/careful"]) mkdirSync(join(project, folder), { recursive: true })
  writeFileSync(join(project, ".phasegate/config.yaml"), "mode: block\n")
  writeFileSync(join(project, ".pi/skills/careful/SKILL.md"), "---\nname: careful\ndescription: look\n---\n")
  writeFileSync(
    join(project, ".phasegate/skills/careful.yaml"),
    "skill: careful\ndescription: look\nphases:\n  look: { allowed: [Read], forbidden: [Edit], done_when: { ok: Read } }\n  write: { allowed: [Edit] }\n",
  )
  writeFileSync(
    join(project, ".phasegate/skills/finished.yaml"),
    "skill: finished\ndescription: read\nfinish: required\nstart: [{ prompt: 'Do it' }]\nphases:\n  only: { allowed: [Read], done_when: { ok: Read } }\n",
  )
  Object.assign(process.env, {
    PATH: `${dirname(process.env.PHASEGATE ?? "phasegate")}${delimiter}${process.env.PATH}`,
    PHASEGATE_STATE_DIR: join(world, "state"),
    PHASEGATE_MACHINE_DIR: join(world, "machine"),
    PHASEGATE_HIDE_FORBIDDEN: "1",
    HOME: world,
  })
})
after(() => rmSync(world, { recursive: true, force: true }))

/** A client that loads the extension for one session. */
function client(session: string, entries: unknown[], tools: string[], terminal = false) {
  const handlers = new Map<string, (event: unknown, ctx: unknown) => any>()
  const sent: { content: string; options: object }[] = []
  const commands = new Map<string, (args: string, ctx: unknown) => Promise<void>>()
  const told: string[] = []
  let active = tools
  const pi = {
    on: (name: string, handler: (event: unknown, ctx: unknown) => any) => handlers.set(name, handler),
    getActiveTools: () => active,
    setActiveTools: (names: string[]) => (active = names),
    getAllTools: () => [],
    getCommands: () => [],
    appendEntry: (customType: string, data: unknown) => entries.push({ type: "custom", customType, data }),
    registerCommand: (name: string, { handler }: { handler: (args: string, ctx: unknown) => Promise<void> }) => commands.set(name, handler),
    registerTool: ({ name }: { name: string }) => (active = [...active, name]),
    sendUserMessage: (content: string, options: object) => sent.push({ content, options }),
  }
  const ctx = {
    cwd: project,
    mode: terminal ? "tui" : "json",
    hasUI: terminal,
    ui: { setStatus: () => {}, notify: (text: string) => told.push(text) },
    sessionManager: { getSessionId: () => session, getEntries: () => entries, getHeader: () => undefined },
  }
  phasegate(pi as any)
  const says = async (type: string, fields: object = {}) => handlers.get(type)?.({ type, ...fields }, ctx)
  const types = async (name: string) => {
    told.length = 0
    await commands.get(name)?.("", ctx)
    return told
  }
  return { says, types, sent, tools: () => active }
}

const skill = { toolName: "read", input: { path: join(project, ".pi/skills/careful/SKILL.md") } }
const text = [{ type: "text", text: "done" }]

test("what a script's calls give the agent to read comes with the script's result, which keeps its structure", async () => {
  const { says } = client("nested", [], ["read", "codemode"])
  await says("session_start", { reason: "startup" })
  const script = { toolName: "codemode", toolCallId: "c", input: { code: "tools.read()" } }
  assert.equal(await says("tool_call", script), undefined)
  const inner = { ...skill, toolCallId: "c/1", parentToolCallId: "c" }
  assert.equal(await says("tool_call", inner), undefined)
  assert.equal(await says("tool_result", { ...inner, content: text, structuredContent: { a: 1 }, isError: false }), undefined)
  const result = await says("tool_result", { ...script, content: text, structuredContent: { b: 2 }, isError: false })
  assert.deepEqual(result.structuredContent, { b: 2 })
  assert.deepEqual(result.content[0], text[0])
  assert.match(result.content[1].text, /skill careful, phase "look"/)
  await says("session_shutdown")
})

test("what a person approves is there with the next prompt, and one notice says what is registered", async () => {
  const { says, types, tools } = client("approving", [], ["read"], true)
  await says("session_start", { reason: "startup" })
  assert.deepEqual(tools(), ["read"])
  await says("input", { text: "/phasegate safety approve gcloud", source: "interactive" })
  await says("input", { text: "Look around.", source: "interactive" })
  assert.deepEqual(tools(), ["read", "plan_skill_safety"])
  assert.deepEqual(await types("safety"), ["phasegate: agents may classify: gcloud\nphasegate: guard answers"])
  await says("input", { text: "/phasegate safety revoke gcloud", source: "interactive" })
  await says("session_shutdown")
})

test("tools that were hidden come back when the session is resumed", async () => {
  const entries: unknown[] = []
  const first = client("hiding", entries, ["read", "bash", "edit"])
  await first.says("session_start", { reason: "startup" })
  await first.says("tool_call", { ...skill, toolCallId: "s" })
  await first.says("before_agent_start")
  assert.deepEqual(first.tools(), ["read", "bash"])
  const resumed = client("hiding", entries, ["read", "bash"])
  await resumed.says("session_start", { reason: "resume" })
  assert.deepEqual(resumed.tools(), ["read", "bash", "edit"])
  await resumed.says("session_shutdown")
})

test("another plugin that changes a decided call is told so", async () => {
  const answers = {
    session: { get: async ({ path }: { path: { id: string } }) => ({ data: { id: path.id } }) },
    tui: { showToast: async () => ({}) },
    mcp: { status: async () => ({ data: {} }) },
  }
  const hooks = await Phasegate({ client: answers, directory: project } as any)
  const output = { args: { filePath: join(project, "a"), nested: { deep: 1 } } as any }
  await hooks["tool.execute.before"]?.({ tool: "read", sessionID: "ses_1", callID: "c" }, output)
  const changed = /another plugin tried to change this call after it was decided/
  assert.throws(() => (output.args.filePath = "b"), changed)
  assert.throws(() => (output.args.nested.deep = 2), changed)
  assert.throws(() => delete output.args.filePath)
  await (hooks as any).dispose()
})

test("an agent that stops too early goes on by a prompt that counts as nobody's, and not after an interrupt", async () => {
  const { says, sent } = client("stops", [], ["read"])
  const stops = (stopReason: string) => says("agent_end", { messages: [{ role: "user" }, { role: "assistant", stopReason }] })
  await says("session_start", { reason: "startup" })
  await says("input", { text: "Do it", source: "interactive" })
  await stops("aborted")
  assert.equal(sent.length, 0)
  for (const times of [1, 2, 3, 3]) {
    await stops("stop")
    assert.equal(sent.length, times)
    const { content, options } = sent[times - 1] ?? assert.fail()
    assert.match(content, /Do not end the turn yet \(skill finished\)/)
    assert.deepEqual(options, { deliverAs: "followUp" })
    await says("input", { text: content, source: "extension" })
  }
  await says("input", { text: "Go on", source: "interactive" })
  await stops("stop")
  assert.equal(sent.length, 4, "a person's prompt counts anew")
  await says("session_shutdown", { reason: "quit" })
})

test("a session that goes idle too early goes on once, as the agent that the user chose", async () => {
  const sent: any[] = []
  const answers = {
    session: {
      get: async ({ path }: { path: { id: string } }) => ({ data: { id: path.id } }),
      promptAsync: async (prompt: unknown) => sent.push(prompt),
    },
    tui: { showToast: async () => ({}) },
    mcp: { status: async () => ({ data: {} }) },
  }
  const hooks = await Phasegate({ client: answers, directory: project } as any)
  const tells = (type: string, properties: object) => hooks.event?.({ event: { type, properties } as any })
  const model = { providerID: "one", modelID: "two" }
  const prompts = (text: string) => {
    const message = { id: "msg_1", agent: "plan", model }
    return hooks["chat.message"]?.({ sessionID: "ses_2", agent: "plan" } as any, { message, parts: [{ type: "text", text }] } as any)
  }
  const stops = async (end: object) => {
    await tells("message.updated", { info: { id: "msg_2", sessionID: "ses_2", role: "assistant", ...end } })
    await tells("session.idle", { sessionID: "ses_2" })
  }
  await tells("session.created", { info: { id: "ses_2", title: "" } })
  await prompts("Do it")
  await stops({ error: { name: "MessageAbortedError" } })
  assert.equal(sent.length, 0)
  for (let times = 0; times < 2; times += 1) {
    await stops({ finish: "stop" })
    assert.equal(sent.length, 1)
    await prompts(sent[0].body.parts[0].text)
  }
  assert.deepEqual(sent[0].path, { id: "ses_2" })
  assert.deepEqual({ agent: sent[0].body.agent, model: sent[0].body.model }, { agent: "plan", model })
  assert.match(sent[0].body.parts[0].text, /Do not end the turn yet \(skill finished\)/)
  await prompts("Go on")
  await stops({ finish: "stop" })
  assert.equal(sent.length, 2, "a person's prompt counts anew")
  await (hooks as any).dispose()
})

test("the agent has the tool of the registry where it may be told of it, and is answered through the guard", async () => {
  const answers = {
    session: { get: async ({ path }: { path: { id: string } }) => ({ data: { id: path.id } }) },
    tui: { showToast: async () => ({}) },
    mcp: { status: async () => ({ data: {} }) },
  }
  const named = join(world, "named")
  mkdirSync(join(named, ".phasegate"), { recursive: true })
  const config = join(named, ".phasegate/config.yaml")
  for (const [settings, tools] of [["safety: { prompt: false }", []], ["", ["plan_skill_safety"]]] as const) {
    writeFileSync(config, `mode: block\n${settings}\n`)
    const without = await Phasegate({ client: answers, directory: named } as any)
    assert.deepEqual(Object.keys(without.tool ?? {}), tools)
    await (without as any).dispose()
  }
  writeFileSync(config, "mode: block\nsafety: { programs: [gcloud] }\n")
  const hooks = await Phasegate({ client: answers, directory: named } as any)
  await hooks.event?.({ event: { type: "session.created", properties: { info: { id: "ses_3", title: "" } } } as any })
  const { plan_skill_safety: tool } = hooks.tool ?? {}
  const asks = (args: object) => tool?.execute(args as any, { sessionID: "ses_3" } as any)
  const told = await asks({ tool: "gcloud", commands: { "gcloud * list *": "READ" }, default: "WRITE" })
  assert.match(String(told), /^Registered 1 safety pattern\(s\) for "gcloud"/)
  await assert.rejects(async () => asks({ tool: "terraform", commands: { "terraform show": "READ" } }), /terraform/)
  await (hooks as any).dispose()
})

test("a prompt that names no agent goes to the client's default one, whose plan mode counts", async () => {
  const answers = {
    session: { get: async ({ path }: { path: { id: string } }) => ({ data: { id: path.id } }) },
    tui: { showToast: async () => ({}) },
    mcp: { status: async () => ({ data: {} }) },
  }
  const planned = join(world, "planned")
  mkdirSync(join(planned, ".phasegate"), { recursive: true })
  writeFileSync(join(planned, ".phasegate/config.yaml"), "mode: block\nuse: [plan-mode]\n")
  const hooks = await Phasegate({ client: answers, directory: planned } as any)
  await hooks.event?.({ event: { type: "session.created", properties: { info: { id: "ses_4", title: "" } } } as any })
  const message = { id: "msg_1", agent: "plan" }
  await hooks["chat.message"]?.({ sessionID: "ses_4" } as any, { message, parts: [{ type: "text", text: "Plan it" }] } as any)
  const output = { args: { filePath: join(planned, "a"), content: "x" } }
  await assert.rejects(async () => hooks["tool.execute.before"]?.({ tool: "write", sessionID: "ses_4", callID: "c" }, output), /research/)
  await (hooks as any).dispose()
})
