// The TypeScript SDK as a client: `typescript.mjs PLAN COMMAND [ARGUMENTS...]`.
// The plan's steps are done one after another over standard input and output of the command, and what came of each is
// printed as a line of JSON: `{tools}`, `{isError, text, structured}`, `{error}` or `{cancelled}`.

import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const [plan, command, ...args] = process.argv.slice(2);
const { steps } = JSON.parse(readFileSync(plan, "utf8"));

const client = new Client(
  { name: "typescript-sdk", version: "1.32.2" },
  { capabilities: { roots: {}, sampling: {}, elicitation: { form: {} } } },
);
client.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { name: "nobody" } }));
client.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [] }));
client.setRequestHandler(CreateMessageRequestSchema, async () => ({
  role: "assistant",
  model: "none",
  content: { type: "text", text: "nothing" },
}));

const told = (result) => ({
  isError: result.isError === true,
  text: (result.content ?? []).map((part) => part.text ?? "").join("\n"),
  structured: result.structuredContent ?? null,
});

async function call({ call: name, arguments: given = {}, cancel_after_ms: patience, task }) {
  if (task) {
    for await (const message of client.experimental.tasks.callToolStream({ name, arguments: given }, undefined, { task: {} })) {
      if (message.type === "result") return told(message.result);
      if (message.type === "error") return { error: message.error.message };
    }
    return { error: "no result" };
  }
  const options = { onprogress: () => {} };
  if (patience !== undefined) options.signal = AbortSignal.timeout(patience);
  try {
    return told(await client.callTool({ name, arguments: given }, undefined, options));
  } catch (error) {
    if (options.signal?.aborted) return { cancelled: true };
    return { error: error.message, code: error.code };
  }
}

async function done(step) {
  if (step.together) return { together: await Promise.all(step.together.map(done)) };
  if (step.call) return call(step);
  if (step.tools) return { tools: (await client.listTools()).tools.map((tool) => tool.name) };
  if (step.resources) return { resources: (await client.listResources()).resources.map((one) => one.uri) };
  if (step.read) return { contents: (await client.readResource({ uri: step.read })).contents.length };
  if (step.prompt) return { messages: (await client.getPrompt({ name: step.prompt, arguments: step.arguments })).messages.length };
  throw new Error(`no such step: ${JSON.stringify(step)}`);
}

const environment = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== undefined));
await client.connect(new StdioClientTransport({ command, args, env: environment, stderr: "inherit" }));
for (const step of steps) console.log(JSON.stringify(await done(step)));
await client.close();
