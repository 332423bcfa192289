// phasegate: the guard's plugin for OpenCode. Written by `phasegate init opencode`, which also takes it out again.
//
// It holds no policy and no state. What the client tells its hooks goes to `phasegate serve`, and what comes back is done:
// a call is denied by throwing, text for the agent is put where the agent reads it. Where the guard cannot be asked, calls
// are denied. Only types are imported: a plugin whose imports cannot be found is left out by the client without a word.
import { isatty } from "node:tty"

import type { Plugin } from "@opencode-ai/plugin"

const COMMAND = "phasegate"
const MODE = "block"
const VERSION = "0.1.0"

// <bridge>
// Made by `cargo xtask gen` from `adapters/shim/bridge.ts`.
// The bridge's end in a plugin: starts `phasegate serve`, hands it events line by line and waits for its answers. It
// decides nothing. Whatever goes wrong with the bridge itself is a denial, and the next event starts another one.

import { spawn, type ChildProcess } from "node:child_process"
import { createHash, randomBytes } from "node:crypto"
import { closeSync, ftruncateSync, mkdtempSync, openSync, readSync, rmSync } from "node:fs"
import { homedir, tmpdir } from "node:os"
import { join } from "node:path"

/** The version of the protocol that is spoken here. */
const PROTOCOL = 1
/** How long a bridge may take until it has said its own deadline, in milliseconds. */
const START_MS = 5_000
/** How much later than the bridge's own deadline an answer may come, in milliseconds. */
const MARGIN_MS = 2_000
/** How often an idle bridge is asked for a sign of life, in milliseconds. */
const PING_MS = 15_000
/** How long a bridge that was closed may take to end, and one that has ended to be read to its end, in milliseconds. */
const GRACE_MS = 1_000
/** How long the client waits for an answer before it does anything else, and how long between two looks, in milliseconds. */
const AT_ONCE = { longest: 3, pause: 0.05 }
/** How large the file of answers may become, in bytes. */
const FILLED = 1024 * 1024
/** The longest line that is taken from a bridge, in characters: its greeting, and what follows. */
const LONGEST = { greeting: 64 * 1024, answer: 64 * 1024 * 1024 }
/** The most events that are kept for the next bridge. */
const KEPT = 1_000
/** How many bridges an event is told to that is not awaited: one of them may be what ends a bridge. */
const TRIES = 3
/** How long a bridge may take to greet after one that hung, in milliseconds: nobody waits longer for it. */
const AGAIN_MS = 1_500
/** How long no other bridge is started after several in a row hung, in milliseconds. */
const PAUSE_MS = 30_000
/** Where the files lie that are a client's shell and the guard's. */
const SHELLS = "/.local/share/phasegate/shell/"
/** What a person does where the program is not there. */
const INSTALL = "Install it from https://github.com/phasegate/phasegate, and run `phasegate init` for this client"
/** What to do where the bridge gives no answer: the way out of the code `bridge-lost`. */
const WAY_OUT =
  "Try the call again: each one starts the bridge anew; if it stays so, run `phasegate doctor`, and have a person repair or reinstall phasegate."

/** The tool by which an agent says what the commands of a program do, for clients whose plugins have tools. */
const REGISTER = {
  name: "plan_skill_safety",
  description:
    "Say which command lines of a program only read and which change things, as the skill that you read classifies them. " +
    "Patterns are about the words of one command: `gcloud * list *` is READ, `npx go-gmail * send *` is DESTRUCTIVE; `*` stands " +
    "for any words. All levels but READ count as WRITE; if in doubt, say WRITE. Call it once for each program.",
  /** Its arguments, each as JSON Schema. */
  properties: {
    tool: { type: "string", description: "The name of the program, for example gcloud or go-gmail" },
    commands: {
      type: "object",
      additionalProperties: { type: "string" },
      description: "Patterns of command lines, each with READ, WRITE, DESTRUCTIVE, EXPENSIVE, SECURITY or FORBIDDEN",
    },
    default: { type: "string", description: "The level of the program's commands that no pattern selects" },
  },
}

/** What a bridge is started with. */
interface BridgeOptions {
  /** The platform's id. */
  platform: string
  /** The program: a path, which may begin with `$HOME/`, or a name found through `PATH`. */
  command: string
  /** The plugin's version. */
  shim: string
  /** The client's version, where it is known. */
  client?: string
  /** The folder in which the client works. */
  directory: string
  /** Whether calls go on where the program is not there: `warn`; else they are denied. */
  mode?: string
  /** The plugin's own file. */
  file?: string
  /** How long no other bridge is started after several in a row hung, in milliseconds. */
  pause?: number
  /** Variables for the bridge beside those of this process. */
  env?: Record<string, string | undefined>
  /** Whether answers that are awaited are read at once from a file; if nothing is said, in Bun. */
  atOnce?: boolean
}

/** What came of an event: `deny` where it must not go on, and the adapter's reply where there is one. */
interface Answer {
  deny?: string
  reply: Record<string, any> | null
}

