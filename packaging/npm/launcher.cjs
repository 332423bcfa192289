#!/usr/bin/env node
// Hands over to the native program of this platform, which is a package of its own.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const platform = `${process.platform}-${process.arch}`;
const name = process.platform === "win32" ? "phasegate.exe" : "phasegate";

function find() {
  try {
    return require.resolve(`@phasegate/${platform}/bin/${name}`);
  } catch {
    const listed = Object.keys(require("../package.json").optionalDependencies);
    const known = listed.includes(`@phasegate/${platform}`);
    console.error(
      known
        ? `phasegate: the package @phasegate/${platform} is not installed. Install again without \`--omit=optional\`, and on this platform.`
        : `phasegate: there is no package for ${platform}; there is one for ${listed.map((each) => each.replace("@phasegate/", "")).join(", ")}. Build it from source: https://github.com/phasegate/phasegate`,
    );
    // A hook denies with this status: what cannot be judged does not pass.
    process.exit(2);
  }
}

const program = find();
const args = process.argv.slice(2);

// Where node can become the program, it does.
if (process.execve && process.platform !== "win32") {
  try {
    process.execve(program, [program, ...args], process.env);
  } catch {
    // Not permitted here: start it as a child.
  }
}
const child = spawn(program, args, { stdio: "inherit" });
const signals = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];
for (const signal of signals.filter((each) => each in constants.signals)) {
  // Windows knows only some of them.
  try {
    process.on(signal, () => child.kill(signal));
  } catch {}
}
child.on("error", (error) => {
  console.error(`phasegate: ${program} cannot be started: ${error.message}`);
  process.exit(2);
});
child.on("exit", (status, signal) => {
  if (!signal) process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
