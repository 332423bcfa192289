// The bridge's end in a plugin, against the real program and against programs that fail in its place. Each row of
// `faults.json` is a program: whatever it does, nothing is let through, and the bridge is back when the program is.

import assert from "node:assert/strict"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { after, before, test } from "node:test"

import { Bridge } from "../bridge.ts"

const REAL = process.env.PHASEGATE ?? "phasegate"
const FAULTS: { fault: string; script: string | null; says: string; mode?: number }[] = JSON.parse(
  readFileSync(process.env.FAULTS ?? "adapters/shim/test/faults.json", "utf8"),
)

const world = mkdtempSync(join(tmpdir(), "phasegate-shim-"))
const project = join(world, "project")
const env = { PHASEGATE_STATE_DIR: join(world, "state"), PHASEGATE_MACHINE_DIR: join(world, "machine"), HOME: world }

before(() => {
  mkdirSync(join(project, ".phasegate/skills"), { recursive: true })
  writeFileSync(join(project, ".phasegate/config.yaml"), "mode: block\n")
  writeFileSync(
    join(project, ".phasegate/skills/careful.yaml"),
    "skill: careful\ndescription: look\nphases:\n  look: { allowed: [Read], forbidden: [Edit], done_when: { ok: Read } }\n  write: { allowed: [Edit] }\n",
  )
})
after(() => rmSync(world, { recursive: true }))

const atOnce = process.env.AT_ONCE === "1"
const bridge = (command: string) =>
  new Bridge({ platform: "claude-code", command, shim: "0", directory: project, env, atOnce, pause: 0 })

const frame = (event: string, fields: object) => ({ session_id: "s", cwd: project, hook_event_name: event, ...fields })
const call = (id: string, tool: string, input: object) =>
  frame("PreToolUse", { tool_name: tool, tool_input: input, tool_use_id: id })
const edit = (id: string) => call(id, "Edit", { file_path: "a", old_string: "a", new_string: "b" })
const denied = (reply: Record<string, unknown> | null) => JSON.stringify(reply).includes('"permissionDecision":"deny"')

test("a project whose configs and state are removed is guarded for the next bridge, too", async () => {
  const folder = join(world, "removed")
  mkdirSync(join(folder, ".phasegate"), { recursive: true })
  writeFileSync(join(folder, ".phasegate/config.yaml"), "mode: block\n")
  const state = join(world, "removed-state")
  const own = { ...env, PHASEGATE_STATE_DIR: state }
  const real = new Bridge({ platform: "claude-code", command: REAL, shim: "0", directory: folder, env: own, atOnce })
  const at = (event: Record<string, unknown>) => ({ ...event, cwd: folder })
  await real.ask(at(frame("SessionStart", { source: "startup" })))
  rmSync(join(folder, ".phasegate"), { recursive: true })
  rmSync(state, { recursive: true })
  for (const next of ["the same bridge", "another one"]) {
    const answer = await real.ask(at(edit(next)))
    assert.ok(denied(answer.reply), next)
    assert.match(JSON.stringify(answer.reply), /policy-missing/, next)
    real.close()
  }
})

test("events are answered by the real program, side by side and in order", async () => {
  const real = bridge(REAL)
  const read = { tool_name: "Read", tool_input: { file_path: "a" }, tool_use_id: "r" }
  real.tell(frame("SessionStart", { source: "startup" }))
  const answers = await Promise.all([
    real.ask(call("k", "Skill", { skill: "careful" })),
    real.ask(edit("e1")),
    real.ask(frame("PreToolUse", read)),
    real.ask(frame("PostToolUse", { ...read, tool_response: { type: "text" } })),
    real.ask(edit("e2")),
  ])
  assert.deepEqual(answers.map(({ deny }) => deny), Array(5).fill(undefined))
  assert.deepEqual(answers.map(({ reply }) => denied(reply)), [false, true, false, false, false])
  const probed = await real.probe([call("p1", "Read", {}), call("p2", "Bash", { command: "ls" })])
  assert.equal(probed?.length, 2)
  assert.equal(real.trouble, undefined)
  real.close()
})

test("what is told is told again to the next bridge", async () => {
  const program = join(world, "once")
  writeFileSync(program, `#!/bin/sh\n[ -e ${world}/died ] && exec ${REAL} "$@"\n: > ${world}/died\nread hello; echo '{"hello":{"protocol":1,"deadline_ms":5000,"largest":1000000}}'; read first; exit 1\n`)
  chmodSync(program, 0o755)
  const again = bridge(program)
  again.tell(frame("SessionStart", { source: "startup", session_id: "t" }))
  again.tell({ ...call("k", "Skill", { skill: "careful" }), session_id: "t" })
  while (!again.trouble) await new Promise((resolve) => setTimeout(resolve, 5))
  const { reply } = await again.ask({ ...edit("e"), session_id: "t" })
  assert.ok(denied(reply), "the skill's call was not told again")
  again.close()
})

