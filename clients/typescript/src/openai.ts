/** Guardrails for the OpenAI Agents SDK, for tools that are functions: `tool({..., ...openaiGuardrail(guard)})`. */

import { joined, written } from "./calls.js"
import type { Call, Guard } from "./index.js"

type Called = { callId: string; name: string; arguments: string }
type Behavior = { behavior: { type: "allow" } | { type: "rejectContent"; message: string } }

const allowed: Behavior = { behavior: { type: "allow" } }
const rejected = (message: string): Behavior => ({ behavior: { type: "rejectContent", message } })

/** The options of `tool` that ask before it runs, and report how it ended. */
export function openaiGuardrail(guard: Guard) {
  const failed = new Map<string, unknown>()

  function call({ name, arguments: text, callId }: Called): Call {
    try {
      return { tool: name, input: JSON.parse(text || "{}"), id: callId }
    } catch {
      return { tool: name, input: text, id: callId }
    }
  }

  async function before({ toolCall }: { toolCall: Called }): Promise<Behavior> {
    const said = await guard.before(call(toolCall))
    return said.allowed ? allowed : rejected(said.reason ?? "")
  }

  async function after({ toolCall, output }: { toolCall: Called; output: unknown }): Promise<Behavior> {
    const error = failed.get(toolCall.callId)
    failed.delete(toolCall.callId)
    const context = await guard.after(call(toolCall), output, error)
    return context === undefined ? allowed : rejected(joined(written(output), context) ?? "")
  }

  /** The SDK makes a text of an error; a failed call must not look like one that gave back a text. */
  function errorFunction(_context: unknown, error: unknown, details?: { toolCall?: Called }): string {
    if (details?.toolCall) failed.set(details.toolCall.callId, error)
    return `The tool failed: ${error}`
  }

  return {
    inputGuardrails: [{ type: "tool_input" as const, name: "phasegate", run: before }],
    outputGuardrails: [{ type: "tool_output" as const, name: "phasegate", run: after }],
    errorFunction,
  }
}
