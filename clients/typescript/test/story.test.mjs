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

/** Runs a program in the project. */
const run = (project, command, words, input) => execFileSync(command, words, { cwd: project, encoding: "utf8", input })

/** Does something in an empty project with a home of its own. */
async function inProject(files, play) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "story-")))
  const project = join(folder, "project")
  mkdirSync(join(folder, "home"))
  mkdirSync(project)
  process.env.HOME = join(folder, "home")
  for (const variable of ["XDG_STATE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"]) delete process.env[variable]
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  await play(project)
  rmSync(folder, { recursive: true })
}

// The project is named, so that no folder above is taken for it.
const INIT = ["init", "claude-code", "--no-user", "--mode", "block", "--project", "."]
const guarded = (project, session) => new Guard(project, { session, command: PHASEGATE })

async function play(name, denied) {
  const story = JSON.parse(readFileSync(new URL(`${name}.json`, STORIES), "utf8"))
  assert.equal(story.mode, "block")
  await inProject(story.files, async (project) => {
    run(project, "git", ["init", "--quiet"])
    run(project, PHASEGATE, [...INIT, ...(story.skill ? ["--skill", story.skill] : [])])
    const guard = guarded(project, "story")
    const decisions = []
    assert.ok((await guard.prompt(story.prompt)).allowed)
    for (const { calls = [], text } of story.turns) {
      for (const call of calls) decisions.push(await decided(guard, call))
      if (text !== undefined) assert.equal(await guard.stop(), null)
    }
    await guard.close()

    assert.equal(decisions.filter((decision) => decision === "deny").length, denied)
    const transcript = run(project, PHASEGATE, ["audit", "export", "--transcript", "--session", "story"])
    const lines = run(project, PHASEGATE, ["replay", "-"], transcript).trim().split("\n").map((line) => JSON.parse(line))
    const again = lines.filter(({ event }) => event === "tool_call").map(({ decision }) => decision)
    assert.deepEqual(again, decisions)
  })
}

test("a failed build opens the way back", () => play("failed-build-back", 1))
test("a skill of the project's own", () => play("own-skill", 3))
test("an honest agent", () => play("honest", 0))

const READ_FIRST = {
  ".phasegate/config.yaml": "mode: block\nuse: [read-first]\n",
  ".phasegate/skills/read-first.yaml": `skill: read-first
description: Read before you write.
start: [session]
phases:
  look: { allowed: [Read], done_when: { ok: Read } }
  change: { allowed: [Read, Write] }
`,
}

test("a new session begins anew, and an old one goes on", () =>
  inProject(READ_FIRST, async (project) => {
    const input = { file_path: "a.txt", content: "x" }
    const writes = async (guard) => (await guard.call("Write", input, () => "written")).allowed
    const old = guarded(project, "old")
    assert.equal(await writes(old), false)
    await assert.rejects(old.call("Read", { file_path: join(project, "none") }, tools(project).Read))
    assert.equal(await writes(old), false, "a failed reading is none")
    await old.call("Read", { file_path: "a.txt" }, async () => "read")
    await old.close()
    const [other, again] = [guarded(project), guarded(project, "old")]
    assert.deepEqual([await writes(other), await writes(again)], [false, true])
    await Promise.all([other.close(), again.close()])
  }))

test("a prompt is no person's word", () =>
  inProject(READ_FIRST, async (project) => {
    process.env.CLAUDE_CODE_ENTRYPOINT = "cli"
    const guard = guarded(project)
    assert.match((await guard.prompt("/phasegate skip")).reason, /\[command-refused\]/)
    await guard.close()
    delete process.env.CLAUDE_CODE_ENTRYPOINT
  }))

test("an agent that is not done is held", () =>
  inProject({}, async (project) => {
    run(project, PHASEGATE, [...INIT, "--skill", "test-first"])
    const guard = guarded(project)
    const input = { file_path: join(project, "test_a.py"), content: "import unittest\nassert False\n" }
    assert.ok((await guard.call("Write", input, tools(project).Write)).allowed)
    assert.match(await guard.stop(), /\[unfinished\]/)
    await guard.close()
  }))

test("a folder that nothing guards denies", () =>
  inProject({}, async (project) => {
    for (const mode of ["block", "warn"]) {
      const guard = new Guard(project, { mode, command: PHASEGATE })
      const said = await guard.before({ tool: "Read", input: {}, id: "1" })
      assert.equal(said.allowed, mode === "warn")
      assert.match(said.reason ?? said.context, /nothing guards/)
      await guard.close()
    }
  }))
