//! `phasegate repair [SESSION]`: sets damaged journals aside, and sessions go on by what a person says of them.

use owo_colors::OwoColorize as _;
use phasegate_core::Code;
use phasegate_core::policy::Mode;
use phasegate_runtime::operate::repair::{Choice, Damages, Sealed};
use serde_json::{Value, json};

use crate::args::ModeArg;
use crate::command::runs::control::{in_a_terminal, refused_to_agent};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate repair`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this session, and the project's own journal if it is damaged; default: every damaged journal of the project
    pub session: Option<String>,
    /// The skills that were active, as far as the journal can be read, go on from their first phase
    #[arg(long, group = "choice")]
    pub keep: bool,
    /// This skill was active: it goes on from its first phase
    #[arg(long, value_name = "SKILL", group = "choice")]
    pub run: Option<String>,
    /// No skill was active
    #[arg(long, group = "choice")]
    pub no_run: bool,
    /// The least strict mode of the skill that `--run` names
    #[arg(long, requires = "run")]
    pub mode: Option<ModeArg>,
}

/// Lists what is damaged; with one of `--keep`, `--run` and `--no-run`, also repairs it. A damaged journal may hide an
/// active skill, so a person says which one it was, and the journals record that.
///
/// # Errors
///
/// Nothing was said of what may be hidden, the command counts as the agent's, or a journal cannot be written.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let mut damages = runtime.damages(&project, args.session.as_deref())?;
    if let Some(id) = &args.session {
        damages.sessions.retain(|session| session.id.as_ref() == Some(id));
    }
    if damages.is_empty() {
        context.out.line(format_args!("nothing is damaged in `{}`", project.root.display()));
        return Ok(Exit::Done);
    }
    if !context.out.json {
        print(context, &damages);
    }
    let choice = match (&args.run, args.keep, args.no_run) {
        (Some(skill), _, _) => Choice::Run { skill: skill.clone(), mode: args.mode.map(ModeArg::mode) },
        (None, true, _) => Choice::Keep,
        (None, false, true) => Choice::NoRun,
        (None, false, false) => return Err(unsaid(&damages)),
    };
    let repaired: Vec<_> = damages.sessions.iter().map(|session| session.key.as_str()).collect();
    if let Some(sign) = runtime.sign_against_a_repair(&project, &repaired) {
        return Err(refused_to_agent("repair", &sign));
    }
    in_a_terminal("repair")?;
    let sealed = runtime.repair(&project, &damages, &choice)?;
    if context.out.json {
        context.out.value(&json!({"repaired": sealed.iter().map(as_json).collect::<Vec<_>>()}));
    } else {
        sealed.iter().for_each(|sealed| print_sealed(context, sealed));
    }
    Ok(Exit::Done)
}

fn print(context: &Context, damages: &Damages) {
    let out = context.out;
    let line = |what: &str, problem: &str, readable: u64| {
        out.line(format_args!("{} {problem}", format!("{what}:").yellow()));
        out.line(format_args!("  {readable} of its records can be read"));
    };
    if let Some(damage) = &damages.project {
        line("the project", &damage.problem.message, damage.readable);
    }
    for session in &damages.sessions {
        let id = session.id.as_deref().unwrap_or("of an unknown id");
        line(&format!("session {id}"), &session.damage.problem.message, session.damage.readable);
        for run in session.runs() {
            let mode = if run.mode == Mode::Block { "block" } else { "warn" };
            out.line(format_args!(
                "  {} was active then, in {mode} mode, in phase \"{}\"",
                run.skill.bold(),
                run.phase
            ));
        }
    }
}

/// What a person must say, with the commands that say it.
fn unsaid(damages: &Damages) -> Failure {
    let known = damages.sessions.iter().filter_map(|session| session.id.as_deref());
    let only = known.collect::<Vec<_>>();
    let named = only.first().filter(|_| only.len() == 1).map(|id| format!(" {id}")).unwrap_or_default();
    let command = format!("phasegate repair{named}");
    if let Some(session) = damages.sessions.iter().find(|session| session.id.is_none()) {
        let path = session.damage.path.display();
        return Failure::new(format!("nothing says any more whose journal `{path}` was"))
            .with_help("name the session, as the denial in it does: `phasegate repair SESSION`");
    }
    let mut help = format!("`{command} --run SKILL` if that skill was active, `{command} --no-run` if none was");
    if damages.shows_runs() {
        help.push_str(&format!(", `{command} --keep` if those were that the readable part shows"));
    }
    let message = "what cannot be read may hide an active skill, so say which skill was active";
    Failure { exit: Exit::No, code: Some(Code::StateUnreadable), message: message.to_string(), help: Some(help) }
}

fn print_sealed(context: &Context, sealed: &Sealed) {
    let what = sealed.session.as_ref().map_or_else(|| "the project".to_string(), |id| format!("session {id}"));
    let aside = sealed.aside.as_ref().map(|aside| format!("; `{}` keeps what was damaged", aside.name));
    let skills = match sealed.skills.join(", ") {
        none if none.is_empty() => "no skill is active".to_string(),
        skills => format!("{skills} goes on from its first phase"),
    };
    context.out.line(format_args!("{what} goes on: {skills}{}", aside.unwrap_or_default()));
}

fn as_json(sealed: &Sealed) -> Value {
    let aside = sealed.aside.as_ref();
    let aside = aside.map(|aside| json!({"file": aside.name, "bytes": aside.bytes, "sha256": aside.sha256}));
    json!({"session": sealed.session, "skills": sealed.skills, "aside": aside})
}
