// Stories of the suite, played through `Guard` with tools that really run; `phasegate replay` decides them again.

import assert from "node:assert/strict"
import { execFileSync, spawnSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { test } from "node:test"
import { Guard } from "../dist/index.js"

const STORIES = new URL("../../../conformance/stories/", import.meta.url)
const PHASEGATE = process.env.PHASEGATE ?? "phasegate"

/** The tools that the stories call, in a folder. */
const tools = (folder) => ({
  Read: ({ file_path }) => readFileSync(file_path, "utf8"),
  Write: ({ file_path, content }) => writeFileSync(file_path, content),
  Edit({ file_path, old_string, new_string }) {
    const text = readFileSync(file_path, "utf8")
    assert.ok(text.includes(old_string))
    writeFileSync(file_path, text.replace(old_string, new_string))
  },
  Bash({ command }) {
    const { status, stdout, stderr } = spawnSync("bash", ["-c", command], { cwd: folder, encoding: "utf8" })
    return { exit_code: status, stdout, stderr }
  },
  Skill: ({ skill }) => ({ success: true, commandName: skill }),
})

/** The stories' language server leaves a trace of each call that reaches it. */
const lsp = (folder, tool) => ({ fail = false }) => {
  mkdirSync(join(folder, "lsp"), { recursive: true })
  let at = 1
  while (existsSync(join(folder, `lsp/${tool}.${at}`))) at += 1
  writeFileSync(join(folder, `lsp/${tool}.${at}`), "")
  if (fail) throw new Failed(`${tool} failed`)
  return `${tool} is done`
}

class Failed extends Error {}

/** Plays a call, and compares what became of it with what the story expects. */
async function decided(guard, call) {
  const folder = guard.directory
  const input = JSON.parse(JSON.stringify(call.input).replaceAll("${PROJECT}", folder))
  const run = tools(folder)[call.tool] ?? lsp(folder, call.tool.replace("mcp__lsp__", ""))
  let outcome = { allowed: true, text: "" }
  let failed = false
  try {
    outcome = await guard.call(call.tool, input, run)
    failed = (outcome.result?.exit_code ?? 0) !== 0
  } catch (error) {
    if (!(error instanceof Failed)) throw error
    failed = true
  }
  const { allowed, text } = outcome
  assert.equal(allowed ? "allowed" : "blocked", call.expect, `${JSON.stringify(call)}: ${text}`)
  assert.equal(failed, call.fails ?? false, `${JSON.stringify(call)}: ${text}`)
  for (const said of allowed ? [] : (call.reads ?? [])) assert.ok(text.includes(said), text)
  if (call.proof) {
    const file = join(folder, call.proof.file)
    const there = existsSync(file) && readFileSync(file, "utf8").includes(call.proof.contains ?? "")
    assert.equal(there, allowed, JSON.stringify(call))
  }
  return allowed ? "allow" : "deny"
}

async function play(name, denied) {
  const story = JSON.parse(readFileSync(new URL(`${name}.json`, STORIES), "utf8"))
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "story-")))
  const project = join(folder, "project")
  mkdirSync(join(folder, "home"))
  process.env.HOME = join(folder, "home")
  for (const variable of ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]) delete process.env[variable]
  const run = (command, words, input) => execFileSync(command, words, { cwd: project, encoding: "utf8", input })
  for (const [path, text] of Object.entries(story.files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  run("git", ["init", "--quiet"])
  const skill = story.skill ? ["--skill", story.skill] : []
  run(PHASEGATE, ["init", "claude-code", "--no-user", "--mode", story.mode, ...skill])

  const guard = new Guard(project, { session: "story", command: PHASEGATE })
  const decisions = []
  assert.ok((await guard.prompt(story.prompt)).allowed)
  for (const { calls = [], text } of story.turns) {
    for (const call of calls) decisions.push(await decided(guard, call))
    if (text !== undefined) assert.equal(await guard.stop(), null)
  }
  await guard.close()

  assert.equal(decisions.filter((decision) => decision === "deny").length, denied)
  const transcript = run(PHASEGATE, ["audit", "export", "--transcript", "--session", "story"])
  const lines = run(PHASEGATE, ["replay", "-"], transcript).trim().split("\n").map((line) => JSON.parse(line))
  const again = lines.filter(({ event }) => event === "tool_call").map(({ decision }) => decision)
  assert.deepEqual(again, decisions)
  rmSync(folder, { recursive: true })
}

test("a failed build opens the way back", () => play("failed-build-back", 1))
test("a skill of the project's own", () => play("own-skill", 3))
test("an honest agent", () => play("honest", 0))
