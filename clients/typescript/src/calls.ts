/** The generic adapter: the `call` of a guard asks, runs a tool and reports how it ended. */

import { randomUUID } from "node:crypto"

/** A call. Its id pairs what is asked before it with what is reported after it. */
export interface Call {
  tool: string
  input: unknown
  id: string
}

export interface Verdict {
  allowed: boolean
  /** Why not, for the model. */
  reason?: string
  /** What the model is to read besides. */
  context?: string
  /** The agent is to stop, and not to try something else. */
  endsTurn?: boolean
}

/** What a guard may be told: its session, and what happens where no answer comes. */
export type Options = { session?: string; mode?: "block" | "warn"; command?: string }
/** A message in the hook format of Claude Code, and the reply to one. */
export type Event = { session_id: string; cwd: string; hook_event_name: string; [field: string]: unknown }
export type Reply = Record<string, any>

/** What became of a call: `text` is what the model reads as its result. */
export type Outcome<T> = Verdict & { text: string; result?: T }

export const joined = (...texts: (string | undefined)[]): string | undefined =>
  [...new Set(texts.filter(Boolean))].join("\n\n") || undefined

/** A result as a text; that of a program, as `{exit_code: 3, output: "..."}`, as phasegate reads it. */
export function written(value: any): string {
  if (typeof value?.exit_code !== "number") return typeof value === "string" ? value : (JSON.stringify(value) ?? "")
  const texts = Object.values(value).filter((text) => text && typeof text === "string")
  return [`Exit code ${value.exit_code}`, ...texts].join("\n")
}

export function verdict(reply: Reply): Verdict {
  const own = reply.hookSpecificOutput ?? {}
  const context = joined(own.additionalContext, reply.systemMessage)
  const endsTurn = reply.continue === false
  const denied = "deny" in reply || "decision" in reply || endsTurn || (own.permissionDecision ?? "allow") !== "allow"
  if (!denied) return { allowed: true, context }
  const reason = reply.deny ?? own.permissionDecisionReason ?? reply.reason ?? "phasegate says no"
  return { allowed: false, reason: String(reason), context, endsTurn }
}

/** What a guard does around a tool that it runs itself. */
export abstract class Calls {
  abstract before(call: Call): Promise<Verdict>
  abstract after(call: Call, result?: unknown, error?: unknown, exitCode?: number): Promise<string | undefined>

  /** Asks, runs the tool if the call is allowed, and reports how it ended. The tool's own error is thrown. */
  async call<T, I>(tool: string, input: I, run: (input: I) => T | Promise<T>): Promise<Outcome<T>> {
    const call: Call = { tool, input, id: randomUUID() }
    const said = await this.before(call)
    if (!said.allowed) return { ...said, text: said.reason ?? "" }
    const result = await Promise.resolve(input).then(run).catch(async (error) => {
      await this.after(call, undefined, error ?? "it failed")
      throw error
    })
    const context = joined(said.context, await this.after(call, result))
    return { allowed: true, context, result, text: joined(written(result), context) ?? "" }
  }
}
