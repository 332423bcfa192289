// phasegate: the guard's plugin for OpenCode. Written by `phasegate init opencode`, which also takes it out again.
//
// It holds no policy and no state. What the client tells its hooks goes to `phasegate serve`, and what comes back is done:
// a call is denied by throwing, text for the agent is put where the agent reads it. Where the guard cannot be asked, calls
// are denied. Only types are imported: a plugin whose imports cannot be found is left out by the client without a word.
import { isatty } from "node:tty"

import type { Plugin } from "@opencode-ai/plugin"

const COMMAND = "phasegate"
const VERSION = "0.1.0"

// <bridge>
// </bridge>

type Json = Record<string, any>

/** A session as the guard's messages name it. */
type Session = { id: string; parent?: string; root?: string; agent?: string }

/** How long the client may take to say what it knows of a session or of its servers, in milliseconds. */
const PATIENCE = 5000
/** How much of a text is handed on where only its beginning is read. */
const BEGINNING = 300

/** What one plugin of ours has taken up, another one in the same process leaves alone: the user's and the project's may both be there. */
const CLAIMED: WeakSet<object> = ((globalThis as Json)[Symbol.for("phasegate.claimed") as unknown as string] ??= new WeakSet())

function claim(thing: unknown): boolean {
  if (typeof thing !== "object" || thing === null || CLAIMED.has(thing)) return false
  CLAIMED.add(thing)
  return true
}

/** From now on nobody changes it: a plugin that tries fails, and its failure stops the call. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
}

function within<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, PATIENCE, undefined)))
  return Promise.race([promise.catch(() => undefined), late]).finally(() => clearTimeout(timer))
}

function beginning(text: unknown): unknown {
  return typeof text === "string" ? text.slice(0, BEGINNING) : undefined
}

/** What a call answered, without what may be large: no policy reads it. */
function answered(output: Json | undefined): Json {
  const plain = (value: unknown) => value === null || typeof value === "number" || typeof value === "boolean"
  const metadata = Object.entries(output?.metadata ?? {}).filter(([, value]) => plain(value))
  return { output: beginning(output?.output), metadata: Object.fromEntries(metadata), isError: output?.isError }
}

/** What is handed on of what the bus tells; nothing of the rest. */
function told(event: Json): Json | undefined {
  const properties: Json = event.properties ?? {}
  const keep = (properties: Json) => ({ type: event.type, properties })
  switch (event.type) {
    case "session.created":
    case "session.deleted":
      return keep({ info: { id: properties.info?.id, title: properties.info?.title } })
    case "session.idle":
    case "session.error":
    case "session.compacted":
      return keep({ sessionID: properties.sessionID })
    case "permission.asked":
      return keep({ id: properties.id, tool: properties.tool })
    case "permission.replied":
      return keep({ requestID: properties.requestID, reply: properties.reply })
    case "file.edited":
    case "file.watcher.updated":
      return /opencode|phasegate/.test(String(properties.file)) ? keep({ file: properties.file }) : undefined
    case "message.updated": {
      const info: Json = properties.info ?? {}
      const begins = info.role === "assistant" && !info.finish && !info.error && !info.time?.completed
      return begins ? keep({ info: { id: info.id, role: info.role } }) : undefined
    }
    case "message.part.updated": {
      const part: Json = properties.part ?? {}
      const { type, messageID, callID, tool, text, time } = part
      if (type === "step-finish") return keep({ part: { type, messageID } })
      if (type === "text") return time?.end === undefined ? undefined : keep({ part: { type, messageID, text, time } })
      const status = part.state?.status
      if (type !== "tool" || (status !== "completed" && status !== "error")) return undefined
      const state = { ...answered(part.state), status, error: beginning(part.state.error), input: part.state.input }
      return keep({ part: { type, messageID, callID, tool, state } })
    }
    default:
      return undefined
  }
}

/** The session that the bus tells about; what it tells about files is about none. */
function about(event: Json): string | undefined {
  const properties: Json = event.properties ?? {}
  return properties.sessionID ?? properties.part?.sessionID ?? properties.info?.sessionID ?? properties.info?.id
}

/** Whether a person sits before the client: it shows its own interface in a terminal. */
function atTerminal(): boolean {
  const other = /^(run|serve|web|acp|attach|github|pr|debug|mcp|auth|providers|agent|models|stats|export|import|session|db|plugin|upgrade|uninstall)$/
  const words = process.argv.slice(1).filter((word) => !word.startsWith("-"))
  return isatty(0) && isatty(1) && !words.some((word) => other.test(word))
}

