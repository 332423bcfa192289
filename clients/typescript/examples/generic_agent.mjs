// An agent without an SDK: a loop around a model, here a scripted one.

import { Guard } from "@phasegate/client"
import { judge, project, read, script, write } from "./scenario.mjs"

const folder = project()
const model = script(folder)
const tools = { Read: read, Write: write }
const results = []

const guard = new Guard(folder)
await guard.prompt("Write the report.")
for (const { name, input } of model) {
  const answer = await guard.call(name, input, tools[name]) // asks, runs the tool if it may, reports how it ended
  results.push(answer.text) // what the model reads as the call's result
}
await guard.close()

judge(folder, results)
