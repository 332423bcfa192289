// An agent of LangChain on LangGraph with the guard as its middleware. The model is LangChain's own scripted one.

import { Guard } from "@phasegate/client"
import { langgraphMiddleware } from "@phasegate/client/langgraph"
import { AIMessage, createAgent, fakeModel, tool } from "langchain"
import { z } from "zod"
import { judge, project, read, script, write } from "./scenario.mjs"

const folder = project()
const model = fakeModel()
script(folder).forEach(({ name, input }, at) => model.respondWithTools([{ name, args: input, id: `call_${at}` }]))
model.respond(new AIMessage("Done."))

const guard = new Guard(folder)
const file_path = z.string()
const tools = [
  tool(read, { name: "Read", description: "Read a file", schema: z.object({ file_path }) }),
  tool(write, { name: "Write", description: "Write a file", schema: z.object({ file_path, content: z.string() }) }),
]
const agent = createAgent({ model, tools, middleware: [langgraphMiddleware(guard)] })
const { messages } = await agent.invoke({ messages: "Write the report." })
await guard.close()

judge(folder, messages.filter(({ type }) => type === "tool").map(({ text }) => text))
