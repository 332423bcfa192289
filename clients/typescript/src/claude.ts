/** Hooks for the Claude Agent SDK: callbacks get messages that `phasegate serve` reads, and give back its replies. */

import type { Event, Guard, Reply } from "./index.js"

const EVENTS = [
  ...(["SessionStart", "SessionEnd", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse"] as const),
  ...(["PostToolUseFailure", "PostToolBatch", "PermissionDenied", "SubagentStart", "SubagentStop", "Stop"] as const),
  ...(["PreCompact", "ConfigChange"] as const),
]
type Matcher = { hooks: ((event: any) => Promise<any>)[]; onFailure: "block" | "continue" }

/** The `hooks` of `query`'s options. */
export function claudeHooks(guard: Guard): Record<(typeof EVENTS)[number], Matcher[]> {
  const hook = async (event: Event): Promise<Reply> => replied(event.hook_event_name, await guard.ask(event))
  // A callback that fails denies the call, where the guard does.
  const matchers: Matcher[] = [{ hooks: [hook], onFailure: guard.blocks ? "block" : "continue" }]
  return Object.fromEntries(EVENTS.map((name) => [name, matchers])) as ReturnType<typeof claudeHooks>
}

/** A reply in the form of the event; a denial that has none gets it. */
function replied(name: string, reply: Reply): Reply {
  if (!("deny" in reply)) return reply
  if (name === "PreToolUse") {
    const how = { permissionDecision: "deny", permissionDecisionReason: reply.deny }
    return { hookSpecificOutput: { hookEventName: name, ...how } }
  }
  if (name.startsWith("UserPrompt")) return { decision: "block", reason: reply.deny }
  return { systemMessage: reply.deny }
}