/** What a call would be answered now. */
interface Probed {
  effect: "allow" | "warn" | "ask" | "deny"
  code?: string
  reason?: string
}

/** What is asked of a bridge. */
interface Request {
  body: { event: unknown } | { probe: unknown[] }
  /** How many bridges may be asked, one after another, while they give no answer. */
  tries: number
  /** Whether it was given to a process that had been started for another one and had not greeted yet. */
  joined?: boolean
  settle: (line: Line | undefined, trouble?: string) => void
}

type Line = Record<string, unknown>

/** What happens in a guarded project to an event that cannot be decided, by the project's root. */
type Guarded = Map<string, string>

const isObject = (value: unknown): value is Line =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== ""

/** A value as one line of JSON. Halves of characters, which JSON cannot hold, are replaced. */
const written = (value: unknown): string =>
  JSON.stringify(value).replace(/\\\\|\\ud[89a-f][0-9a-f]{2}/gi, (found) => (found === "\\\\" ? found : "\\ufffd"))

/** A path in which the user's home stands for `$HOME`. */
const atHome = (path: string): string => path.replace(/^\$HOME(?=\/)/, () => homedir())

/**
 * Has the client's shell say what it can do, where it is the guard's: before it was started once, no line is let through that
 * has to be held.
 */
function introduce(shell: unknown, cwd: string): Promise<void> {
  if (!isText(shell) || !shell.includes(SHELLS)) return Promise.resolve()
  return new Promise((resolve) => {
    const program = shell.replace(/^~(?=\/)/, () => homedir())
    const child = spawn(program, ["-c", ":"], { cwd, stdio: "ignore", timeout: AGAIN_MS, windowsHide: true })
    for (const end of ["error", "exit"]) child.once(end, () => resolve())
  })
}

/** A text that is short and plain enough to be quoted. */
const quoted = (text: string): string => {
  const line = text.trim().replace(/\s+/g, " ").replace(/[^\x20-\x7e]+/g, "?")
  return line.length > 200 ? `${line.slice(0, 200)}...` : line
}

/** Has what was written leave now: Bun keeps it until the client has done everything else that it has to do. */
function flush(stream: object | null): void {
  for (const key of Object.getOwnPropertySymbols(stream ?? {})) {
    try {
      const inner = (stream as Record<symbol, any>)[key]
      // What is wrong with the stream is told by its own event.
      if (typeof inner?.flush === "function") Promise.resolve(inner.flush()).catch(() => {})
    } catch {}
  }
}

/**
 * A file in which a bridge writes answers, besides saying them. What a client has to do before it looks for what was said
 * can take many times as long as the bridge does; in a file it can look at once. Each line begins with a digest of itself
 * and of a key that only the bridge is told, so that nobody else can write one.
 */
