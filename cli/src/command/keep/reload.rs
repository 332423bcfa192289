//! `phasegate reload`: applies the current configs to live sessions.

use owo_colors::OwoColorize as _;
use phasegate_core::policy::Mode;
use phasegate_runtime::clients::alarm::Alarm;
use phasegate_runtime::policies::accepted_configs::Offer;
use phasegate_runtime::policies::reload::Reload;
use phasegate_runtime::{Project, Runtime};
use phasegate_shell::Readers;
use serde_json::{Value, json};

use crate::command::runs::control::{Target, give, in_full, no_session, refused_to_agent};
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
    let (runtime, project) = context.runtime_and_project()?;
    let session = in_full(&project, args.session.as_ref())?;
    let all = runtime.reloads(&project, session.as_deref())?;
    if let (Some(id), true) = (&session, all.is_empty()) {
        return Err(no_session(&project, id));
    }
    let (servers, alarms) = (runtime.other_servers(&project)?, runtime.alarms(&project)?);
    let alarms: Vec<String> = alarms.iter().map(Alarm::text).collect();
    let programs = runtime.other_programs(&project)?;
    // What was accepted and is gone is no reason to accept nothing anew.
    let offer = runtime.offer(&project).unwrap_or(None);
    let due: Vec<_> = all.iter().filter(|reload| !reload.is_empty()).collect();
    for reload in &due {
        if !args.dry_run {
            give(context, &Target { session: Some(reload.session.clone()) }, "reload", Value::Null)?;
        }
        if !context.out.json {
            print(context, reload);
        }
    }
    let difference = offer.as_ref().map(|offer| offer.difference.clone()).unwrap_or_default();
    let what = [
        ("the configs", difference),
        ("how servers are started", servers),
        ("what went past the guard", alarms),
        ("which program answers", programs),
    ];
    let what: Vec<_> = what.into_iter().filter(|(_, what)| !what.is_empty()).collect();
    if !args.dry_run {
        accept(&runtime, &project, what.is_empty())?;
    }
    for (name, what) in what.iter().filter(|_| !context.out.json) {
        let word = if args.dry_run { "waits" } else { "accepted" };
        context.out.line(format_args!("{word}: {name}: {}", what.join("; ")));
    }
    let found = Found { due, offer, nothing: what.is_empty() };
    finish(args, context, &found);
    Ok(Exit::Done)
}

/// What there is to reload and to accept.
struct Found<'a> {
    due: Vec<&'a Reload>,
    offer: Option<Offer>,
    /// Whether nothing waits for a person.
    nothing: bool,
}

/// Accepts what is there, for new sessions too. A session that read the configs anew has accepted them already.
fn accept(runtime: &Runtime, project: &Project, nothing: bool) -> Result<(), Failure> {
    match runtime.sign_of_an_agent(project)? {
        Some(_) if nothing => Ok(()),
        Some(sign) => Err(refused_to_agent("reload", &sign)),
        None => Ok(runtime.accept(project)?),
    }
}

fn finish(args: &Args, context: &Context, found: &Found<'_>) {
    let out = context.out;
    if out.json {
        let sessions: Vec<_> = found.due.iter().map(|reload| as_json(reload)).collect();
        let offer = found.offer.as_ref().map(|offer| json!({"difference": offer.difference, "digest": offer.digest}));
        out.value(&json!({"dry_run": args.dry_run, "sessions": sessions, "offer": offer}));
    } else if found.due.is_empty() && found.nothing {
        out.line("nothing to reload: every session uses the current configs");
    } else if args.dry_run {
        out.line("nothing was changed (`--dry-run`)");
    } else if !found.due.is_empty() {
        out.line("reloaded; live runs keep the version of their skill until they end (`phasegate end` ends one)");
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
    for readers in reload.distrusted.iter().map(|readers| trusted(*readers)) {
        out.line(format_args!("  {} {readers} are trusted again to only read", "~".yellow()));
    }
    for server in &reload.unproven {
        out.line(format_args!("  {} results of the MCP server {server} are evidence again", "~".yellow()));
    }
    if reload.texts {
        let what = "skills, commands and agents are loaded again: their files changed";
        out.line(format_args!("  {} {what}", "~".yellow()));
    }
    for skill in &reload.kept {
        out.line(format_args!("    the run of {skill} keeps the version it began with"));
    }
}

/// Whom a session trusts to only read, or does not any more.
pub(crate) fn trusted(readers: Readers) -> &'static str {
    match readers {
        Readers::Repository => "programs that obey files of the repository",
        Readers::Packages => "`npx` and what it starts",
        Readers::Programs => "programs",
        Readers::Commands => "commands",
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
        "texts": reload.texts,
        "audit_log": reload.audit_log.as_ref().map(|(now, then)| pair(json!(now), json!(then))),
        "kept": reload.kept,
    })
}
