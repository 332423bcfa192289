// Stands before and after the guard's plugin among the client's plugins, and notes when each call passes.
import { appendFileSync } from "node:fs"

const WHO = "${WHO}"

const note = (what: string, id: string) => {
  const at = Number(process.hrtime.bigint() / 1000n) / 1000
  appendFileSync(process.env.OVERHEAD ?? "/dev/null", JSON.stringify({ who: WHO, what, id, at }) + "\n")
}

export default function (client: any): any {
  if (typeof client?.on === "function") {
    client.on("tool_call", (event: any) => note("call", event.toolCallId))
    client.on("tool_result", (event: any) => note("result", event.toolCallId))
    return undefined
  }
  return Promise.resolve({
    "tool.execute.before": async (input: any) => note("call", input.callID),
    "tool.execute.after": async (input: any) => note("result", input.callID),
  })
}
