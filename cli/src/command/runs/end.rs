//! `phasegate end [NAME]`: a run, or a session whose client is gone.

mod done;
mod session;

use owo_colors::OwoColorize as _;
use phasegate_runtime::sessions::sessions;
use serde_json::Value;

use super::control::{Target, about, give, give_project};
use super::live::found::text;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate end`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill, or the session whose client is gone; default: the skill that began last, with all that it runs
    pub name: Option<String>,
    /// Only if it is done; prints what its phases left, else what is missing
    #[arg(long)]
    pub done: bool,
    /// Only in this session; default: for the whole project if the skill is in force there, else in the session that was
    /// active last
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Ends that the skill is in force, or ends the run of the skill in one session, or a session.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if let Some(found) = args.name.as_ref().map(|name| session::named(name, context)).transpose()?.flatten() {
        return session::end(found, context);
    }
    if args.done {
        return done::run(args.name.as_ref(), args.session.as_ref(), context);
    }
    if args.session.is_none() && is_in_force(args.name.as_ref(), context)? {
        return lift(args.name.as_ref(), context);
    }
    let target = Target { session: args.session.clone() };
    let answer = give(context, &target, "deactivate_skill", about(args.name.as_ref()).into())?;
    if context.out.json {
        context.out.value(&answer.result);
    } else {
        let ended = answer.result.get("skill").and_then(Value::as_str).or(args.name.as_deref());
        match ended {
            Some(skill) if answer.session.is_empty() => {
                context.out.line(format_args!("{skill} has ended in this project"));
            }
            Some(skill) => context.out.line(format_args!("{skill} is no longer active in session {}", answer.session)),
            None => context.out.line(format_args!("no skill was active in session {}", answer.session)),
        }
        if let Some(whole) = answer.result.get("part_of").and_then(Value::as_str) {
            say_of_whole(context, &answer.session, whole)?;
        }
    }
    Ok(Exit::Done)
}

/// Says what became of the skill whose part was ended.
fn say_of_whole(context: &Context, session: &str, whole: &str) -> Result<(), Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let known = sessions(&project)?.known;
    let session = known.iter().find(|known| known.id == session);
    let runs = runtime.runs(&project, session)?;
    let is_it = |run: &&Value| text(run, "skill_name") == whole && run.get("part_of").is_none();
    let Some(run) = runs.as_array().into_iter().flatten().find(is_it) else {
        context.out.line(format_args!("  it was a part of {}, which has ended with it", whole.bold()));
        return Ok(());
    };
    let stands_still = !text(run, "stopped").is_empty();
    let goes_on = if stands_still { "stands still" } else { "goes on" };
    context.out.line(format_args!("  it was a part of {}, which {goes_on}", whole.bold()));
    if stands_still {
        context.out.line(format_args!("  {} {}", "waits for you:".yellow(), text(run, "stopped")));
        context.out.line(format_args!("    {}", text(run, "ways_on")));
    }
    Ok(())
}

/// Whether the skill, or any where none is named, is in force for the project.
fn is_in_force(skill: Option<&String>, context: &Context) -> Result<bool, Failure> {
    let runtime = context.runtime()?;
    let known = runtime.in_force(&context.find_project(&runtime)?)?;
    Ok(skill.map_or(!known.is_empty(), |skill| known.contains_key(skill)))
}

fn lift(skill: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let mut command = about(skill);
    command.insert("scope".to_string(), Value::from("project"));
    let result = give_project(context, "deactivate_skill", command.into())?;
    let skill = result.get("skill").and_then(Value::as_str).unwrap_or_default();
    if context.out.json {
        context.out.value(&result);
    } else {
        context.out.line(format_args!("{} is no longer in force in this project", skill.bold()));
        context.out.line("  runs that began because of it end with the next event of their session");
    }
    Ok(Exit::Done)
}
