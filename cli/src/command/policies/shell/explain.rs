//! `phasegate shell explain 'LINE'`.

use owo_colors::OwoColorize as _;
use phasegate_core::calls::analysis::{Access, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Piece, judge};
use serde_json::json;

use super::trust::{TrustArgs, knowledge};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate shell explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command, as one argument
    #[arg(value_name = "LINE", allow_hyphen_values = true)]
    pub line: String,
    /// How far repositories are trusted.
    #[command(flatten)]
    pub trust: TrustArgs,
}

/// Shows what a line would do.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (table, trust) = knowledge(args.trust, context);
    let judgement = judge(&args.line, &table, trust);
    if context.out.json {
        context.out.value(&json!(judgement));
    } else {
        show(&args.line, &judgement, context);
    }
    Ok(if judgement.verdict == Verdict::Read { Exit::Done } else { Exit::No })
}

fn show(line: &str, judgement: &Judgement, context: &Context) {
    context.out.line(format_args!("{}: {}", word(judgement.verdict), judgement.because));
    marked(line, judgement.span.0, judgement.span.1, context);
    if !judgement.parts.is_empty() {
        context.out.line("parts");
    }
    for part in &judgement.parts {
        let text = text_of(line, part);
        context.out.line(format_args!("  {:8} {}  {}", word(part.command.verdict), text.bold(), part.because));
    }
    if !judgement.touches.is_empty() {
        context.out.line("paths");
    }
    for touch in &judgement.touches {
        let access = match touch.access {
            Access::Read => "read",
            Access::Write => "write",
            Access::Remove => "remove",
            Access::Execute => "execute",
        };
        context.out.line(format_args!("  {access:8} {}", shown(&touch.path)));
    }
}

/// A verdict as a word.
fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Read => "read",
        Verdict::Write => "write",
        Verdict::Execute => "execute",
        Verdict::Send => "send",
        Verdict::Unknown => "unknown",
    }
}

/// The row of the line that a span is in, with the span underlined.
fn marked(line: &str, start: u32, end: u32, context: &Context) {
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let end = usize::try_from(end).unwrap_or(usize::MAX);
    let (Some(before), Some(inside)) = (line.get(..start), line.get(start..end)) else { return };
    if inside.is_empty() {
        return;
    }
    let lead = before.rsplit('\n').next().unwrap_or("");
    let row_start = before.len().saturating_sub(lead.len());
    let row = line.get(row_start..).unwrap_or("").split('\n').next().unwrap_or("");
    let width = inside.split('\n').next().unwrap_or("").chars().count().max(1);
    let indent: String = lead.chars().map(|character| if character == '\t' { '\t' } else { ' ' }).collect();
    context.out.line(format_args!("  {row}"));
    context.out.line(format_args!("  {indent}{}", "^".repeat(width).yellow()));
}

/// A part as it stands in the line, in one row.
fn text_of(line: &str, part: &Part) -> String {
    let (start, end) = part.command.span;
    let range = usize::try_from(start).unwrap_or(0)..usize::try_from(end).unwrap_or(0);
    let text = line.get(range).unwrap_or("").split_whitespace().collect::<Vec<_>>().join(" ");
    let known = text.chars().count() <= 60;
    if known { text } else { text.chars().take(57).chain("...".chars()).collect() }
}

/// A path with signs for what is not known of it.
fn shown(path: &Pattern) -> String {
    path.0
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Any | Piece::Tree => "…",
            Piece::Glob => "*",
            Piece::Home => "~",
        })
        .collect()
}
