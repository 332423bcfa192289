// An agent of the Claude Agent SDK with the guard as its hooks. The model is scripted, on loopback.

import { query } from "@anthropic-ai/claude-agent-sdk"
import { Guard } from "@phasegate/client"
import { claudeHooks } from "@phasegate/client/claude"
import { judge, messagesApi, project, script } from "./scenario.mjs"

const folder = project()
const results = []
const ANTHROPIC_BASE_URL = await messagesApi(script(folder), results)
const env = { ...process.env, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY: "scripted" }

const guard = new Guard(folder)
const options = { cwd: folder, hooks: claudeHooks(guard), permissionMode: "acceptEdits", settingSources: [], env }
for await (const message of query({ prompt: "Write the report.", options })) console.log(message.type)
await guard.close()

judge(folder, results)
