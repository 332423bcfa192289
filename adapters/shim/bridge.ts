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
export const REGISTER = {
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
export interface BridgeOptions {
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
export interface Answer {
  deny?: string
  reply: Record<string, any> | null
}

/** What a call would be answered now. */
export interface Probed {
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
export function introduce(shell: unknown, cwd: string): Promise<void> {
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
export class Bridge {
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
