//! `cargo xtask mcp-clients`: real MCP clients do what a plan says, through the proxy, and must get what it says; without
//! the proxy, what it stops must go through, or the plan would prove nothing.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use owo_colors::OwoColorize;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clients::Clients;
use crate::record::scratch::Scratch;
use crate::traffic::scenario::Step;
use xtask::failure::{Failure, Result};
use xtask::process::{build_programs, shown};
use xtask::root::{read, root, target, write};

/// Where the plans are.
const PLANS: &str = "conformance/clients/plans";

/// What clients do, and what they must get.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    #[expect(dead_code, reason = "it is for whoever reads the file")]
    title: String,
    /// The project's `.phasegate/config.yaml`.
    config: String,
    /// Skills of the project's own.
    #[serde(default)]
    skills: Vec<Value>,
    /// The clients, each with the revision that it speaks if not the one that begins with a handshake.
    clients: Vec<String>,
    /// A step: what to do, `expect` for the required result, `stopped` if the guard must cause it.
    steps: Vec<Value>,
}

/// Runs every plan with each of its clients.
pub(crate) fn run() -> Result {
    build_programs()?;
    let clients = Clients::installed()?;
    let folder = root().join(PLANS);
    let entries = std::fs::read_dir(&folder).map_err(|error| Failure::file(&folder, error))?.flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.sort();
    let mut failed = Vec::new();
    for file in &files {
        let plan: Plan = serde_json::from_str(&read(file)?).map_err(|error| Failure::file(file, error))?;
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        for client in &plan.clients {
            let problems = lived(&plan, client, &clients)?;
            let word = if problems.is_empty() { "ok".green().to_string() } else { "FAILED".red().to_string() };
            anstream::println!("{word:>6}  {name} by {client}, {} steps", plan.steps.len());
            problems.iter().for_each(|problem| anstream::println!("        {problem}"));
            failed.extend((!problems.is_empty()).then(|| format!("{name} by {client}")));
        }
    }
    match (files.is_empty(), failed.is_empty()) {
        (true, _) => Err(Failure::new("there is no plan")),
        (_, true) => Ok(()),
        (_, false) => Err(Failure::new(failed.join(", "))),
    }
}

/// What is not as the plan says, with the proxy and without.
fn lived(plan: &Plan, client: &str, clients: &Clients) -> Result<Vec<String>> {
    let own = |binary: &str| target().join("debug").join(binary).display().to_string();
    let server = own("phasegate-test-server");
    let proxy = [own("phasegate"), "mcp".into(), "proxy".into(), "--server".into(), "lsp".into(), "--".into()];
    let guarded: Vec<String> = proxy.into_iter().chain([server.clone()]).collect();
    let mut problems = Vec::new();
    let through = done(plan, client, clients, &guarded)?;
    for (at, (step, got)) in plan.steps.iter().zip(&through).enumerate() {
        let wanted = step.get("expect").cloned().unwrap_or_default();
        if !fits(&wanted, got) {
            problems.push(format!("step {}: {wanted} is expected, and {got} came", at + 1));
        }
    }
    if through.len() != plan.steps.len() {
        problems.push(format!("{} of {} steps were done", through.len(), plan.steps.len()));
    }
    let bare = done(plan, client, clients, &[server])?;
    let stopped = plan.steps.iter().enumerate().filter(|(_, step)| step.get("stopped") == Some(&json!(true)));
    for (at, step) in stopped {
        let wanted = step.get("expect").cloned().unwrap_or_default();
        if bare.get(at).is_none_or(|got| fits(&wanted, got)) {
            problems.push(format!("step {}: it comes so without the proxy, too", at + 1));
        }
    }
    Ok(problems)
}

/// What came of each step, in a project of its own.
fn done(plan: &Plan, client: &str, clients: &Clients, server: &[String]) -> Result<Vec<Value>> {
    let (client, revision) = client.split_once(' ').unwrap_or((client, "2025-11-25"));
    let scratch = Scratch::new(&format!("mcp-{client}"))?;
    write(&scratch.path("project/.phasegate/config.yaml"), &plan.config)?;
    for (at, skill) in plan.skills.iter().enumerate() {
        // What is JSON is YAML.
        write(&scratch.path(&format!("project/.phasegate/skills/{at}.yaml")), &skill.to_string())?;
    }
    let came = if client == "inspector" {
        let era = if revision < "2026" { "legacy" } else { "modern" };
        plan.steps.iter().map(|step| inspected(step, era, clients, server, &scratch)).collect::<Result<_>>()?
    } else {
        let file = scratch.path("plan.json");
        write(&file, &json!({"revision": revision, "steps": plan.steps}).to_string())?;
        let (mut command, _) = clients.client(client, &file)?;
        let text = said(command.args(server), &scratch)?;
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    };
    scratch.remove()?;
    Ok(came)
}

