/** Middleware for agents of LangChain on LangGraph: `createAgent({..., middleware: [langgraphMiddleware(guard)]})`. */

import { AIMessage, createMiddleware, HumanMessage, ToolMessage } from "langchain"

import { joined } from "./calls.js"
import type { Call, Guard } from "./index.js"

export function langgraphMiddleware(guard: Guard) {
  /** Reports how the call ended. What a program ended with stands in the message's artifact, if anywhere. */
  async function after(call: Call, answer: ToolMessage): Promise<ToolMessage> {
    const error = answer.status === "error" ? answer.text : undefined
    const context = await guard.after(call, answer.text, error, answer.artifact?.exit_code)
    if (context === undefined) return answer
    const { tool_call_id, name, status, artifact, id } = answer
    return new ToolMessage({ content: joined(answer.text, context) ?? "", tool_call_id, name, status, artifact, id })
  }

  return createMiddleware({
    name: "phasegate",
    beforeAgent: {
      canJumpTo: ["end"],
      async hook(state) {
        const said = await guard.prompt(state.messages.at(-1)?.text ?? "")
        if (!said.allowed) return { messages: [new AIMessage(said.reason ?? "")], jumpTo: "end" as const }
        return said.context === undefined ? undefined : { messages: [new HumanMessage(said.context)] }
      },
    },
    afterAgent: {
      canJumpTo: ["model"],
      async hook() {
        const reason = await guard.stop()
        return reason === null ? undefined : { messages: [new HumanMessage(reason)], jumpTo: "model" as const }
      },
    },
    async wrapToolCall(request, handler) {
      const { name, args, id = "" } = request.toolCall
      const call: Call = { tool: name, input: args, id }
      const said = await guard.before(call)
      if (!said.allowed) return new ToolMessage({ content: said.reason ?? "", tool_call_id: id, name, status: "error" })
      const answer = await Promise.resolve(request).then(handler).catch(async (error) => {
        await guard.after(call, undefined, error ?? "it failed")
        throw error
      })
      return ToolMessage.isInstance(answer) ? after(call, answer) : answer
    },
  })
}
