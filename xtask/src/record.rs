//! `cargo xtask record STORY`: lets a real client live through a story against a scripted model on loopback, guarded by
//! phasegate, and keeps every hook's input and answer as a case of the conformance suite.
//!
//! Nothing needs an account or a network: client and model run in a network namespace that has only a loopback.

pub(crate) mod story;
mod later;
mod frame;
pub(crate) mod played;
pub(crate) mod scratch;
pub(crate) mod claude_code;
mod verdict;
pub(crate) mod session;
pub(crate) mod tee;
pub(crate) mod double;

use std::path::{Path, PathBuf};
use std::process::Command;

use owo_colors::OwoColorize;

use self::claude_code::VARIABLES;
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
    #[arg(long, default_value = claude_code::ID, value_parser = [claude_code::ID])]
    client: String,
    /// The client's binary.
    #[arg(long, alias = "claude", default_value = claude_code::PROGRAM)]
    binary: PathBuf,
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
    let version = claude_code::version(&args.binary)?;
    let mut failed = 0;
    for name in &args.stories {
        if let Err(failure) = record(name, &version, args) {
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

fn record(name: &str, version: &str, args: &Args) -> Result {
    let path = root().join("conformance/stories").join(format!("{name}.json"));
    let scratch = Scratch::new(name)?;
    let project = scratch.path("project").display().to_string();
    let story = Story::parse(name, &read(&path)?.replace("${PROJECT}", &project))?;
    let guard = args.guard.clone().unwrap_or_else(|| target().join("debug/phasegate"));
    scratch.project(&story, story.skill.as_deref().map(claude_code::skill))?;
    scratch.guard(&guard, &story, &args.client)?;
    let files = session::files(&scratch)?;
    let played = claude_code::play(&story, &scratch, &args.binary);
    let problems = played.map(|played| verdict::problems(&story, &played));
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
        Some(session::save(&head(name, version, &path, &story, files)?, &frames, &scratch)?)
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

fn head(
    name: &str,
    version: &str,
    path: &Path,
    story: &Story,
    files: std::collections::BTreeMap<String, String>,
) -> Result<Session> {
    Ok(Session {
        story: name.into(),
        title: story.title.clone(),
        client: claude_code::ID.into(),
        client_version: version.into(),
        script_sha256: session::sha256(path)?,
        recorded: session::today()?,
        files,
    })
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}