/// One step by a process of the inspector, in the form of the other clients.
fn inspected(step: &Value, era: &str, clients: &Clients, server: &[String], scratch: &Scratch) -> Result<Value> {
    let mut bare = step.clone();
    if let Some(fields) = bare.as_object_mut() {
        fields.retain(|name, _| !["expect", "stopped"].contains(&name.as_str()));
    }
    let step: Step = serde_json::from_value(bare).map_err(|error| Failure::new(format!("a step: {error}")))?;
    let (mut command, _) = clients.inspector()?;
    let (program, args) = server.split_first().ok_or_else(|| Failure::new("no server"))?;
    // In the form of the lists that clients keep. As arguments the inspector would take the `--` for itself.
    let list = scratch.path("servers.json");
    let entry = json!({"type": "stdio", "command": program, "args": args, "protocolEra": era});
    write(&list, &json!({"mcpServers": {"lsp": entry}}).to_string())?;
    command.arg("--config").arg(list).args(["--server", "lsp"]).args(step.inspected()?);
    command.args(["--protocol-era", era, "--format", "json", "--quiet"]);
    let text = said(&mut command, scratch)?;
    let whole: Value = serde_json::from_str(text.trim()).unwrap_or_default();
    let Some(result) = whole.get("result") else { return Ok(whole) };
    let list = |key: &str| result.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let each = |key: &str, field: &str| {
        let fields = list(key).into_iter().filter_map(|one| one.get(field).cloned());
        fields.collect::<Vec<_>>()
    };
    if result.get("tools").is_some() {
        return Ok(json!({"tools": each("tools", "name")}));
    }
    let texts: Vec<String> =
        each("content", "text").iter().filter_map(|text| Some(text.as_str()?.to_string())).collect();
    let error = result.get("isError") == Some(&json!(true));
    Ok(json!({"isError": error, "text": texts.join("\n"), "structured": result.get("structuredContent")}))
}

/// What a client prints, whether it ends well or not.
fn said(command: &mut Command, scratch: &Scratch) -> Result<String> {
    let project = scratch.path("project");
    command.env_clear().current_dir(&project).stdin(Stdio::null());
    command.env("PATH", std::env::var("PATH").unwrap_or_default()).env("LANG", "C.UTF-8");
    for (name, folder) in
        [("HOME", "home"), ("TMPDIR", "tmp"), ("PHASEGATE_STATE_DIR", "state"), ("PHASEGATE_MACHINE_DIR", "machine")]
    {
        command.env(name, scratch.path(folder));
    }
    let output = command.output().map_err(|error| Failure::new(format!("`{}`: {error}", shown(command))))?;
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !text.trim().is_empty() {
        return Ok(text.into_owned());
    }
    // The inspector reports its own errors as an object there.
    match errors.lines().find(|line| line.starts_with('{')) {
        Some(error) => Ok(error.to_string()),
        None => Err(Failure::new(format!("`{}` printed nothing\n{errors}", shown(command)))),
    }
}

/// Whether what came is what is expected: an object has these keys, a text holds the text, a list has something that fits
/// each.
fn fits(wanted: &Value, got: &Value) -> bool {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(got)) => {
            wanted.iter().all(|(key, wanted)| got.get(key).is_some_and(|got| fits(wanted, got)))
        }
        (Value::Array(wanted), Value::Array(got)) => wanted.iter().all(|one| got.iter().any(|got| fits(one, got))),
        (Value::String(wanted), Value::String(got)) => got.contains(wanted.as_str()),
        (Value::Null, _) => true,
        _ => wanted == got,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::fits;

    #[test]
    fn what_is_expected_is_a_part_of_what_came() {
        let got = json!({"isError": true, "text": "no: why", "tools": ["a", "b"], "structured": {"code": "x"}});
        assert!(fits(&json!({"isError": true, "text": "why", "tools": ["b"], "structured": {"code": "x"}}), &got));
        assert!(!fits(&json!({"isError": false}), &got));
        assert!(!fits(&json!({"text": "how"}), &got));
        assert!(!fits(&json!({"tools": ["c"]}), &got));
        assert!(!fits(&json!({"other": 1}), &got));
    }
}
