/** Asks `phasegate serve` about each tool call of an agent. No dependency but node itself. */

import { spawn, type ChildProcess } from "node:child_process"
import { randomUUID } from "node:crypto"
import { resolve } from "node:path"

import { Calls, joined, verdict, written } from "./calls.js"
import type { Call, Event, Options, Reply, Verdict } from "./calls.js"

export type * from "./calls.js"

const [PROTOCOL, GREETING_MS, MARGIN_MS] = [1, 5_000, 2_000]
const AGAIN = "Try again: each call starts phasegate anew. If it stays so, install it or run `phasegate doctor`."

type Open = { take: (line: Reply) => void; lose: (error: Error) => void; timer: NodeJS.Timeout }

const named = ({ tool, input, id }: Call) => ({ tool_name: tool, tool_input: input ?? {}, tool_use_id: id })

/** One process of `phasegate serve`. Whatever goes wrong ends it, and the next call starts another one. */
class Bridge {
  dead: Error | undefined
  readonly #child: ChildProcess
  readonly #open = new Map<number, Open>()
  readonly #ended: Promise<void>
  readonly #hello: Promise<Reply>
  #limit = GREETING_MS
  #next = 0
  #rest = ""

  constructor(command: string, directory: string) {
    // A prompt that the application passes on is not the word of a person at a terminal.
    const options = { cwd: directory, env: { ...process.env, CLAUDE_CODE_ENTRYPOINT: "sdk-phasegate" }, detached: true }
    const words = ["serve", "--platform", "claude-code"]
    const child = spawn(command, words, { ...options, stdio: ["pipe", "pipe", "ignore"] })
    this.#child = child
    this.#ended = new Promise((ended) => {
      child.on("error", (error) => ended(this.#fail(error.message)))
      child.on("close", (status) => ended(this.#fail(`\`phasegate serve\` ended with status ${status}`)))
    })
    child.stdin?.on("error", () => {}) // It has ended, and its end says how.
    child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#take(text))
    // While an answer is awaited, its timer keeps the process alive.
    for (const held of [child, child.stdin, child.stdout]) (held as { unref?: () => void } | null)?.unref?.()
    this.#hello = this.#send({ hello: { protocol: PROTOCOL, platform: "claude-code", directory } })
  }

  async ask(event: Event): Promise<Reply> {
    await this.#hello
    return this.#send({ event })
  }

  async close(): Promise<void> {
    this.#child.stdin?.end()
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), 1_000)
    await this.#ended
    clearTimeout(timer)
  }

  #send(body: object): Promise<Reply> {
    const id = this.#next++ // That of the greeting is not said.
    const text = JSON.stringify(id === 0 ? body : { id, ...body })
    return new Promise((take, lose) => {
      const timer = setTimeout(() => this.#fail(`no answer came in ${this.#limit / 1_000} s`), this.#limit)
      this.#open.set(id, { take, lose, timer })
      this.#child.stdin?.write(`${text}\n`)
      if (this.dead) this.#fail(this.dead.message)
    })
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split("\n")
    this.#rest = lines.pop() ?? ""
    try {
      for (const line of lines) if (!this.dead) this.#understand(JSON.parse(line))
    } catch (error) {
      this.#fail(`\`phasegate serve\` said what is no answer (${error})`)
    }
  }

  #understand(line: Reply): void {
    if (line.error && line.id === undefined) return this.#fail(String(line.error.text))
    if (this.#open.has(0)) {
      const { protocol, deadline_ms } = line.hello
      if (protocol !== PROTOCOL) return this.#fail(`phasegate speaks protocol ${protocol}, and this client ${PROTOCOL}`)
      this.#limit = Number(deadline_ms) + MARGIN_MS
    }
    const { take, timer } = this.#open.get(line.id ?? 0)!
    this.#open.delete(line.id ?? 0)
    clearTimeout(timer)
    take(line)
  }

  #fail(why: string): void {
    this.dead ??= new Error(why)
    this.#child.kill("SIGKILL")
    for (const { lose, timer } of this.#open.values()) {
      clearTimeout(timer)
      lose(this.dead)
    }
    this.#open.clear()
  }
}

