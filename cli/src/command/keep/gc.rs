//! `phasegate gc`: removes old state of ended sessions.

use std::time::Duration;

use owo_colors::OwoColorize as _;
use phasegate_runtime::operate::retention::{Kept, Removed, Report, Why, retention};
use serde_json::{Value, json};

use crate::command::runs::control::refused_to_agent;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, duration};
use crate::progress::Progress;

/// The arguments of `phasegate gc`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Only state that was last written this many days ago
    #[arg(long, value_name = "DAYS", default_value_t = 90)]
    pub older_than: u32,
    /// Show what would be removed and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Removes the journals of ended sessions, in every project, and compiled policies that no journal names. The project's
/// own journal records each removal.
///
/// # Errors
///
/// The command counts as the agent's, or something cannot be removed or recorded.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    if !args.dry_run
        && let Some(sign) = runtime.sign_of_an_agent_anywhere()?
    {
        return Err(refused_to_agent("gc", &sign));
    }
    let mut bar = Progress::new(context.out, "look at journals");
    let report = retention(&runtime.locations, DAY * args.older_than, args.dry_run, &mut |done, total| {
        bar.set(done, total);
    });
    bar.clear();
    let report = report?;
    if context.out.json {
        context.out.value(&as_json(args, &report));
    } else {
        print(context, args, &report);
    }
    Ok(Exit::Done)
}

fn print(context: &Context, args: &Args, report: &Report) {
    let out = context.out;
    for Removed { path, session, bytes, written } in &report.removed {
        let age = duration(written.elapsed().unwrap_or_default());
        let whose = session.as_ref().map(|id| format!(" of session {}", id.bold())).unwrap_or_default();
        out.line(format_args!("{} `{}`{whose} ({bytes} bytes, {age} old)", "-".red(), path.display()));
    }
    for Kept { path, session, why } in &report.kept {
        let whose = session.as_ref().map(|id| format!(" of session {}", id.bold())).unwrap_or_default();
        out.line(format_args!("{} `{}`{whose} stays: {}", "=".yellow(), path.display(), reason(why)));
    }
    let verb = if args.dry_run { "would go" } else { "went" };
    out.line(format_args!(
        "{} files with {} bytes {verb}; {} old journals stay, {} are younger than {} days",
        report.removed.len(),
        report.bytes(),
        report.kept.len(),
        report.young,
        args.older_than
    ));
}

fn reason(why: &Why) -> String {
    match why {
        Why::LiveRun => "a run in block mode is live in it".to_string(),
        Why::Damaged(problem) => problem.to_string(),
        Why::InUse => "it is in use".to_string(),
    }
}

fn as_json(args: &Args, report: &Report) -> Value {
    let removed = |removed: &Removed| {
        json!({
            "path": removed.path.display().to_string(),
            "session": removed.session,
            "bytes": removed.bytes,
            "age_seconds": removed.written.elapsed().unwrap_or_default().as_secs(),
        })
    };
    let kept = |kept: &Kept| json!({"path": kept.path.display().to_string(), "session": kept.session, "why": reason(&kept.why)});
    json!({
        "dry_run": args.dry_run,
        "removed": report.removed.iter().map(removed).collect::<Vec<_>>(),
        "kept": report.kept.iter().map(kept).collect::<Vec<_>>(),
        "young": report.young,
        "bytes": report.bytes(),
    })
}