test("half a character is replaced, and what looks like one is not", async () => {
  const real = bridge(REAL)
  for (const text of ["\ud83d", "a\udc00b", "\\ud83d", "\u{1f600}", "\\\\ud83d\ud83d"]) {
    const { deny } = await real.ask({ ...call(text, "Read", { file_path: text }), session_id: "h" })
    assert.equal(deny, undefined)
  }
  real.close()
})

test("where answers are read at once, they are there", async () => {
  const real = bridge(REAL)
  await real.ask({ ...call("first", "Read", { file_path: "a" }), session_id: "o" })
  const answers = Array.from({ length: 50 }, (_, n) => real.ask({ ...call(`${n}`, "Read", { file_path: "a" }), session_id: "o" }))
  const there = answers.filter((answer) => !(answer instanceof Promise)).length
  assert.ok(atOnce ? there > 0 : there === 0, `${there} of 50`)
  for (const { deny } of await Promise.all(answers)) assert.equal(deny, undefined)
  // What is too large for one write, or one look, is whole all the same.
  const large = "\u00e4\u{1f600}".repeat(300_000)
  const { deny } = await real.ask({ ...call("large", "Read", { file_path: large }), session_id: "o" })
  assert.equal(deny, undefined)
  real.close()
})

test("an event that cannot be written is denied", async () => {
  const real = bridge(REAL)
  const circle: Record<string, unknown> = {}
  circle.self = circle
  assert.match((await real.ask(circle)).deny ?? "", /bridge-lost.*JSON/)
  assert.match((await real.ask({ text: 1n })).deny ?? "", /bridge-lost/)
  assert.match((await real.ask(undefined)).deny ?? "", /phasegate \[/)
  real.close()
})

for (const { fault, script, says, mode } of FAULTS) {
  test(`nothing is let through, and all is well again afterwards: ${fault}`, async () => {
    const program = join(world, "phasegate")
    rmSync(program, { force: true })
    if (script !== null) {
      writeFileSync(program, script.replaceAll("${REAL}", REAL))
      chmodSync(program, mode ?? 0o755)
    }
    const broken = bridge(program)
    const answers = await Promise.all([broken.ask(edit("x")), broken.ask(edit("y"))])
    for (const { deny, reply } of answers) {
      assert.ok(deny?.startsWith("phasegate [") && deny.includes(says), `${deny}`)
      assert.equal(reply, null)
    }
    assert.equal(await broken.probe([edit("p")]), undefined)
    rmSync(program, { force: true })
    symlinkSync(REAL, program)
    const { deny, reply } = await broken.ask(call("z", "Read", { file_path: "a" }))
    assert.equal(deny, undefined)
    assert.ok(reply === null || typeof reply === "object")
    assert.equal(broken.trouble, undefined)
    broken.close()
  })
}

test("a bridge that hangs is waited for twice, and then not for a while", async () => {
  const program = join(world, "hangs")
  const hello = '{"hello":{"protocol":1,"deadline_ms":0,"largest":1000000}}'
  writeFileSync(program, `#!/bin/sh\nread a; echo '${hello}'; exec sleep 1000\n`)
  chmodSync(program, 0o755)
  const hung = new Bridge({ platform: "claude-code", command: program, shim: "0", directory: project, env, atOnce })
  const took: number[] = []
  for (const id of ["1", "2", "3", "4"]) {
    const began = performance.now()
    const { deny } = await hung.ask(edit(id))
    took.push(performance.now() - began)
    assert.match(deny ?? "", /bridge-lost.*no answer came in 2000 ms; until a bridge answers again/)
  }
  assert.ok(took[0]! >= 1_900 && took[1]! >= 1_900, `${took}`)
  assert.ok(took[2]! < 500 && took[3]! < 500, `${took}`)
  hung.close()
})

test("where the program is not there, the mode decides, and the plugin names itself", async () => {
  for (const mode of ["warn", "block"]) {
    const options = { platform: "claude-code", shim: "0", directory: project, env, atOnce, mode, file: "/p/plugin.ts" }
    const gone = new Bridge({ ...options, command: join(world, "gone") })
    for (const id of ["1", "2"]) {
      const { deny, reply } = await gone.ask(edit(id))
      const told = mode === "warn" ? reply?.tell : deny
      assert.match(told, /Install it from https:.*the plugin \/p\/plugin\.ts starts it/)
      assert.equal(mode === "warn" ? deny : reply, mode === "warn" ? undefined : null)
    }
    gone.close()
  }
})

test("the way out is the code's own", () => {
  const explained = spawnSync(REAL, ["--json", "explain", "bridge-lost"], { encoding: "utf8" })
  assert.equal(explained.status, 0, explained.stderr)
  const { way_out } = JSON.parse(explained.stdout)
  assert.ok(readFileSync("adapters/shim/bridge.ts", "utf8").toLowerCase().includes(String(way_out).toLowerCase()))
})