/** Adds text to what a call answered, so that the agent reads it there. */
function append(output: Json, text: string): void {
  if (Array.isArray(output.content)) output.content.push({ type: "text", text })
  else if (typeof output.output === "string") output.output += `\n\n${text}`
}

/** Adds a piece to a prompt that the agent reads and the user's own text does not show. */
function addPart(output: Json, text: string): void {
  const last: Json | undefined = output.parts?.at(-1)
  const letters = Array.from({ length: 10 }, () => "abcdefghijklmnopqrstuvwxyz"[Math.floor(Math.random() * 26)])
  if (typeof last?.id !== "string") return
  const id = `${last.id.slice(0, 16)}zzzz${letters.join("")}`
  output.parts.push({ id, sessionID: last.sessionID, messageID: last.messageID, type: "text", text, synthetic: true })
}

/** What the client knows of its sessions, each asked for once. */
class Sessions {
  private known = new Map<string, Promise<Session | undefined>>()

  constructor(
    private client: Json,
    private opened: (session: Session, title: unknown) => void,
  ) {}

  /** The session with this id. One that this process has not seen begin is told to the guard before anything of it. */
  get(id: string): Promise<Session | undefined> {
    const known = this.known.get(id)
    if (known) return known
    const found = within(this.client.session.get({ path: { id } })).then(async (answer: any) => {
      const info = answer?.data
      const session = info?.id === id ? await this.of(info) : undefined
      if (session) this.opened(session, info.title)
      else this.known.delete(id)
      return session
    })
    this.known.set(id, found)
    return found
  }

  /** A session that begins. */
  begins(info: Json): void {
    if (!this.known.has(info.id)) this.known.set(info.id, this.of(info))
  }

  forget(id: string): void {
    this.known.delete(id)
  }

  /** All that are known. */
  async all(): Promise<Session[]> {
    const all = await Promise.all(this.known.values())
    return all.filter((session) => session !== undefined)
  }

  private async of(info: Json): Promise<Session | undefined> {
    if (!info.parentID) return { id: info.id }
    const parent = await this.get(info.parentID)
    return parent && { id: info.id, parent: parent.id, root: parent.root ?? parent.id, agent: info.agent }
  }
}

