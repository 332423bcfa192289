//! `cargo xtask record STORY`: lets a real client play a story against a scripted model on loopback, guarded by
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
pub(crate) mod setup;
mod bridged;
mod terminal;
pub(crate) mod claude_code;
mod codex;
mod opencode;
mod pi;
pub(crate) mod drivers;
pub(crate) mod isolation;
mod verdict;
pub(crate) mod session;
pub(crate) mod tee;
pub(crate) mod lsp_fake;

use std::path::{Path, PathBuf};

use owo_colors::OwoColorize;
use phasegate_conformance::play::session::About;

use self::client::{Client, Stage};
use self::drivers::{FIRST, IDS, driver, program};
use self::isolation::isolated;
use self::scratch::Scratch;
use self::story::Story;
use xtask::failure::{Failure, Result};
use xtask::process::build_programs;
use xtask::root::{read, root, target};

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

/// Records the stories, one after another.
pub(crate) fn run(args: &Args) -> Result {
    if !args.inside {
        if args.guard.is_none() {
            build_programs()?;
        }
        return isolated("not every story was recorded");
    }
    let client = driver(&args.client)?;
    let program = program(client, args.binary.as_deref())?;
    let version = client::version(client, &program)?;
    let mut failed = 0;
    for name in &args.stories {
        if let Err(failure) = record(name, client, &program, &version, args) {
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

fn record(name: &str, client: &dyn Client, program: &Path, version: &str, args: &Args) -> Result {
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
        let head = About {
            story: name.into(),
            title: story.title.clone(),
            client: client.id().into(),
            client_version: version.into(),
            script_sha256: session::sha256(&path)?,
            recorded: session::today()?,
            files,
        };
        Some(session::save(head, &frames, &scratch)?)
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
