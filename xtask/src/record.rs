//! `cargo xtask record STORY`: lets a real client live through a story against a scripted model on loopback, guarded by
//! phasegate, and keeps every hook's input and answer as a case of the conformance suite.
//!
//! Nothing needs an account or a network: client and model run in a network namespace that has only a loopback.

pub(crate) mod story;
mod later;
pub(crate) mod frame;
pub(crate) mod played;
pub(crate) mod scratch;
mod model;
pub(crate) mod client;
mod bridged;
pub(crate) mod claude_code;
mod opencode;
mod pi;
mod terminal;
mod verdict;
pub(crate) mod session;
pub(crate) mod tee;
pub(crate) mod double;

use std::path::{Path, PathBuf};
use std::process::Command;

use owo_colors::OwoColorize;

use self::client::{Client, Stage};
use self::scratch::Scratch;
use self::session::Session;
use self::story::Story;
use crate::failure::{Failure, Result};
use crate::process::{cargo, run as run_command};
use crate::root::{read, root, target};

/// Which stories, and which client.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Stories by name (`conformance/stories/NAME.json`).
    #[arg(required = true)]
    stories: Vec<String>,
    /// The client, by the id of its adapter.
    #[arg(long, default_value = FIRST, value_parser = IDS)]
    client: String,
    /// The client's binary; without it the one that `PATH` has.
    #[arg(long, alias = "claude")]
    binary: Option<PathBuf>,
    /// The phasegate binary; without it the one that cargo builds now.
    #[arg(long)]
    guard: Option<PathBuf>,
    /// Only look whether the story comes out as written; write nothing.
    #[arg(long)]
    check: bool,
    /// Leave the scratch folder, with the client's logs and the model's.
    #[arg(long)]
    keep: bool,
    #[arg(long, hide = true)]
    inside: bool,
}

/// The clients that have a driver.
const CLIENTS: [&dyn Client; 3] = [&claude_code::ClaudeCode, &opencode::OpenCode, &pi::Pi];
/// Their ids.
pub(crate) const IDS: [&str; 3] = [claude_code::ID, opencode::ID, pi::ID];
/// The client that is run where none is named.
pub(crate) const FIRST: &str = claude_code::ID;

/// The driver of the client with this id.
pub(crate) fn driver(id: &str) -> Result<&'static dyn Client> {
    let found = CLIENTS.into_iter().find(|client| client.id() == id);
    found.ok_or_else(|| Failure::new(format!("there is no driver for `{id}`")))
}

/// The program of a client: the one that is given, else the one that `PATH` has.
pub(crate) fn program(client: &dyn Client, given: Option<&Path>) -> Result<PathBuf> {
    let named = given.map_or_else(|| PathBuf::from(client.program()), Path::to_path_buf);
    if named.components().count() > 1 {
        return Ok(named);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&named)).find(|path| path.is_file());
    found.ok_or_else(|| Failure::new(format!("`{}` is not there; name it with `--binary`", named.display())))
}

/// Brings the loopback up through a fresh view of the system's devices, then runs the rest.
const LOOPBACK: &str = "mount -t sysfs none /sys && echo 0x9 > /sys/class/net/lo/flags && exec \"$0\" \"$@\"";

/// Records the stories, one after another.
pub(crate) fn run(args: &Args) -> Result {
    if !args.inside {
        if args.guard.is_none() {
            run_command(&mut cargo(&["build", "--quiet", "--package", "phasegate"]))?;
        }
        return isolated("not every story was recorded");
    }
    let client = driver(&args.client)?;
    let program = program(client, args.binary.as_deref())?;
    let version = client::version(client, &program)?;
    let mut failed = 0;
    for name in &args.stories {
        if let Err(failure) = record(name, client, (&program, &version), args) {
            anstream::eprintln!("{} {name}: {failure}", "failed".red().bold());
            failed += 1;
        }
    }
    let all = args.stories.len();
    if failed == 0 {
        Ok(())
    } else {
        Err(Failure::new(format!("{failed} of {all} stories did not come out as written")))
    }
}

/// Runs this command again where only the loopback exists, and says so if it fails there.
pub(crate) fn isolated(failing: &str) -> Result {
    let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    let mut command = Command::new("unshare");
    if !alone(&["--net", "--mount"]) {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--mount", "sh", "-c", LOOPBACK]).arg(own).args(std::env::args_os().skip(1)).arg("--inside");
    let status = command.status().map_err(|error| Failure::new(format!("`unshare`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(failing)) }
}

fn alone(flags: &[&str]) -> bool {
    Command::new("unshare").args(flags).arg("true").output().is_ok_and(|output| output.status.success())
}

fn record(name: &str, client: &dyn Client, (program, version): (&Path, &str), args: &Args) -> Result {
    let path = story_file(name, client.id());
    let scratch = Scratch::new(name)?;
    let project = scratch.path("project").display().to_string();
    let story = Story::parse(name, &read(&path)?.replace("${PROJECT}", &project))?;
    let guard = args.guard.clone().unwrap_or_else(|| target().join("debug/phasegate"));
    scratch.project(&story, client, story.skill.as_deref())?;
    scratch.guard(&guard, &story, client)?;
    let files = session::files(&scratch)?;
    let played = client::play(client, &Stage { story: &story, scratch: &scratch, program });
    let problems = played.map(|played| verdict::problems(&story, &played, client));
    let kept = || format!("the scratch folder is {}", scratch.base.display());
    match problems {
        Ok(problems) if problems.is_empty() => {}
        Ok(problems) => return Err(Failure::new(format!("\n  {}\n{}", problems.join("\n  "), kept()))),
        Err(failure) => return Err(Failure::new(format!("{failure}; {}", kept()))),
    }
    let frames = scratch.frames()?;
    let place = if args.check {
        None
    } else {
        let head = Session {
            story: name.into(),
            title: story.title.clone(),
            client: client.id().into(),
            client_version: version.into(),
            script_sha256: session::sha256(&path)?,
            recorded: session::today()?,
            files,
        };
        Some(session::save(&head, &frames, &scratch)?)
    };
    if args.keep {
        anstream::println!("{}", kept());
    } else {
        scratch.remove()?;
    }
    let place = place.map(|place| format!(", kept in {}", shown(&place))).unwrap_or_default();
    anstream::println!("{} {name}: {} frames with {version}{place}", "as written".green().bold(), frames.len());
    Ok(())
}

/// The story of this name: the client's own, else the one that all share.
fn story_file(name: &str, client: &str) -> PathBuf {
    let (folder, file) = (root().join("conformance/stories"), format!("{name}.json"));
    Some(folder.join(client).join(&file)).filter(|path| path.is_file()).unwrap_or_else(|| folder.join(file))
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
