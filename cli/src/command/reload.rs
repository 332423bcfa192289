//! `phasegate reload`: applies the current configs to live sessions.

use owo_colors::OwoColorize as _;
use phasegate_core::event::By;
use phasegate_core::policy::Mode;
use phasegate_runtime::reload::Reload;
use phasegate_runtime::{Project, Runtime};
use phasegate_shell::Readers;
use serde_json::{Value, json};

use super::control::{Target, give, in_full};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate reload`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only this session; default: every session that has not ended and was active in the last day
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Show what would change and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Shows what changes for each session, and changes it. Live runs keep the version of their skill.
///
/// # Errors
///
/// The configs have errors, the session is unknown, or the command counts as the agent's.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?;
    let session = in_full(&project, args.session.as_ref())?;
    let all = runtime.reloads(&project, session.as_deref())?;
    if let (Some(id), true) = (&session, all.is_empty()) {
        return Err(Failure::new(format!("no session `{id}` is known in `{}`", project.root.display()))
            .with_help("`phasegate status` lists the sessions of a project"));
    }
    let (less, unjudged) = (runtime.weaker(&project)?, runtime.unjudged(&project)?);
    let due: Vec<_> = all.iter().filter(|reload| !reload.is_empty()).collect();
    for reload in &due {
        if !args.dry_run {
            give(context, &Target { session: Some(reload.session.clone()) }, "reload", Value::Null)?;
        }
        if !context.out.json {
            print(context, reload);
        }
    }
    if !args.dry_run {
        accept(
            context,
            &runtime,
            &project,
            &[("the configs ask for less than before", less), ("calls ran unjudged", unjudged)],
        )?;
    }
    finish(args, context, &due);
    Ok(Exit::Done)
}

/// Accepts what a person must accept: that the configs ask for less than before, and that calls ran unjudged. A session
/// that read the configs anew has accepted it already.
fn accept(context: &Context, runtime: &Runtime, project: &Project, all: &[(&str, Vec<String>)]) -> Result<(), Failure> {
    if all.iter().all(|(_, what)| what.is_empty()) || runtime.command_by(project)? != By::Human {
        return Ok(());
    }
    runtime.accept(project)?;
    for (why, what) in all.iter().filter(|(_, what)| !what.is_empty() && !context.out.json) {
        context.out.line(format_args!("accepted, though {why}: {}", what.join("; ")));
    }
    Ok(())
}

fn finish(args: &Args, context: &Context, due: &[&Reload]) {
    let out = context.out;
    if out.json {
        let sessions: Vec<_> = due.iter().map(|reload| as_json(reload)).collect();
        out.value(&json!({"dry_run": args.dry_run, "sessions": sessions}));
    } else if due.is_empty() {
        out.line("nothing to reload: every session uses the current configs");
    } else if args.dry_run {
        out.line("nothing was changed (`--dry-run`)");
    } else {
        out.line(
            "reloaded; live runs keep the version of their skill until they end (`phasegate deactivate` ends one)",
        );
    }
}

fn print(context: &Context, reload: &Reload) {
    let out = context.out;
    out.line(format_args!("session {}", reload.session.bold()));
    for (sign, names) in [
        ("+".green().to_string(), &reload.added),
        ("-".red().to_string(), &reload.removed),
        ("~".yellow().to_string(), &reload.changed),
    ] {
        names.iter().for_each(|name| out.line(format_args!("  {sign} skill {name}")));
    }
    if let Some((now, then)) = &reload.mode {
        out.line(format_args!("  {} mode {} -> {}", "~".yellow(), mode(*now), mode(*then)));
    }
    if let Some((now, then)) = &reload.audit_log {
        let path = |path: &Option<String>| path.clone().unwrap_or_else(|| "none".to_string());
        out.line(format_args!("  {} audit log {} -> {}", "~".yellow(), path(now), path(then)));
    }
    for readers in &reload.distrusted {
        let readers = match readers {
            Readers::Repository => "programs that obey files of the repository",
            Readers::Modules => "`python3 -m` and what it loads",
            Readers::Packages => "`npx` and what it starts",
            Readers::Programs => "programs",
            Readers::Commands => "commands",
        };
        out.line(format_args!("  {} {readers} are trusted again to only read", "~".yellow()));
    }
    for server in &reload.unproven {
        out.line(format_args!("  {} results of the MCP server {server} are evidence again", "~".yellow()));
    }
    for skill in &reload.kept {
        out.line(format_args!("    the run of {skill} keeps the version it began with"));
    }
}

fn mode(mode: Option<Mode>) -> &'static str {
    match mode {
        None => "not set",
        Some(Mode::Warn) => "warn",
        Some(Mode::Block) => "block",
    }
}

fn as_json(reload: &Reload) -> Value {
    let pair = |now: Value, then: Value| json!({"now": now, "then": then});
    json!({
        "session": reload.session,
        "from": reload.from,
        "to": reload.to,
        "added": reload.added,
        "removed": reload.removed,
        "changed": reload.changed,
        "mode": reload.mode.map(|(now, then)| pair(json!(now), json!(then))),
        "distrusted": reload.distrusted,
        "unproven": reload.unproven,
        "audit_log": reload.audit_log.as_ref().map(|(now, then)| pair(json!(now), json!(then))),
        "kept": reload.kept,
    })
}
