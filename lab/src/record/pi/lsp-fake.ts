// The fake of the language server as tools of the client: each call is handed to a process of the fake.
import { spawnSync } from "node:child_process"

const FAKE = process.env.LSP_FAKE ?? "false"

type Answer = { id?: number; result?: any }

/** What the fake answers to these messages. */
function ask(...messages: object[]): Answer[] {
  const input = messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message })).join("\n") + "\n"
  const { stdout } = spawnSync(FAKE, ["lsp-fake"], { input, encoding: "utf8" })
  return stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line))
}

export default function (pi: any) {
  const { tools } = ask({ id: 1, method: "tools/list" })[0]?.result ?? { tools: [] }
  for (const { name, description, inputSchema } of tools) {
    pi.registerTool({
      name: `mcp__lsp__${name}`,
      label: name,
      description,
      parameters: inputSchema,
      async execute(_id: string, params: object) {
        const { content, isError } = ask({ id: 2, method: "tools/call", params: { name, arguments: params } })[0]?.result ?? {}
        if (isError || !content) throw new Error(content?.[0]?.text ?? "the fake said nothing")
        return { content, details: {} }
      },
    })
  }
}
