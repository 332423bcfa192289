#!/usr/bin/env node
// Makes the npm packages from built programs: one for each platform, and one that chooses among them.
//
//     pack.mjs VERSION FOLDER-WITH-BINARIES OUT [--only PLATFORM]...
//
// The folder holds PLATFORM/phasegate (linux-x64/phasegate, win32-x64/phasegate.exe, ...).
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const PLATFORMS = ["linux-x64", "linux-arm64", "darwin-x64", "darwin-arm64", "win32-x64"];
const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../..");

function fail(text) {
  console.error(`pack.mjs: ${text}`);
  process.exit(1);
}

const { positionals, values } = parseArgs({ allowPositionals: true, options: { only: { type: "string", multiple: true } } });
const [version, binaries, out] = positionals;
if (!out) fail("usage: pack.mjs VERSION FOLDER-WITH-BINARIES OUT [--only PLATFORM]...");
if (!/^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/.test(version)) fail(`\`${version}\` is no version`);
const wanted = values.only ?? PLATFORMS;
for (const platform of wanted) if (!PLATFORMS.includes(platform)) fail(`no platform \`${platform}\`; there are ${PLATFORMS.join(", ")}`);

const programOf = (platform) => (platform.startsWith("win32") ? "phasegate.exe" : "phasegate");
const missing = wanted.filter((platform) => !existsSync(join(binaries, platform, programOf(platform))));
if (missing.length) fail(`${binaries} has no program for ${missing.join(", ")}; \`--only PLATFORM\` packs some of them`);

const shared = {
  version,
  license: "Apache-2.0 OR MIT",
  homepage: "https://github.com/phasegate/phasegate",
  repository: { type: "git", url: "git+https://github.com/phasegate/phasegate.git" },
};
const scratch = mkdtempSync(join(tmpdir(), "phasegate-npm-"));

function pack(manifest, files) {
  const folder = join(scratch, manifest.name.replace("/", "-"));
  mkdirSync(join(folder, "bin"), { recursive: true });
  writeFileSync(join(folder, "package.json"), `${JSON.stringify({ ...manifest, ...shared }, null, 2)}\n`);
  for (const licence of ["LICENSE-APACHE", "LICENSE-MIT"]) copyFileSync(join(root, licence), join(folder, licence));
  for (const [to, from] of Object.entries(files)) {
    copyFileSync(from, join(folder, to));
    if (to.startsWith("bin/")) chmodSync(join(folder, to), 0o755);
  }
  const args = ["pack", folder, "--pack-destination", resolve(out), "--json", "--ignore-scripts"];
  const told = JSON.parse(execFileSync("npm", args, { cwd: scratch, encoding: "utf8", shell: process.platform === "win32" }));
  const packed = Array.isArray(told) ? told[0] : Object.values(told)[0];
  console.log(`${packed.filename} ${packed.size} bytes`);
}

mkdirSync(out, { recursive: true });
try {
  for (const platform of wanted) {
    const [os, cpu] = platform.split("-");
    const program = programOf(platform);
    const manifest = {
      name: `@phasegate/${platform}`,
      description: `The program phasegate for ${platform}`,
      os: [os],
      cpu: [cpu],
      files: ["bin"],
      preferUnplugged: true,
      publishConfig: { access: "public" },
    };
    pack(manifest, { [`bin/${program}`]: join(binaries, platform, program) });
  }
  const manifest = {
    name: "phasegate",
    description: "Guards the tool calls of AI coding agents: in which order an agent works",
    keywords: ["ai", "agent", "claude-code", "opencode", "hooks", "mcp"],
    mcpName: JSON.parse(readFileSync(join(root, "packaging/mcp/server.json"), "utf8")).name,
    bin: { phasegate: "bin/phasegate.cjs" },
    files: ["bin"],
    engines: { node: ">=18" },
    optionalDependencies: Object.fromEntries(PLATFORMS.map((platform) => [`@phasegate/${platform}`, version])),
  };
  pack(manifest, { "bin/phasegate.cjs": join(here, "launcher.cjs"), "README.md": join(root, "README.md") });
} finally {
  rmSync(scratch, { recursive: true });
}
