// What the examples have in common: a guarded folder, what the scripted model does there, and how it must end.

import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"

const SKILL = `skill: read-first
description: Read the notes before you write.
start: [session]
unlisted: deny
phases:
  look:
    allowed: [Read]
    done_when: { ok: Read }
  change:
    allowed: [Read, Write]
`

/** A new folder whose skill asks for a reading before the first writing. */
export function project() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "guarded-")))
  mkdirSync(join(folder, ".phasegate/skills"), { recursive: true })
  writeFileSync(join(folder, ".phasegate/skills/read-first.yaml"), SKILL)
  writeFileSync(join(folder, ".phasegate/config.yaml"), "mode: block\nuse: [read-first]\n")
  writeFileSync(join(folder, "notes.txt"), "the notes\n")
  return folder
}

/** The model's calls: one that is forbidden, then what it asks for, then one that is permitted. */
export const script = (folder) => [
  { name: "Write", input: { file_path: join(folder, "early.txt"), content: "too early\n" } },
  { name: "Read", input: { file_path: join(folder, "notes.txt") } },
  { name: "Write", input: { file_path: join(folder, "report.txt"), content: "after the notes\n" } },
]

export const read = ({ file_path }) => readFileSync(file_path, "utf8")

export function write({ file_path, content }) {
  writeFileSync(file_path, content)
  return `${file_path} is written`
}

/** Prints what the model read as the result of its first call; exits with 1 if the guard did not hold. */
export function judge(folder, results) {
  const there = (name) => existsSync(join(folder, name))
  console.log(results[0] ?? "the model got no result")
  const held = !there("early.txt") && there("report.txt") && results[0]?.includes("[not-done]")
  if (!held) console.error(there("early.txt") ? "the forbidden call ran" : "the model was not denied, or could not go on")
  process.exitCode = held ? 0 : 1
}

/** Starts a scripted model on loopback that speaks just enough of the Messages API; gives its address. */
export async function messagesApi(calls, results) {
  const server = createServer(async (incoming, response) => {
    let body = ""
    for await (const piece of incoming) body += piece
    const request = body ? JSON.parse(body) : {}
    const blocks = (request.messages ?? []).flatMap(({ content }) => (Array.isArray(content) ? content : []))
    for (const { type, tool_use_id, content } of blocks) {
      if (type !== "tool_result") continue
      results[Number(tool_use_id.slice(6))] = Array.isArray(content) ? content.map(({ text }) => text).join("\n") : content
    }
    const at = blocks.filter(({ type }) => type === "tool_use").length
    const call = request.tools?.length ? calls[at] : undefined
    const block = call ? { type: "tool_use", id: `toolu_${at}`, name: call.name, input: {} } : { type: "text", text: "" }
    const delta = call
      ? { type: "input_json_delta", partial_json: JSON.stringify(call.input) }
      : { type: "text_delta", text: "Done." }
    const usage = { input_tokens: 1, output_tokens: 1 }
    const stop = { stop_reason: call ? "tool_use" : "end_turn", stop_sequence: null }
    const { model } = request
    const message = { id: `msg_${at}`, type: "message", role: "assistant", content: [], model, stop_reason: null, usage }
    response.writeHead(200, { "content-type": "text/event-stream" })
    for (const event of [
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: stop, usage },
      { type: "message_stop" },
    ]) {
      response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    }
    response.end()
  })
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening))
  server.unref()
  return `http://127.0.0.1:${server.address().port}`
}