export const Phasegate: Plugin = async ({ client, directory }) => {
  const bridge = new Bridge({ platform: "opencode", command: COMMAND, shim: VERSION, directory })
  const terminal = atTerminal()
  const servers = new Set<string>()
  const looked = new Set<string>()
  /** What is to be added to the answer of a call that runs. */
  const notes = new Map<string, string>()
  /** Where a session stands, for an agent whose conversation was cut down. */
  const standing = new Map<string, string>()
  let latest: string | undefined

  const frame = (hook: string, session: Session, input: unknown, output?: unknown): Json => {
    return { hook, session, directory, terminal, input, output }
  }
  const sessions = new Sessions(client, (session, title) => bridge.tell(frame("session.opened", session, { title })))
  const show = (message: string, variant: "info" | "warning" | "error") => {
    void within(client.tui.showToast({ body: { message, variant } }) as Promise<unknown>)
  }
  /** The servers that the client knows; asked again for a tool that fits none. */
  const serversFor = async (tool: string): Promise<string[]> => {
    const fits = [...servers].some((name) => tool.startsWith(`${name.replace(/[^a-zA-Z0-9_-]/g, "_")}_`))
    if (!fits && tool.includes("_") && !looked.has(tool)) {
      const status: any = await within(client.mcp.status() as Promise<unknown>)
      if (status?.data) {
        looked.add(tool)
        Object.keys(status.data).forEach((name) => servers.add(name))
      }
    }
    return [...servers]
  }
  bridge.start()

  return {
    config: async (config: Json) => {
      Object.keys(config.mcp ?? {}).forEach((name) => servers.add(name))
    },

    "tool.execute.before": async (input, output) => {
      if (!claim(output)) return
      const session = await sessions.get(input.sessionID)
      if (!session) throw new Error("phasegate: the client does not say which session this call belongs to, so it is denied. Try the call again.")
      latest = session.root ?? session.id
      const native = frame("tool.execute.before", session, input, { args: output.args })
      native.servers = await serversFor(input.tool)
      const decided = JSON.stringify(output.args)
      const answer = await bridge.ask(native)
      if (answer.deny !== undefined) throw new Error(answer.deny)
      if (JSON.stringify(output.args) !== decided) {
        throw new Error("phasegate: the call was changed while it was decided, so it is denied. Another plugin changes calls: tell the user.")
      }
      freeze(output.args)
      if (answer.reply?.tell) show(answer.reply.tell, "warning")
      if (answer.reply?.context) notes.set(input.callID, answer.reply.context)
    },

    "tool.execute.after": async (input, output) => {
      if (!claim(output)) return
      const session = await sessions.get(input.sessionID)
      const note = notes.get(input.callID)
      notes.delete(input.callID)
      if (note) append(output, note)
      if (!session) return
      const native = frame("tool.execute.after", session, input, answered(output))
      native.servers = [...servers]
      const answer = await bridge.ask(native)
      if (answer.reply?.context) append(output, answer.reply.context)
      if (answer.deny !== undefined) show(answer.deny, "error")
    },

    "command.execute.before": async (input, output) => {
      if (!claim(output)) return
      const session = await sessions.get(input.sessionID)
      if (!session) return
      bridge.tell(frame("command.execute.before", session, input))
      const task = output.parts.find((part: Json) => part.type === "subtask") as Json | undefined
      if (!task) return
      // The client breaks a session for good when the call is denied that such a command makes. So it is not made.
      const args = { prompt: task.prompt, description: task.description, subagent_type: task.agent, command: task.command }
      const call = { tool: "task", sessionID: input.sessionID, callID: "probe" }
      const probed = await bridge.probe([frame("tool.execute.before", session, call, { args })])
      const effect = probed?.[0]?.effect
      if (effect === "allow" || effect === "warn") return
      const reason = probed?.[0]?.reason ?? bridge.trouble ?? "the guard does not answer"
      const text = `The command /${input.command} was not run: it would start a subagent, which is denied. ${reason}`
      output.parts.splice(0, output.parts.length, { type: "text", text } as any)
      show(text, "error")
    },

    "chat.message": async (input, output) => {
      if (!claim(output)) return
      const session = await sessions.get(input.sessionID)
      if (!session) return
      if (session.root && !session.agent) session.agent = input.agent ?? (output.message as Json).agent
      latest = session.root ?? session.id
      const parts = output.parts.map((part: Json) => ({ type: part.type, text: part.text, synthetic: part.synthetic }))
      const answer = await bridge.ask(frame("chat.message", session, { messageID: input.messageID, agent: input.agent }, { parts }))
      const context = [answer.deny, answer.reply?.context].filter(Boolean).join("\n\n")
      if (context) addPart(output, context)
      const tell = answer.deny ?? answer.reply?.tell
      if (tell) show(tell, answer.deny === undefined ? "info" : "error")
    },

    "experimental.chat.system.transform": async (input, output) => {
      if (!claim(output)) return
      const session = input.sessionID === undefined ? undefined : await sessions.get(input.sessionID)
      const text = session && standing.get(session.id)
      if (text) output.system.push(text)
      if (bridge.trouble) output.system.push(`phasegate does not work, so tool calls are denied: ${bridge.trouble} Tell the user.`)
    },

    "experimental.session.compacting": async (input, output) => {
      const session = claim(output) ? await sessions.get(input.sessionID) : undefined
      if (session) bridge.tell(frame("experimental.session.compacting", session, {}))
    },

    "shell.env": async (input, output) => {
      const session = input.sessionID === undefined ? undefined : await sessions.get(input.sessionID)
      if (session) output.env.PHASEGATE_SESSION = session.root ?? session.id
    },

    event: async ({ event }) => {
      const native = told(event as Json)
      if (!native || !claim(event)) return
      const info = (event as Json).properties?.info
      if (event.type === "session.created" && info) sessions.begins(info)
      const id = about(event as Json) ?? latest
      const session = id === undefined ? undefined : await sessions.get(id)
      if (!session) return
      const message = frame("event", session, { event: native })
      if (event.type === "session.compacted") {
        const answer = await bridge.ask(message)
        if (answer.reply?.context) standing.set(session.id, answer.reply.context)
        return
      }
      bridge.tell(message)
      if (event.type === "session.deleted") sessions.forget(session.id)
    },

    dispose: async () => {
      for (const session of await sessions.all()) if (!session.root) bridge.tell(frame("session.closed", session, {}))
      bridge.close()
    },
  }
}
