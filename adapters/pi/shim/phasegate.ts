// phasegate for Pi: passes every event on to the guard and does what it answers. Nothing is decided here.
import type { ExtensionAPI, ExtensionCommandContext, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { realpathSync } from "node:fs";
import { resolve } from "node:path";

/** The program that is the guard: an absolute path, or a name found through PATH. `phasegate init pi` writes this line. */
const COMMAND = "phasegate";
/** What happens where the program is not there: `warn` lets calls go on, `block` denies them. `phasegate init pi` writes it. */
const MODE = "block";
/** The version of this extension. */
const VERSION = "0.1.0";

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

/** What all copies of this extension in one process share, across reloads and sessions. */
interface Shared {
	/** The copy that guards the present session: the first that heard of its start. */
	owner?: object;
	/** The start that the owner heard of. */
	started?: object;
	/** The session of the agent that started this process; empty if none did. */
	inherited: string;
	/** The session that this process served before the present one. */
	previous?: string;
	/** Whether one of the copies is loaded in every client of the user's, subagents among them. */
	everywhere?: boolean;
}

const KEY = Symbol.for("phasegate.pi");
const shared: Shared = ((globalThis as Record<symbol, unknown>)[KEY] ??= {
	inherited: process.env.PHASEGATE_SESSION ?? process.env.PI_SESSION_ID ?? "",
}) as Shared;

/** This file. */
const OWN = decodeURIComponent(import.meta.url).replace(/^file:\/\//, "");
/** How much of a result's text the guard is sent: it reads the last line. */
const TAIL = 2048;
/** The entries of a session that say which tools are hidden. */
const HIDDEN = "phasegate-hidden";
/** The commands that a person types. */
const COMMANDS = {
	phasegate: "Give phasegate a command: approve, skip, mode, activate, deactivate, reload",
	phase: "Show the skill and the phase that phasegate enforces, or give it a command",
	safety: "Show what is registered of commands and whether the guard answers, or give phasegate a command",
};

type Fields = Record<string, unknown>;
type Block = { type: "text"; text: string };

/** A call that was let through: its arguments as they were decided, and what the agent is to read beside its result. */
interface Running {
	put: string;
	context?: string;
}

export default function phasegate(pi: ExtensionAPI): void {
	const self = {};
	const running = new Map<string, Running>();
	const hidden = new Set<string>();
	let pending: string[] = [];
	let status = "";
	let changed: string | undefined;
	/** The last prompt that is the guard's own. */
	let reminder: string | undefined;
	let bridge: Bridge | undefined;
	/** Whether the agent has the tool by which it registers what commands do. */
	let registers = false;

	shared.everywhere ||= isUsers();
	const mine = (): boolean => (shared.owner ??= self) === self;

	const guard = (ctx: ExtensionContext): Bridge =>
		(bridge ??= new Bridge({ platform: "pi", command: COMMAND, shim: VERSION, directory: ctx.cwd, mode: MODE, file: OWN }));

	const frame = (event: Fields, ctx: ExtensionContext, beside: Fields = {}): Fields => ({
		event,
		session: ctx.sessionManager.getSessionId(),
		cwd: ctx.cwd,
		mode: ctx.mode,
		hasUI: ctx.hasUI,
		...beside,
	});

	const notify = (text: string, level: "info" | "error", ctx: ExtensionContext): void => {
		if (ctx.hasUI) ctx.ui.notify(text, level);
		else process.stderr.write(`${text}\n`);
	};

	/** Does what an answer says beside its denial. Gives back what the agent is to read. */
	const taken = (reply: Fields | null, ctx: ExtensionContext): string | undefined => {
		const text = (key: string): string | undefined => (typeof reply?.[key] === "string" ? (reply[key] as string) : undefined);
		const stands = text("status");
		if (stands !== undefined && stands !== status) {
			status = stands;
			ctx.ui.setStatus("phasegate", status === "" ? undefined : status);
		}
		if (reply?.registers === true) offer();
		const told = text("tell");
		if (told) notify(told, "info", ctx);
		return text("context");
	};

	const later = (context: string | undefined): void => {
		if (context && !pending.includes(context)) pending.push(context);
	};

	/** Takes the tools that are denied whatever their arguments are out of the agent's list, and puts the others back. */
	const hide = async (ctx: ExtensionContext): Promise<void> => {
		// Versions that do not say how they run take the list up with the next prompt only: too late for a phase.
		if (process.env.PHASEGATE_HIDE_FORBIDDEN !== "1" || ctx.mode === undefined || (status === "" && hidden.size === 0)) return;
		const names = [...new Set([...pi.getActiveTools(), ...hidden])];
		const calls = names.map((toolName) => frame({ type: "tool_call", toolName, input: null }, ctx, { loaded: loaded() }));
		const answers = await guard(ctx).probe(calls);
		if (!answers || answers.length !== names.length) return;
		const before = [...hidden].join();
		hidden.clear();
		names.forEach((name, at) => answers[at]?.effect === "deny" && hidden.add(name));
		if ([...hidden].join() !== before) pi.appendEntry(HIDDEN, { names: [...hidden] });
		pi.setActiveTools(names.filter((name) => !hidden.has(name)));
	};

	const unhide = (): void => {
		if (hidden.size > 0) pi.setActiveTools([...new Set([...pi.getActiveTools(), ...hidden])]);
		hidden.clear();
	};

	/** Puts back what was hidden when the session was served before: newer versions keep the list of tools with it. */
	const restore = (ctx: ExtensionContext): void => {
		const kept = (ctx.sessionManager.getEntries() as unknown[]).filter(isHidden).at(-1);
		for (const name of kept?.data.names ?? []) hidden.add(name);
		unhide();
	};

	/** What the client knows of a call that its name does not say: the server as it is configured, and the skill that is read. */
	const known = (toolName: string, input: Fields, ctx: ExtensionContext): Fields => {
		if (toolName === "read") return { skill: skillAt(pi, input.path, ctx.cwd) };
		if (!toolName.startsWith("mcp__")) return {};
		const tool = pi.getAllTools().find(({ name }) => name === toolName) as { namespace?: { aliases?: string[] } } | undefined;
		return { server: tool?.namespace?.aliases?.[0] };
	};

	/** Asks the user about a call. Whatever goes wrong is a no. */
	const asked = async (question: string, call: string, ctx: ExtensionContext): Promise<boolean> => {
		const answer = (outcome: string) =>
			guard(ctx).tell(frame({ type: "permission", toolCallId: call, outcome }, ctx));
		answer("asked");
		let yes = false;
		try {
			yes = (await ctx.ui.confirm("phasegate asks", question, { signal: ctx.signal })) === true;
		} finally {
			answer(yes ? "granted" : "refused");
		}
		return yes;
	};

	/** Only one copy has the commands: of two with the same name the client would take neither. */
	const register = (): void => {
		for (const [name, description] of Object.entries(COMMANDS)) {
			const handler = (args: string, ctx: ExtensionCommandContext): Promise<void> => command(name, args, ctx);
			pi.registerCommand(name, { description, handler });
		}
	};

	/** Offers the agent the tool by which it registers what commands do. */
	const offer = (): void => {
		if (registers) return;
		registers = true;
		const execute = async (_id: string, input: Fields, ...rest: unknown[]) => {
			// Versions differ in the place of the context.
			const ctx = rest.find((one) => typeof one === "object" && one !== null && "sessionManager" in one) as ExtensionContext;
			const { deny, reply } = await guard(ctx).ask(frame({ type: "command", name: REGISTER.name, args: "", input }, ctx));
			if (deny !== undefined) throw new Error(deny);
			return { content: [{ type: "text", text: String(reply?.tell ?? "") } as Block], details: undefined };
		};
		const { name, description, properties } = REGISTER;
		const parameters = { type: "object", properties, required: ["tool", "commands"] };
		const tool = { name, label: "Register what commands do", description, parameters, execute };
		pi.registerTool(tool as unknown as Parameters<ExtensionAPI["registerTool"]>[0]);
	};

	const command = async (name: string, args: string, ctx: ExtensionCommandContext): Promise<void> => {
		const { deny, reply } = await guard(ctx).ask(frame({ type: "command", name, args }, ctx));
		const tools = hidden.size > 0 ? `; hidden: ${[...hidden].join(", ")}` : "";
		const state = `phasegate: guard ${guard(ctx).trouble ?? "answers"}${tools}`;
		// Of several notices in a row the client shows the last one.
		const told = [reply?.tell, name === "safety" && args.trim() === "" ? state : undefined].filter(isText);
		later(taken({ ...reply, tell: told.join("\n") }, ctx));
		if (deny) notify(deny, "error", ctx);
	};

	pi.on("session_start", async (event, ctx) => {
		if (shared.started === event && shared.owner !== self) return;
		shared.owner = self;
		shared.started = event;
		const session = ctx.sessionManager.getSessionId();
		const beside: Fields = {
			inherited: shared.inherited,
			previous: shared.previous,
			forked: ctx.sessionManager.getHeader?.()?.parentSession,
			loaded: loaded(),
		};
		process.env.PHASEGATE_SESSION = session;
		shared.previous = session;
		running.clear();
		pending = [];
		register();
		restore(ctx);
		// Older versions do not say their settings: there the first line has to be run before one is held.
		await introduce((pi as { getSettings?: () => { shellPath?: unknown } }).getSettings?.().shellPath, ctx.cwd);
		const { deny, reply } = await guard(ctx).ask(frame({ ...event }, ctx, beside));
		later(taken(reply, ctx));
		if (deny) notify(deny, "error", ctx);
	});

	pi.on("session_shutdown", async (event, ctx) => {
		if (!mine()) return;
		unhide();
		if (event.reason !== "reload") await guard(ctx).ask(frame({ type: event.type, reason: event.reason ?? "quit" }, ctx));
		bridge?.close();
		bridge = undefined;
	});

	pi.on("tool_call", async (event, ctx) => {
		if (!mine()) return undefined;
		try {
			// What is decided is what runs: a change from now on throws, which makes the client block the call.
			freeze(event.input);
			if (changed) return { block: true, reason: changed };
			const put = JSON.stringify(event.input);
			const { toolName, toolCallId, input } = event;
			const beside = { loaded: loaded(), ...known(toolName, input as Fields, ctx) };
			const call = frame({ type: event.type, toolName, toolCallId, input }, ctx, beside);
			const { deny, reply } = await guard(ctx).ask(call);
			const context = taken(reply, ctx);
			if (deny !== undefined) {
				// Where an agent started this process, whoever answers may be that agent.
				const person = ctx.hasUI && shared.inherited === "";
				const question = typeof reply?.ask === "string" && person ? reply.ask : undefined;
				if (reply?.ends === true) ctx.abort();
				if (question === undefined) return { block: true, reason: joined(deny, context) };
				if (!(await asked(question, toolCallId, ctx))) return { block: true, reason: `The user said no.\n\n${deny}` };
			}
			running.set(toolCallId, { put, context });
			return undefined;
		} catch (error) {
			return { block: true, reason: `phasegate: the extension failed, so the call is denied: ${String(error)}` };
		}
	});

	pi.on("tool_result", async (event, ctx) => {
		if (!mine()) return undefined;
		const { type, toolName, toolCallId, input, isError } = event;
		const call = running.get(toolCallId);
		running.delete(toolCallId);
		if (call && call.put !== JSON.stringify(input)) {
			changed = `phasegate: another extension changed the arguments of a call of ${toolName} after they were decided; ` +
				"every call is denied until the user starts Pi without that extension.";
			notify(changed, "error", ctx);
		}
		const content = tail(event.content);
		const beside = known(toolName, input as Fields, ctx);
		const { reply } = await guard(ctx).ask(frame({ type, toolName, toolCallId, input, content, isError }, ctx, beside));
		const context = joined(call?.context ?? "", taken(reply, ctx));
		if (context === "") return undefined;
		const { parentToolCallId, structuredContent } = event as { parentToolCallId?: string; structuredContent?: unknown };
		const parent = running.get(parentToolCallId ?? "");
		if (parent) {
			// A script gets the result as it is; the agent reads the text beside what the script answers.
			parent.context = joined(parent.context ?? "", context);
			return undefined;
		}
		// Without being given back, structured content would be dropped.
		const structured = structuredContent === undefined ? {} : { structuredContent };
		return { content: [...event.content, { type: "text", text: context } as Block], ...structured };
	});

	pi.on("tool_execution_end", (event, ctx) => {
		// A result has been told already; what is left never ran.
		if (!mine() || !running.delete(event.toolCallId)) return;
		const { type, toolName, toolCallId, isError } = event;
		const result = { content: tail(event.result?.content) };
		guard(ctx).tell(frame({ type, toolName, toolCallId, result, isError }, ctx));
	});

	pi.on("input", async (event, ctx) => {
		if (!mine()) return undefined;
		const { type, text, source, streamingBehavior } = event;
		// It is no prompt of anybody's: nothing is counted anew.
		if (source === "extension" && text === reminder) return undefined;
		const { deny, reply } = await guard(ctx).ask(frame({ type, text, source, streamingBehavior }, ctx));
		later(taken(reply, ctx));
		if (deny) notify(deny, "error", ctx);
		// Without a guard that answers, what is typed goes on: whatever comes of it is denied.
		return deny && reply ? { action: "handled" as const } : undefined;
	});

	pi.on("before_agent_start", async (_event, ctx) => {
		if (!mine()) return undefined;
		await hide(ctx);
		const content = pending.join("\n\n");
		pending = [];
		return content === "" ? undefined : { message: { customType: "phasegate", content, display: false } };
	});

	pi.on("message_end", (event, ctx) => {
		if (!mine()) return;
		const message = event.message as unknown as Fields;
		if (message.role !== "assistant" && message.role !== "user") return;
		const { role, responseId, timestamp } = message;
		const content = texts(message.content);
		if (Array.isArray(content) && content.length === 0) return;
		guard(ctx).tell(frame({ type: event.type, message: { role, content, responseId, timestamp } }, ctx));
	});

	pi.on("turn_end", async (event, ctx) => {
		if (!mine()) return;
		guard(ctx).tell(frame({ type: event.type }, ctx));
		await hide(ctx);
	});

	pi.on("agent_end", async (event, ctx) => {
		if (!mine()) return;
		const { type, messages } = event;
		const stopReason = (messages as unknown as Fields[]).filter(({ role }) => role === "assistant").at(-1)?.stopReason;
		const { deny, reply } = await guard(ctx).ask(frame({ type, stopReason }, ctx));
		// The end is recorded even if the bridge was lost meanwhile.
		if (deny !== undefined) guard(ctx).tell(frame({ type }, ctx));
		later(taken(reply, ctx));
		if (typeof reply?.go_on !== "string") return;
		reminder = reply.go_on;
		pi.sendUserMessage(reminder, { deliverAs: "followUp" });
	});

	for (const name of ["agent_settled", "session_before_compact", "session_compact", "session_tree"] as const) {
		pi.on(name as "agent_settled", (event, ctx) => {
			if (mine()) guard(ctx).tell(frame({ type: event.type }, ctx));
		});
	}
}

/** Whether this copy is the user's, and so loaded in every client of the user's. */
function isUsers(): boolean {
	const folder = process.env.PI_CODING_AGENT_DIR ?? `${process.env.HOME ?? ""}/.pi/agent`;
	return ["extensions", "npm", "git"].some((place) => OWN.startsWith(`${folder}/${place}/`));
}

/** Where the guard is loaded: in every client of the user's, or in the project's. */
function loaded(): string {
	return shared.everywhere ? "user" : "project";
}

type Hidden = { type: "custom"; customType: string; data: { names: string[] } };

function isHidden(entry: unknown): entry is Hidden {
	const { type, customType, data } = entry as Partial<Hidden>;
	return type === "custom" && customType === HIDDEN && Array.isArray(data?.names);
}

/** The skill whose text a `read` of this path gives: its name, or nothing if the client's list has none there. Without a
 * list, what the path says counts. */
function skillAt(pi: ExtensionAPI, path: unknown, cwd: string): string | undefined {
	if (typeof path !== "string" || !path.endsWith("SKILL.md")) return undefined;
	const skills = (pi.getCommands?.() ?? []).filter(({ source }) => source === "skill");
	if (skills.length === 0) return undefined;
	const at = real(resolve(cwd, path.replace(/^@/, "").replace(/^file:\/\//, "").replace(/^~(?=\/)/, homedir())));
	const found = skills.find(({ sourceInfo }) => real(sourceInfo.path) === at);
	return found?.name.replace(/^skill:/, "") ?? "";
}

function real(path: string): string {
	try {
		return realpathSync(path);
	} catch {
		return path;
	}
}

/** Freezes a value and all that is in it. */
function freeze(value: unknown): void {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
	Object.freeze(value);
	Object.values(value).forEach(freeze);
}

function joined(text: string, context: string | undefined): string {
	return [text, context ?? ""].filter((part) => part !== "").join("\n\n");
}

/** The text blocks of a message. */
function texts(content: unknown): unknown {
	if (!Array.isArray(content)) return content;
	return content.filter((block: Fields) => block?.type === "text").map(({ type, text }: Fields) => ({ type, text }));
}

/** The end of the last text of a result. */
function tail(content: unknown): Block[] {
	const blocks = texts(content);
	const last = Array.isArray(blocks) ? (blocks.at(-1) as Block | undefined) : undefined;
	return typeof last?.text === "string" ? [{ type: "text", text: last.text.slice(-TAIL) }] : [];
}