class Answers {
  readonly name: string
  readonly key = randomBytes(32).toString("hex")
  readonly #folder: string
  readonly #bytes = new Uint8Array(64 * 1024)
  readonly #pause = new Int32Array(new SharedArrayBuffer(4))
  #file: number | undefined
  #read = 0
  #text = new TextDecoder()
  #pending = ""

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "phasegate-answers-"))
    this.name = join(this.#folder, "answers")
    this.#file = openSync(this.name, "wx+", 0o600)
  }

  /** The bridge has opened it: it needs no name any more. */
  hide(): void {
    try {
      rmSync(this.#folder, { recursive: true, force: true })
    } catch {}
  }

  close(): void {
    this.hide()
    if (this.#file !== undefined) closeSync(this.#file)
    this.#file = undefined
  }

  /** Takes lines until it is done, or has taken too long: then what was said comes when the client looks for it. */
  readUntil(done: () => boolean, take: (line: string) => void): void {
    const began = performance.now()
    while (this.#file !== undefined && !done() && performance.now() - began < AT_ONCE.longest) {
      const count = readSync(this.#file, this.#bytes, 0, this.#bytes.length, this.#read)
      this.#read += count
      if (count === 0) Atomics.wait(this.#pause, 0, 0, AT_ONCE.pause)
      const lines = (this.#pending + this.#text.decode(this.#bytes.subarray(0, count), { stream: true })).split("\n")
      this.#pending = lines.pop() ?? ""
      for (const line of lines) {
        const [digest, text] = [line.slice(0, 64), line.slice(65)]
        if (createHash("sha256").update(this.key + text + this.key).digest("hex") === digest) take(text)
      }
    }
  }

  /** Begins anew, where nothing is to come. */
  empty(): void {
    if (this.#file === undefined || this.#read < FILLED) return
    ftruncateSync(this.#file, 0)
    this.#read = 0
    this.#pending = ""
    this.#text = new TextDecoder()
  }
}

/** How a process ends: the program is not there, it gave no answer in time, it says itself why there will be none and what
 * to do, or anything else. */
type End = "absent" | "hung" | "refused" | "ended"

/** Takes what a process that has ended left unanswered. */
type Over = (left: Request[], end: { trouble: string; how: End; greeted: boolean }) => void

/** One process of the bridge. */
class BridgeProcess {
  readonly #child: ChildProcess
  /** The numbers of what was answered in the file, until it is said, too. */
  readonly #early = new Set<number>()
  #answers: Answers | undefined
  readonly #open = new Map<number, { request: Request; timer: NodeJS.Timeout }>()
  readonly #over: Over
  readonly #since = performance.now()
  /** What waits until it has greeted. */
  #waiting: (() => void)[] = []
  /** Whether agents register what commands do, as its greeting says; not where it never greets. */
  readonly registers: Promise<boolean>
  #registers: (registers: boolean) => void = () => {}
  readonly #guarded: Guarded
  readonly #pings: NodeJS.Timeout
  #answered = false
  #ended = false
  #deadline = START_MS
  #largest = 1024 * 1024
  #last = 0
  #pending: string[] = []
  #length = 0
  #said = ""
  #ping: NodeJS.Timeout | undefined

  constructor(options: BridgeOptions, guarded: Guarded, over: Over) {
    this.#over = over
    this.#guarded = guarded
    this.registers = new Promise((resolve) => (this.#registers = resolve))
    const child = spawn(atHome(options.command), ["serve", "--platform", options.platform], {
      cwd: options.directory,
      detached: true,
      env: { ...process.env, ...options.env },
      stdio: ["pipe", "pipe", "pipe"],
      windowsHide: true,
    })
    this.#child = child
    child.on("error", (error: NodeJS.ErrnoException) => {
      this.#fail(`\`${options.command}\` cannot be started: ${error.message}`, error.code === "ENOENT" ? "absent" : "ended")
    })
    child.on("exit", (status, signal) => {
      const how = signal ? `was ended by ${signal}` : `ended with status ${status}`
      const fail = (): void => this.#fail(`\`${options.command}\` ${how}${this.#said && `: ${quoted(this.#said)}`}`)
      child.once("close", fail)
      setTimeout(fail, GRACE_MS).unref?.()
    })
    // Where it has ended, its end says more.
    const deaf = (error: Error): void => this.#fail(`\`${options.command}\` takes nothing: ${error.message}`)
    child.stdin?.on("error", (error) => setTimeout(deaf, GRACE_MS, error).unref?.())
    child.stdout?.setEncoding("utf8").on("data", (text: string) => this.#take(text))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#said = (this.#said + text).slice(-1_000)
    })
    // A bridge keeps no client alive: timers do while an answer is awaited.
    for (const held of [child, child.stdin, child.stdout, child.stderr]) {
      ;(held as { unref?: () => void } | null)?.unref?.()
    }
    const { platform, shim, client, directory, atOnce = "Bun" in globalThis } = options
    try {
      if (atOnce) this.#answers = new Answers()
    } catch {
      // Where there is no place for it, what is said is enough.
    }
    const answers = this.#answers && { file: this.#answers.name, key: this.#answers.key }
    const known = [...guarded].map(([root, mode]) => ({ root, mode }))
    this.#write({ hello: { protocol: PROTOCOL, platform, shim, client, directory, answers, guarded: known } })
    // Its answer is awaited like any other; no number is its own.
    this.#await(0, { body: { probe: [] }, tries: 1, settle: () => {} })
    this.#pings = setInterval(() => this.#live(), PING_MS)
    this.#pings.unref?.()
  }

  get ended(): boolean {
    return this.#ended
  }

  get greeted(): boolean {
    return this.#answered
  }

  /** Calls when it has greeted, if it ever does. */
  whenGreeted(then: () => void): void {
    if (this.#answered) then()
    else this.#waiting.push(then)
  }

  /** Whether it has taken too long to greet after one that hung; then it is ended. */
  givenUp(): boolean {
    const late = !this.#answered && performance.now() - this.#since >= AGAIN_MS
    if (late) this.#fail(`no greeting came in ${AGAIN_MS} ms`, "hung")
    return late
  }

  /** Asks; the request is settled in time, or handed back. */
  send(request: Request): void {
    const id = ++this.#last
    let [line, now] = ["", false]
    try {
      // Whoever only tells waits for nothing.
      now = this.#answered && this.#answers !== undefined && request.tries === 1 && "event" in request.body
      line = written(now ? { id, ...request.body, now } : { id, ...request.body })
    } catch (error) {
      return request.settle(undefined, `the event cannot be written as JSON: ${String(error)}`)
    }
    if (Buffer.byteLength(line) > this.#largest && this.#answered) {
      return request.settle(undefined, `the event is larger than ${this.#largest} bytes`)
    }
    this.#await(id, request)
    this.#child.stdin?.write(`${line}\n`)
    if (!this.#answers) return
    flush(this.#child.stdin)
    if (!now) return
    try {
      this.#answers.readUntil(() => this.#ended || !this.#open.has(id), (text) => this.#understand(text, true))
    } catch (error) {
      this.#fail(`the file of answers cannot be read: ${String(error)}`)
    }
  }

  /** Ends the process when it has answered what it was asked. */
  close(): void {
    clearInterval(this.#pings)
    this.#child.stdin?.end()
    this.#answers?.close()
    setTimeout(() => this.#kill(), GRACE_MS).unref?.()
  }

  /** Ends the process and what it started. */
  #kill(): void {
    const { pid, exitCode, signalCode } = this.#child
    if (pid === undefined || exitCode !== null || signalCode !== null) return
    try {
      process.kill(-pid, "SIGKILL")
    } catch {
      this.#child.kill("SIGKILL")
    }
  }

  #write(line: unknown): void {
    this.#child.stdin?.write(`${written(line)}\n`)
  }

  #await(id: number, request: Request): void {
    const deadline = this.#deadline
    const timer = setTimeout(() => this.#fail(`no answer came in ${deadline} ms`, "hung"), deadline)
    // What nobody waits for keeps no client from ending.
    if (request.tries > 1) timer.unref?.()
    this.#open.set(id, { request, timer })
  }

  #live(): void {
    if (this.#ended || this.#ping || this.#open.size > 0) return
    this.#ping = setTimeout(() => this.#fail("the bridge gives no sign of life", "hung"), this.#deadline)
    this.#ping.unref?.()
    this.#write({ ping: ++this.#last })
  }

  #take(text: string): void {
    const lines = text.split("\n")
    const rest = lines.pop() ?? ""
    for (const line of lines) {
      const whole = this.#pending.join("") + line
      this.#pending = []
      this.#length = 0
      if (!this.#ended) this.#understand(whole)
    }
    this.#pending.push(rest)
    this.#length += rest.length
    if (this.#length > (this.#answered ? LONGEST.answer : LONGEST.greeting)) {
      this.#fail("the bridge says a line that does not end")
    }
  }

  /** `early`: it is in the file, and will be said, too. */
  #understand(text: string, early = false): void {
    let line: unknown
    try {
      line = JSON.parse(text)
    } catch {
      return this.#garbage(text)
    }
    if (!isObject(line)) return this.#garbage(text)
    const { id, error, hello, pong } = line
    if (isObject(error) && id === undefined) {
      return isText(error.text) ? this.#fail(error.text, "refused") : this.#fail("the bridge refuses everything")
    }
    if (!this.#answered) return isObject(hello) ? this.#greeted(hello, text) : this.#garbage(text)
    if (typeof pong === "number") {
      clearTimeout(this.#ping)
      this.#ping = undefined
      return
    }
    if (typeof id === "number" && (early ? !this.#open.has(id) : this.#early.delete(id))) return this.#rest()
    const open = typeof id === "number" && id > 0 ? this.#open.get(id) : undefined
    if (!open || !this.#fits(open.request, line)) return this.#garbage(text)
    if (isObject(line.guarded)) this.#guarded.set(String(line.guarded.root), String(line.guarded.mode))
    if (early) this.#early.add(id as number)
    this.#settled(id as number)
    this.#rest()
    open.request.settle(line)
  }

  #greeted(hello: Line, text: string): void {
    const { protocol, deadline_ms: deadline, largest } = hello
    if (protocol !== PROTOCOL || typeof deadline !== "number" || typeof largest !== "number") return this.#garbage(text)
    this.#answered = true
    this.#registers(hello.registers === true)
    for (const then of this.#waiting.splice(0)) then()
    this.#answers?.hide()
    if (hello.answers !== true) this.#noFile()
    this.#deadline = deadline + MARGIN_MS
    this.#largest = largest
    this.#settled(0)
    for (const [id, { request, timer }] of this.#open) {
      clearTimeout(timer)
      this.#await(id, request)
    }
  }

  /** Where all is said, nothing is to come in the file. */
  #rest(): void {
    if (this.#open.size > 0 || this.#early.size > 0) return
    try {
      this.#answers?.empty()
    } catch {
      this.#noFile()
    }
  }

  #noFile(): void {
    this.#answers?.close()
    this.#answers = undefined
  }

  /** Whether a line answers what was asked. */
  #fits(request: Request, line: Line): boolean {
    if (isObject(line.error)) return isText(line.error.text)
    if ("probe" in request.body) return Array.isArray(line.probed) && line.probed.length === request.body.probe.length
    const { reply } = line
    return reply === null || (isObject(reply) && (reply.deny === undefined || isText(reply.deny)))
  }

  #settled(id: number): void {
    clearTimeout(this.#open.get(id)?.timer)
    this.#open.delete(id)
  }

  #garbage(text: string): void {
    this.#fail(`the bridge said something that is no answer: \`${quoted(text)}\``)
  }

  /** The end of this process, once: nothing that it says later counts. */
  #fail(trouble: string, how: End = "ended"): void {
    if (this.#ended) return
    this.#ended = true
    this.#registers(false)
    clearInterval(this.#pings)
    clearTimeout(this.#ping)
    this.#kill()
    this.#noFile()
    const left = [...this.#open].sort(([one], [other]) => one - other).map(([, open]) => open)
    this.#open.clear()
    for (const { timer } of left) clearTimeout(timer)
    const requests = left.map(({ request }) => request)
    this.#over(requests, { trouble, how, greeted: this.#answered })
  }
}

/** The bridge as a plugin uses it: there when it is asked, denying where it cannot answer. */
class Bridge {
  readonly #options: BridgeOptions
  #process: BridgeProcess | undefined
  #kept: Request[] = []
  /** What bridges said of projects: a project whose configs and state are both removed is guarded for the next one, too. */
  readonly #guarded: Guarded = new Map()
  /** How often processes in a row gave no answer in time, twice for one that had greeted; and when the last one did not. */
  #hung = { times: 0, at: 0 }
  /** Whether the last process said itself why there is no answer. */
  #refused = false
  /** Why there is no answer at the moment; `undefined` where all is well. */
  trouble: string | undefined
  /** Whether calls go on without an answer: the program is not there, and the mode is warn. */
  absent = false

  constructor(options: BridgeOptions) {
    this.#options = options
  }

  /** Starts the bridge, if it does not run. */
  start(): void {
    this.#running()
  }

  /** Whether the project's agents register what commands do. A bridge that takes long to greet is not waited for. */
  registers(): Promise<boolean> {
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, AGAIN_MS, false).unref?.())
    return Promise.race([this.#running()?.registers ?? false, late])
  }

  /** What the adapter says to an event; no promise where it is there already. It never throws: where there is no answer,
   * that is a denial. */
  ask(event: unknown): Answer | Promise<Answer> {
    let there: Answer | undefined
    let take = (answer: Answer): void => void (there = answer)
    const settle = (line: Line | undefined, trouble?: string): void => take(this.#answer(line, trouble))
    this.#send({ body: { event }, tries: 1, settle })
    return there ?? new Promise((resolve) => (take = resolve))
  }

  /** Tells of an event whose answer is not needed. It is told to the next bridge where this one is lost. */
  tell(event: unknown): void {
    this.#send({ body: { event }, tries: TRIES, settle: () => {} })
  }

  /** What these calls would be answered now; `undefined` where that is not known. */
  probe(events: unknown[]): Promise<Probed[] | undefined> {
    return new Promise((resolve) => {
      const settle = (line: Line | undefined): void => resolve(line?.probed as Probed[] | undefined)
      this.#send({ body: { probe: events }, tries: 1, settle })
    })
  }

  /** Ends the bridge. A later event starts another one. */
  close(): void {
    this.#process?.close()
    this.#process = undefined
  }

  #answer(line: Line | undefined, trouble?: string): Answer {
    if (!line && this.absent) return { reply: { tell: `phasegate: ${trouble}. This is not guarded.` } }
    if (!line && this.#refused && trouble) return { deny: trouble, reply: null }
    if (!line) return { deny: `phasegate [bridge-lost]: ${trouble ?? "there is no bridge"}. ${WAY_OUT}`, reply: null }
    this.trouble = undefined
    this.absent = false
    this.#hung.times = 0
    if (isObject(line.error)) return { deny: String(line.error.text), reply: null }
    const reply = line.reply as Answer["reply"]
    return { deny: reply?.deny as string | undefined, reply }
  }

  #send(request: Request, joins = true): void {
    if (this.#hung.times > 0 && request.tries === 1) return this.#sendAgain(request)
    const waits = this.#process && !this.#process.ended && !this.#process.greeted
    const running = this.#running()
    if (running) running.send({ ...request, joined: joins && waits })
    else this.#lost([request], false)
  }

  /** After a bridge that hung, a request waits for the greeting of the next one only, and not for long. */
  #sendAgain(request: Request): void {
    const refuse = (): void => request.settle(undefined, this.trouble)
    const next = this.#again()
    if (!next) return refuse()
    let waits = true
    const timer = setTimeout(() => {
      waits = false
      refuse()
    }, AGAIN_MS)
    next.whenGreeted(() => {
      clearTimeout(timer)
      if (waits) next.send(request)
    })
  }

  #again(): BridgeProcess | undefined {
    const there = this.#process
    if (there && !there.ended && !there.givenUp()) return there
    const rests = this.#hung.times > 2 && performance.now() - this.#hung.at < (this.#options.pause ?? PAUSE_MS)
    return rests ? undefined : this.#running()
  }

  #running(): BridgeProcess | undefined {
    if (this.#process && !this.#process.ended) return this.#process
    try {
      const started = new BridgeProcess(this.#options, this.#guarded, (left, end) => {
        this.#note(end)
        if (this.#process === started) this.#process = undefined
        this.#lost(left, end.greeted)
      })
      this.#process = started
    } catch (error) {
      this.trouble = `\`${this.#options.command}\` cannot be started: ${String(error)}`
      return undefined
    }
    for (const request of this.#kept.splice(0)) this.#process.send(request)
    return this.#process
  }

  #note({ trouble, how, greeted }: Parameters<Over>[1]): void {
    const { mode, file } = this.#options
    const starts = file === undefined ? "" : `; the plugin ${file} starts it`
    const denied = "; until a bridge answers again, calls are denied without waiting for it"
    this.trouble = trouble + (how === "absent" ? `. ${INSTALL}${starts}` : how === "hung" ? denied : "")
    this.absent = how === "absent" && mode === "warn"
    this.#refused = how === "refused"
    if (how === "hung") this.#hung = { times: this.#hung.times + (greeted ? 2 : 1), at: performance.now() }
  }

  #lost(requests: Request[], greeted: boolean): void {
    for (const request of requests) {
      // A program that never greeted has seen nothing, and may have been replaced since it was started.
      if (!greeted && request.joined) {
        this.#send(request, false)
        continue
      }
      // Where no bridge could be started, none was asked.
      const tries = request.tries > 1 && greeted ? request.tries - 1 : request.tries
      if (request.tries > 1 && this.#kept.length < KEPT) this.#kept.push({ ...request, tries })
      else request.settle(undefined, this.trouble)
    }
  }
}
// </bridge>

type Json = Record<string, any>

/** This file. */
const OWN = decodeURIComponent(import.meta.url).replace(/^file:\/\//, "")

/** A session as the guard's messages name it. */
type Session = { id: string; parent?: string; root?: string; agent?: string }

/** How long the client may take to say what it knows of a session or of its servers, in milliseconds. */
const PATIENCE = 5000
/** How much of a text is handed on where only its beginning is read. */
const BEGINNING = 300
/** How much of the end of a longer text is handed on: test runners report there. */
const END = 4_000

/** How a call ends that another plugin tried to change after it was decided. */
const STOPPED =
  "phasegate: another plugin tried to change this call after it was decided, so it was stopped. Tell the user: start the client without that plugin, or have it change calls before phasegate sees them."
const MEDDLED = /readonly property|read only property|not extensible|after it was decided/

// Each `await` gives the client the time to do everything else that it has to do first. So where something is there
// already, as most answers are, the hooks of a call go on with it.

/** What one plugin of ours has taken up, another one in the same process leaves alone: the user's and the project's may both be there. */
const CLAIMED: WeakSet<object> = ((globalThis as Json)[Symbol.for("phasegate.claimed") as unknown as string] ??= new WeakSet())

function claim(thing: unknown): boolean {
  if (typeof thing !== "object" || thing === null || CLAIMED.has(thing)) return false
  CLAIMED.add(thing)
  return true
}

/** From now on nobody changes it: a plugin that tries fails, and its failure, which says why, stops the call. */
function freeze(value: unknown): void {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return
  const stop = () => {
    throw new Error(STOPPED)
  }
  for (const [name, inner] of Object.entries(value)) {
    freeze(inner)
    if (!Array.isArray(value)) Object.defineProperty(value, name, { get: () => inner, set: stop, enumerable: true })
  }
  Object.freeze(value)
}

function within<T>(promise: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, PATIENCE, undefined)))
  return Promise.race([promise.catch(() => undefined), late]).finally(() => clearTimeout(timer))
}

function beginning(text: unknown): unknown {
  return typeof text === "string" ? text.slice(0, BEGINNING) : undefined
}

/** What a call answered, without what may be large: how it begins, and how it ends, where test runners report. */
function answered(output: Json | undefined): Json {
  const plain = (value: unknown) => value === null || typeof value === "number" || typeof value === "boolean"
  const metadata = Object.entries(output?.metadata ?? {}).filter(([, value]) => plain(value))
  const text: unknown = output?.output
  const end = typeof text === "string" && text.length > BEGINNING ? text.slice(-END) : undefined
  return { output: beginning(text), end, metadata: Object.fromEntries(metadata), isError: output?.isError }
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

/** How the agent's last message ended; `undefined` where the event tells of no such end. */
function ending(event: Json): string | undefined {
  const info: Json = event.properties?.info ?? {}
  if (event.type !== "message.updated" || info.role !== "assistant") return undefined
  if (info.error) return "error"
  return info.summary ? "summary" : info.finish
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
  readonly #known = new Map<string, Session | Promise<Session | undefined>>()
  readonly #client: Json
  readonly #opened: (session: Session, title: unknown) => void

  constructor(client: Json, opened: (session: Session, title: unknown) => void) {
    this.#client = client
    this.#opened = opened
  }

  /** The session with this id. One that this process has not seen begin is told to the guard before anything of it. */
  get(id: string): Session | Promise<Session | undefined> {
    const known = this.#known.get(id)
    if (known) return known
    return this.#keep(id, within(this.#client.session.get({ path: { id } })).then(async (answer: any) => {
      const info = answer?.data
      const session = info?.id === id ? await this.#of(info) : undefined
      if (session) this.#opened(session, info.title)
      return session
    }))
  }

  /** A session that begins. */
  begins(info: Json): void {
    if (this.#known.has(info.id)) return
    if (info.parentID) void this.#keep(info.id, this.#of(info))
    else this.#known.set(info.id, { id: info.id })
  }

  forget(id: string): void {
    this.#known.delete(id)
  }

  /** All that are known. */
  async all(): Promise<Session[]> {
    const all = await Promise.all(this.#known.values())
    return all.filter((session) => session !== undefined)
  }

  /** What is being found out, and then the session itself: nobody need wait for it again. */
  #keep(id: string, found: Promise<Session | undefined>): Promise<Session | undefined> {
    const kept = found.then((session) => {
      if (this.#known.get(id) !== kept) return session
      if (session) this.#known.set(id, session)
      else this.#known.delete(id)
      return session
    })
    this.#known.set(id, kept)
    return kept
  }

  async #of(info: Json): Promise<Session | undefined> {
    if (!info.parentID) return { id: info.id }
    const parent = await this.get(info.parentID)
    return parent && { id: info.id, parent: parent.id, root: parent.root ?? parent.id, agent: info.agent }
  }
}

export const Phasegate: Plugin = async ({ client, directory }) => {
  const bridge = new Bridge({ platform: "opencode", command: COMMAND, shim: VERSION, directory, mode: MODE, file: OWN })
  const terminal = atTerminal()
  const servers = new Set<string>()
  const looked = new Set<string>()
  /** What is to be added to the answer of a call that runs. */
  const notes = new Map<string, string>()
  /** Where a session stands, for an agent whose conversation was cut down. */
  const standing = new Map<string, string>()
  /** How the last message of a session's agent ended, and who spoke to it in which way last. */
  const endings = new Map<string, string>()
  const voices = new Map<string, Json>()
  /** The last prompt of a session that is the guard's own. */
  const reminders = new Map<string, string>()
  /** `run` ends its process at the end of the turn: nothing goes on there. */
  const lasts = !process.argv.slice(1).includes("run")
  let latest: string | undefined

  const frame = (hook: string, session: Session, input: unknown, output?: unknown): Json => {
    return { hook, session, directory, terminal, input, output }
  }
  const sessions = new Sessions(client, (session, title) => bridge.tell(frame("session.opened", session, { title })))
  const show = (message: string, variant: "info" | "warning" | "error") => {
    void within(client.tui.showToast({ body: { message, variant } }) as Promise<unknown>)
  }
  /** The servers that the client knows; asked again for a tool that fits none. */
  const serversFor = (tool: string): string[] | Promise<string[]> => {
    const fits = [...servers].some((name) => tool.startsWith(`${name.replace(/[^a-zA-Z0-9_-]/g, "_")}_`))
    if (fits || !tool.includes("_") || looked.has(tool)) return [...servers]
    return within(client.mcp.status() as Promise<unknown>).then((status: any) => {
      if (status?.data) {
        looked.add(tool)
        Object.keys(status.data).forEach((name) => servers.add(name))
      }
      return [...servers]
    })
  }
  /** A turn of the main agent ended: it goes on where the guard says so. */
  const idle = async (session: Session, native: Json): Promise<void> => {
    const finish = lasts ? endings.get(session.id) : undefined
    endings.delete(session.id)
    const { deny, reply } = await bridge.ask(frame("event", session, { event: { ...native, properties: { ...native.properties, finish } } }))
    // The end is recorded even if the bridge was lost meanwhile.
    if (deny !== undefined) bridge.tell(frame("event", session, { event: native }))
    if (reply?.tell) show(reply.tell, "warning")
    const text: unknown = (reply as Json | null)?.go_on
    if (typeof text !== "string") return
    reminders.set(session.id, text)
    const body: any = { ...voices.get(session.id), parts: [{ type: "text", text }] }
    void within(client.session.promptAsync({ path: { id: session.id }, body }) as Promise<unknown>)
  }
  /** The client asks for the tools of its plugins once. */
  const registers = async (args: unknown, context: Json): Promise<string> => {
    const session = await sessions.get(context.sessionID)
    if (!session) throw new Error("phasegate: the client does not say which session this call belongs to. Try the call again.")
    const { deny, reply } = await bridge.ask(frame(REGISTER.name, session, { args }))
    if (deny !== undefined) throw new Error(deny)
    return String(reply?.context ?? "")
  }
  bridge.start()
  const tool: any = { description: REGISTER.description, args: REGISTER.properties, execute: registers }

  return {
    tool: ((await bridge.registers()) ? { [REGISTER.name]: tool } : {}) as Record<string, any>,

    config: async (config: Json) => {
      Object.keys(config.mcp ?? {}).forEach((name) => servers.add(name))
      await introduce(config.shell, directory)
    },

    "tool.execute.before": async (input, output) => {
      if (!claim(output)) return
      const found = sessions.get(input.sessionID)
      const session = found instanceof Promise ? await found : found
      if (!session) throw new Error("phasegate: the client does not say which session this call belongs to, so it is denied. Try the call again.")
      latest = session.root ?? session.id
      const native = frame("tool.execute.before", session, input, { args: output.args })
      const known = serversFor(input.tool)
      native.servers = known instanceof Promise ? await known : known
      const decided = JSON.stringify(output.args)
      const asked = bridge.ask(native)
      const answer = asked instanceof Promise ? await asked : asked
      if (answer.deny !== undefined) {
        if (answer.reply?.ends) void within(client.session.abort({ path: { id: session.root ?? session.id } }) as Promise<unknown>)
        throw new Error(answer.deny)
      }
      if (JSON.stringify(output.args) !== decided) {
        throw new Error("phasegate: the call was changed while it was decided, so it is denied. Another plugin changes calls: tell the user.")
      }
      freeze(output.args)
      if (answer.reply?.tell) show(answer.reply.tell, "warning")
      if (answer.reply?.context) notes.set(input.callID, answer.reply.context)
    },

    "tool.execute.after": async (input, output) => {
      if (!claim(output)) return
      const found = sessions.get(input.sessionID)
      const session = found instanceof Promise ? await found : found
      const note = notes.get(input.callID)
      notes.delete(input.callID)
      if (!session) return
      const native = frame("tool.execute.after", session, input, answered(output))
      native.servers = [...servers]
      const asked = bridge.ask(native)
      const answer = asked instanceof Promise ? await asked : asked
      // What is told again is read once.
      const texts = new Set([note, answer.reply?.context].filter(Boolean))
      if (texts.size > 0) append(output, [...texts].join("\n\n"))
      if (answer.deny !== undefined) show(answer.deny, "error")
    },

    "command.execute.before": async (input, output) => {
      if (!claim(output)) return
      const session = await sessions.get(input.sessionID)
      if (!session) return
      const instead = (text: string) => {
        output.parts.splice(0, output.parts.length, { type: "text", text } as any)
        show(text, "error")
      }
      const answer = await bridge.ask(frame("command.execute.before", session, input))
      if (answer.deny !== undefined && answer.reply) {
        return instead(`The command /${input.command} was not run. ${answer.deny}`)
      }
      const task = output.parts.find((part: Json) => part.type === "subtask") as Json | undefined
      if (!task) return
      // The client breaks a session for good when the call is denied that such a command makes. So it is not made.
      const args = { prompt: task.prompt, description: task.description, subagent_type: task.agent, command: task.command }
      const call = { tool: "task", sessionID: input.sessionID, callID: "probe" }
      const probed = await bridge.probe([frame("tool.execute.before", session, call, { args })])
      const effect = probed?.[0]?.effect
      if (effect === "allow" || effect === "warn" || bridge.absent) return
      const reason = probed?.[0]?.reason ?? bridge.trouble ?? "the guard does not answer"
      instead(`The command /${input.command} was not run: it would start a subagent, which is denied. ${reason}`)
    },

    "chat.message": async (input, output) => {
      if (!claim(output)) return
      const session = await sessions.get(input.sessionID)
      if (!session) return
      if (session.root && !session.agent) session.agent = input.agent ?? (output.message as Json).agent
      latest = session.root ?? session.id
      const { agent, model } = output.message as Json
      const own = reminders.get(session.id)
      // It is no prompt of anybody's: nothing is counted anew.
      if (own !== undefined && output.parts.length === 1 && (output.parts[0] as Json).text === own) return
      voices.set(session.id, { agent, model })
      const parts = output.parts.map((part: Json) => ({ type: part.type, text: part.text, synthetic: part.synthetic }))
      // Without a choice of the user's it is the client's default agent, which may be `plan`, too.
      const native = frame("chat.message", session, { agent: agent ?? input.agent }, { message: { id: output.message.id }, parts })
      const answer = await bridge.ask(native)
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
      const then = bridge.absent ? "are not guarded" : "are denied"
      if (bridge.trouble) output.system.push(`phasegate does not work, so tool calls ${then}: ${bridge.trouble} Tell the user.`)
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
      const ended = ending(event as Json)
      if (ended !== undefined) endings.set(String(about(event as Json)), ended)
      const native = told(event as Json)
      if (!native || !claim(event)) return
      const info = (event as Json).properties?.info
      if (event.type === "session.created" && info) sessions.begins(info)
      const id = about(event as Json) ?? latest
      const found = id === undefined ? undefined : sessions.get(id)
      const session = found instanceof Promise ? await found : found
      if (!session) return
      if (event.type === "session.idle" && !session.root) return idle(session, native)
      const message = frame("event", session, { event: native })
      if (event.type === "session.compacted") {
        const answer = await bridge.ask(message)
        if (answer.reply?.context) standing.set(session.id, answer.reply.context)
        return
      }
      bridge.tell(message)
      if (event.type === "session.deleted") sessions.forget(session.id)
      if (MEDDLED.test(native.properties.part?.state?.error ?? "")) {
        show("phasegate: another plugin tried to change a call after it was decided, so the call was stopped.", "error")
      }
    },

    dispose: async () => {
      for (const session of await sessions.all()) if (!session.root) bridge.tell(frame("session.closed", session, {}))
      bridge.close()
    },
  }
}
