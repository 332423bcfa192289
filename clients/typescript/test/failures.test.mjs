// What becomes of a call when the bridge fails: it is denied in the mode `block`, and allowed in the mode `warn`.

import assert from "node:assert/strict"
import { execFile, execFileSync, spawnSync } from "node:child_process"
import { test } from "node:test"
import { setTimeout as sleep } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { claudeHooks } from "../dist/claude.js"
import { Guard } from "../dist/index.js"

const FAKE = fileURLToPath(new URL("../../tests/fake_bridge.py", import.meta.url))
const CLIENT = new URL("../dist/index.js", import.meta.url).href
const AGAIN = "Try again"
const FAILURES = {
  exits: "ended with status 3",
  silent: "no answer came in",
  refuses: "phasegate [bad-input]: no bridge for you.",
  "greets with garbage": "said what is no answer",
  "other protocol": "phasegate speaks protocol 2",
  deaf: "no answer came in",
  hangs: "no answer came in",
  dies: "ended with status 4",
  closes: "no answer came in",
  garbage: "said what is no answer",
  "other id": "said what is no answer",
  "no reply": AGAIN,
  "wrong reply": AGAIN,
  list: "said what is no answer",
  error: "phasegate [internal]: it broke.",
}
const call = (id = "1", input = {}) => ({ tool: "Write", input, id })

/** A guard whose bridge does this. The variable is read when the bridge is started, which is at the first call. */
function fake(what, options = {}) {
  process.env.FAKE = what
  return new Guard(".", { command: FAKE, ...options })
}

for (const [what, said] of Object.entries(FAILURES)) {
  test(`a bridge that ${what}: denied in block mode, told in warn mode`, async () => {
    const input = { content: what === "deaf" ? "x".repeat(2_000_000) : "x" }
    const [block, warn] = [fake(what), fake(what, { mode: "warn" })]
    const [denied, allowed] = await Promise.all([block.before(call("1", input)), warn.before(call("1", input))])
    assert.equal(denied.allowed, false)
    assert.ok(denied.reason.includes(said), denied.reason)
    assert.equal(allowed.allowed, true)
    assert.ok(allowed.context.includes(said) && allowed.context.includes("This was not guarded."), allowed.context)
    await Promise.all([block.close(), warn.close()])
  })
}

test("a missing program denies", async () => {
  const denied = await new Guard(".", { command: "no-such-program" }).before(call())
  assert.equal(denied.allowed, false)
  assert.match(denied.reason, /no-such-program.*install it/)
  assert.equal((await new Guard(".", { command: "no-such-program", mode: "warn" }).before(call())).allowed, true)
})

test("what is no plain yes is a no", async () => {
  const reasons = { deny: "phasegate [panic]: no.", ask: "may it?", "ends the turn": "enough" }
  for (const [what, reason] of Object.entries(reasons)) {
    for (const mode of ["block", "warn"]) {
      const guard = fake(what, { mode })
      const denied = await guard.before(call())
      assert.deepEqual([denied.allowed, denied.reason, denied.endsTurn], [false, reason, what === "ends the turn"])
      await guard.close()
    }
  }
})

test("an input that is no JSON denies, and harms no other call", async () => {
  const guard = fake("allows")
  assert.equal((await guard.before(call())).allowed, true)
  const round = {}
  round.round = round
  for (const input of [round, { n: 1n }]) assert.equal((await guard.before(call("2", input))).allowed, false)
  assert.equal((await guard.before(call("3"))).allowed, true)
  await guard.close()
})

test("a dead bridge is started anew", async () => {
  const guard = fake("once")
  const said = new Set()
  for (const id of ["1", "2", "3"]) {
    said.add((await guard.before(call(id))).reason)
    await sleep(300)
  }
  assert.equal(said.size, 3)
  for (const reason of said) assert.match(reason, /^by \d+$/)
  await guard.close()
})

test("the tool does not run without an answer", async () => {
  let ran = false
  const guard = fake("hangs")
  const outcome = await guard.call("Write", {}, () => (ran = true))
  assert.deepEqual([outcome.allowed, ran], [false, false])
  await guard.close()
})

test("answers find their calls", async () => {
  const guard = fake("backwards")
  const ids = Array.from({ length: 50 }, (_, at) => String(at))
  const said = await Promise.all(ids.map((id) => guard.before(call(id))))
  assert.deepEqual(said.map(({ reason }) => reason), ids)
  await guard.close()
})

test("calls that wait when the bridge dies are all denied", async () => {
  const guard = fake("backwards")
  const said = await Promise.all(["1", "2", "3"].map((id) => guard.before(call(id))))
  for (const { allowed, reason } of said) {
    assert.equal(allowed, false)
    assert.match(reason, /no answer came/)
  }
  await guard.close()
})

test("nothing is left behind", async () => {
  for (const what of ["allows", "dies", "garbage", "closes"]) {
    const guard = fake(what)
    await guard.before(call())
    await guard.close()
    await sleep(100)
    const left = spawnSync("ps", ["-o", "args=", "--ppid", String(process.pid)], { encoding: "utf8" }).stdout
    assert.doesNotMatch(left, /fake_bridge|defunct/, what)
  }
})

test("a program that never closes its guard ends, and takes the bridge with it", async () => {
  const code = `import { Guard } from ${JSON.stringify(CLIENT)}
    const guard = new Guard(".", { command: ${JSON.stringify(FAKE)} })
    console.log((await guard.before({ tool: "Write", input: {}, id: "1" })).allowed)`
  const env = { ...process.env, FAKE: "pid" }
  const run = promisify(execFile)(process.execPath, ["--input-type=module", "-e", code], { env, timeout: 5_000 })
  assert.equal((await run).stdout, "true\n")
  const living = () => execFileSync("ps", ["-eo", "ppid=,args="], { encoding: "utf8" }).split("\n")
  const left = () => living().filter((line) => line.includes("fake_bridge") && /^\s*1\s/.test(line))
  for (let tries = 0; left().length > 0 && tries < 40; tries++) await sleep(50)
  assert.deepEqual(left(), [])
})

test("a hook without an answer denies in the form of its event", async () => {
  const hooks = claudeHooks(new Guard(".", { command: "no-such-program" }))
  const asked = (hook_event_name) => hooks[hook_event_name][0].hooks[0]({ session_id: "s", cwd: "/", hook_event_name })
  assert.equal((await asked("PreToolUse")).hookSpecificOutput.permissionDecision, "deny")
  assert.equal((await asked("UserPromptSubmit")).decision, "block")
  assert.deepEqual(Object.keys(await asked("Stop")), ["systemMessage"])
  assert.equal(hooks.PreToolUse[0].onFailure, "block")
})
