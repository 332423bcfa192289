//! `cargo xtask record-mcp`: lets real MCP clients talk to real servers, and keeps every message with its direction as a
//! recording of the conformance suite.

mod process;
mod provenance;
pub(crate) mod scenario;
mod session;
pub(crate) mod tee;

use std::path::{Path, PathBuf};

use owo_colors::OwoColorize;

use self::process::{done, tee_words};
use self::provenance::CASES;
use self::scenario::Scenario;
use crate::clients::Clients;
use crate::record::claude_code::{self, ClaudeCode};
use crate::record::client;
use crate::record::scratch::Scratch;
use crate::record::story::Story;
use xtask::failure::{Failure, Result};
use xtask::process::build_programs;
use xtask::root::{read, root, target, write};

/// Which scenarios.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Scenarios (`conformance/cases/mcp/scripts/NAME.json`) and stories (`conformance/stories/mcp/NAME.json`) by name;
    /// without any, all that need no `--claude`.
    scenarios: Vec<String>,
    /// The binary of Claude Code, for the scenarios that it plays.
    #[arg(long)]
    claude: Option<PathBuf>,
    #[arg(long, hide = true)]
    inside: bool,
}

/// Records the scenarios, one after another.
pub(crate) fn run(args: &Args) -> Result {
    if !args.inside {
        build_programs()?;
        // What has to be fetched is fetched before the network is gone.
        Clients::installed()?;
        return crate::record::isolation::isolated("not every scenario was recorded");
    }
    let clients = Clients::installed()?;
    for name in names(args)? {
        if session::file(&name).is_file() {
            for revision in session::REVISIONS {
                let frames = session::record(&name, revision, &clients)?;
                anstream::println!("{} {name}: {frames} frames, a session in {revision}", "recorded".green().bold());
            }
            continue;
        }
        let path = root().join(CASES).join("scripts").join(format!("{name}.json"));
        let scenario = Scenario::parse(&read(&path)?).map_err(|error| Failure::file(&path, error))?;
        if args.scenarios.is_empty() && scenario.client == claude_code::ID && args.claude.is_none() {
            anstream::println!("{} {name}: needs `--claude`", "left out".yellow());
            continue;
        }
        record(&name, &scenario, &clients, args.claude.as_deref())?;
    }
    Ok(())
}

fn names(args: &Args) -> Result<Vec<String>> {
    if !args.scenarios.is_empty() {
        return Ok(args.scenarios.clone());
    }
    let mut names = Vec::new();
    for folder in [root().join(CASES).join("scripts"), root().join("conformance/stories/mcp")] {
        let entries = std::fs::read_dir(&folder).map_err(|error| Failure::file(&folder, error))?.flatten();
        let files = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.extend(files.filter_map(|name| name.strip_suffix(".json").map(str::to_string)));
    }
    names.sort();
    Ok(names)
}

fn record(name: &str, scenario: &Scenario, clients: &Clients, claude: Option<&Path>) -> Result {
    let scratch = Scratch::new(name)?;
    let log = scratch.path("frames.jsonl");
    let (server, server_version) = server(scenario, clients)?;
    let client = match (scenario.client.as_str(), claude) {
        (claude_code::ID, Some(binary)) => claude_lives(scenario, &scratch, &log, binary)?,
        (claude_code::ID, None) => return Err(Failure::new(format!("`{name}` needs `--claude`"))),
        ("inspector", _) => inspected(scenario, &scratch, &log, &server, clients)?,
        (client, _) => {
            let plan = scratch.path("plan.json");
            write(&plan, &serde_json::to_string(&scenario.plan()).unwrap_or_default())?;
            let (mut command, version) = clients.client(client, &plan)?;
            command.args(tee(scenario, &log, 1)?).args(&server);
            done(&mut command, &scratch)?;
            version
        }
    };
    let frames = crate::record::session::neutral_below(&scratch.base, &read(&log)?);
    let file = format!("{}/{name}.jsonl", scenario.revision);
    write(&root().join(CASES).join("recordings").join(&file), &frames)?;
    provenance::note(&file, name, &scenario.revision, vec![client, server_version])?;
    scratch.remove()?;
    anstream::println!("{} {name}: {} frames, kept as {file}", "recorded".green().bold(), frames.lines().count());
    Ok(())
}

/// The server's command, and what it is.
fn server(scenario: &Scenario, clients: &Clients) -> Result<(Vec<String>, String)> {
    let own = |binary: &str, args: &[&str]| {
        let path = target().join("debug").join(binary).display().to_string();
        std::iter::once(path).chain(args.iter().map(|arg| (*arg).to_string())).collect::<Vec<_>>()
    };
    match scenario.server.as_str() {
        "everything" => clients.everything(),
        "test" => {
            Ok((own("phasegate-test-server", &[]), format!("phasegate-test-server {}", env!("CARGO_PKG_VERSION"))))
        }
        "phasegate" => Ok((own("phasegate", &["mcp", "serve"]), format!("phasegate {}", env!("CARGO_PKG_VERSION")))),
        "lsp" => {
            let program = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
            let words = vec![program.display().to_string(), "lsp-fake".into()];
            Ok((words, format!("lsp-fake {}", env!("CARGO_PKG_VERSION"))))
        }
        other => Err(Failure::new(format!("there is no server `{other}`"))),
    }
}

/// What stands before the server's command, so that its messages are kept.
fn tee(scenario: &Scenario, log: &Path, session: usize) -> Result<Vec<String>> {
    tee_words(&scenario.server, log, &session.to_string())
}

/// One process of the inspector for each step.
fn inspected(
    scenario: &Scenario,
    scratch: &Scratch,
    log: &Path,
    server: &[String],
    clients: &Clients,
) -> Result<String> {
    let mut said = String::new();
    for (at, step) in scenario.steps.iter().enumerate() {
        let (mut command, version) = clients.inspector()?;
        command.args(tee(scenario, log, at + 1)?).args(server).args(step.inspected()?);
        command.args(["--protocol-era", scenario.era()]);
        done(&mut command, scratch)?;
        said = version;
    }
    Ok(said)
}

/// Claude Code plays a story with the server that the story's tools belong to, without a guard.
fn claude_lives(scenario: &Scenario, scratch: &Scratch, log: &Path, binary: &Path) -> Result<String> {
    let name = scenario.story.as_deref().ok_or_else(|| Failure::new("the scenario names no story"))?;
    let project = scratch.path("project").display().to_string();
    let text = read(&root().join("conformance/stories").join(format!("{name}.json")))?;
    let story = Story::parse(name, &text.replace("${PROJECT}", &project))?;
    scratch.project(&story, &ClaudeCode, story.skill.as_deref())?;
    let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    let words = tee(scenario, log, 1)?;
    let (command, args) = words.split_first().ok_or_else(|| Failure::new("no command"))?;
    let args: Vec<String> = args.iter().cloned().chain([own.display().to_string(), "lsp-fake".into()]).collect();
    let entry = serde_json::json!({"mcpServers": {"lsp": {"command": command, "args": args}}});
    write(&scratch.path("mcp.json"), &entry.to_string())?;
    client::live(&ClaudeCode, &client::Stage { story: &story, scratch, program: binary })?;
    Ok(format!("Claude Code {}", client::version(&ClaudeCode, binary)?))
}