/** Decides the tool calls of an agent. Where no answer comes, a call is denied; in the mode `warn` it is allowed. */
export class Guard extends Calls {
  readonly directory: string
  readonly session: string
  readonly blocks: boolean
  readonly #command: string
  readonly #begun = new Map<string, Promise<Reply>>()
  #bridge: Bridge | undefined
  #guarded = false

  constructor(directory = ".", { session = randomUUID(), mode = "block", command = "phasegate" }: Options = {}) {
    super()
    this.directory = resolve(directory)
    this.session = session
    this.blocks = mode !== "warn"
    this.#command = command
  }

  /** The reply to a message in the hook format of Claude Code; where no answer comes, a reply that says why. */
  async ask(event: Event): Promise<Reply> {
    const { session_id: session, hook_event_name: name } = event
    try {
      // A session that does not begin would go on with the runs of another one.
      const begins = { source: "startup", ...event, hook_event_name: "SessionStart" }
      if (name === "SessionStart" || !this.#begun.has(session)) this.#begun.set(session, this.#answer(begins))
      const first = await this.#begun.get(session)!
      return name === "SessionStart" ? first : await this.#answer(event)
    } catch (error) {
      this.#begun.delete(session)
      const lost = error instanceof Error ? error.message : String(error)
      const why = lost.startsWith("phasegate") ? lost : `phasegate [bridge-lost]: ${lost}. ${AGAIN}`
      return this.blocks ? { deny: why } : { systemMessage: `${why} This was not guarded.` }
    }
  }

  async before(call: Call): Promise<Verdict> {
    return verdict(await this.#own("PreToolUse", named(call)))
  }

  /** Reports how a call ended. What comes back is for the model to read besides the result. */
  async after(call: Call, result?: any, error?: unknown, exitCode?: number): Promise<string | undefined> {
    const given = exitCode === undefined ? result : { exit_code: exitCode, output: written(result) }
    const shell = given?.exit_code === 0 && ["Bash", "PowerShell"].includes(call.tool)
    const failed = error !== undefined || Boolean(given?.exit_code)
    const response = shell ? { stdout: written(given), stderr: "", interrupted: false } : (given ?? null)
    const how = failed ? { error: error === undefined ? written(given) : String(error) } : { tool_response: response }
    const said = verdict(await this.#own(failed ? "PostToolUseFailure" : "PostToolUse", { ...named(call), ...how }))
    return joined(said.reason, said.context)
  }

  async prompt(text: string): Promise<Verdict> {
    return verdict(await this.#own("UserPromptSubmit", { prompt: text }))
  }

  /** Tells that the agent would end its turn. What comes back is why it has to go on. */
  async stop(): Promise<string | null> {
    const reply = await this.#own("Stop", { stop_hook_active: false })
    return reply.decision === "block" ? String(reply.reason) : null
  }

  async close(): Promise<void> {
    for (const session_id of this.#begun.keys()) await this.#own("SessionEnd", { session_id, reason: "other" })
    await this.#bridge?.close()
    this.#begun.clear()
  }

  #own(name: string, fields: object): Promise<Reply> {
    return this.ask({ session_id: this.session, cwd: this.directory, hook_event_name: name, ...fields })
  }

  async #answer(event: Event): Promise<Reply> {
    if (!this.#bridge || this.#bridge.dead) this.#bridge = new Bridge(this.#command, this.directory)
    const line = await this.#bridge.ask(event)
    if (line.error) throw new Error(String(line.error.text))
    this.#guarded ||= "guarded" in line
    if (!this.#guarded) throw new Error(`phasegate: nothing guards ${this.directory}: write .phasegate/config.yaml.`)
    if (typeof line.reply !== "object") throw new Error("`phasegate serve` said what is no answer")
    return line.reply ?? {}
  }
}
