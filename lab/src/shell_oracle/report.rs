//! The report: a table for people, an object for programs.

use std::collections::BTreeMap;
use std::time::Duration;

use owo_colors::OwoColorize;
use serde::Serialize;

use super::corpus::{HARMLESS, names};
use super::score::Scored;

/// The name of the mutation test's rows.
pub(super) const MUTATIONS: &str = "mutations";

/// Counts of one corpus.
#[derive(Default, Serialize)]
pub(super) struct Counts {
    /// Lines.
    lines: usize,
    /// Lines that bash can read.
    valid: usize,
    /// Lines that asked for programs that are not there.
    not_run: usize,
    /// Lines that the time limit ended; what they did until then counts.
    timed_out: usize,
    /// Lines that really changed something.
    wrote: usize,
    /// Lines that were judged `read`.
    read: usize,
    /// Of those that really changed something, those judged `read`.
    wrote_and_read: usize,
    /// Lines judged `read` that did anything that reading does not.
    wrong: usize,
    /// Lines that ran whole and did nothing but read.
    harmless: usize,
    /// Of those, the ones not judged `read`.
    harmless_blocked: usize,
}

/// Everything that was found.
#[derive(Serialize)]
pub(super) struct Report<'a> {
    pub(super) counts: BTreeMap<&'static str, Counts>,
    /// Programs that were missing, with how many lines asked for each.
    pub(super) missing: BTreeMap<&'a str, usize>,
    /// How long one judgement took on average, in microseconds.
    pub(super) microseconds: f64,
    pub(super) seconds: f64,
    pub(super) wrong: Vec<&'a Scored>,
    /// Lines of the harmless corpus that ran whole, did nothing, and were not judged `read`.
    pub(super) blocked: Vec<&'a Scored>,
    /// Every line of the corpora.
    pub(super) lines: Vec<&'a Scored>,
}

/// Counts what was found.
pub(super) fn report(scored: &[Scored], time: Duration) -> Report<'_> {
    let mut counts: BTreeMap<&'static str, Counts> = BTreeMap::new();
    let mut missing: BTreeMap<&str, usize> = BTreeMap::new();
    for one in scored {
        counts.entry(one.corpus).or_default().add(one);
        for name in one.missing.iter().filter(|_| is_written(one)) {
            *missing.entry(name).or_default() += 1;
        }
    }
    let judged: Duration = scored.iter().map(|one| one.judged_in).sum();
    let blocked = |one: &&Scored| one.corpus == HARMLESS && one.ran() && one.effects.is_empty() && !one.is_read();
    Report {
        counts,
        missing,
        microseconds: judged.as_secs_f64() * 1e6 / f64::from(u32::try_from(scored.len().max(1)).unwrap_or(u32::MAX)),
        seconds: time.as_secs_f64(),
        wrong: scored.iter().filter(|one| !one.wrong.is_empty()).collect(),
        blocked: scored.iter().filter(blocked).collect(),
        lines: scored.iter().filter(|one| is_written(one)).collect(),
    }
}

/// Whether somebody wrote the line.
fn is_written(one: &Scored) -> bool {
    names().any(|name| name == one.corpus) || one.corpus == "file"
}

impl Counts {
    fn add(&mut self, one: &Scored) {
        let wrote = !one.effects.is_empty();
        let harmless = one.ran() && !wrote && !one.timed_out;
        for (count, holds) in [
            (&mut self.lines, true),
            (&mut self.valid, one.valid),
            (&mut self.not_run, one.valid && !one.missing.is_empty()),
            (&mut self.timed_out, one.timed_out),
            (&mut self.wrote, wrote),
            (&mut self.read, one.is_read()),
            (&mut self.wrote_and_read, wrote && one.is_read()),
            (&mut self.wrong, !one.wrong.is_empty()),
            (&mut self.harmless, harmless),
            (&mut self.harmless_blocked, harmless && !one.is_read()),
        ] {
            *count += usize::from(holds);
        }
    }
}

impl Report<'_> {
    /// The table.
    pub(super) fn print(&self) {
        let heads = ["lines", "valid", "not run", "too long", "wrote", "judged read", "wrote, read", "wrong"];
        anstream::println!("{:<13}{}", "", heads.map(|head| format!("{head:>12}")).concat().bold());
        let first: Vec<&str> = names().chain([MUTATIONS]).collect();
        let rest = self.counts.keys().copied().filter(|name| !first.contains(name));
        for name in first.iter().copied().chain(rest) {
            let Some(counts) = self.counts.get(name) else { continue };
            let cells = [counts.lines, counts.valid, counts.not_run, counts.timed_out, counts.wrote, counts.read];
            let cells = cells.map(|cell| format!("{cell:>12}")).concat();
            let bad = [counts.wrote_and_read, counts.wrong].map(|cell| format!("{cell:>12}")).concat();
            let bad = if counts.wrong == 0 { bad.green().to_string() } else { bad.red().to_string() };
            anstream::println!("{name:<13}{cells}{bad}");
        }
        if let Some(counts) = self.counts.get(HARMLESS) {
            let (blocked, harmless) = (counts.harmless_blocked, counts.harmless);
            anstream::println!(
                "\n{HARMLESS}: {blocked} of {harmless} that ran whole and only read are not judged `read`"
            );
        }
        let missing: Vec<String> = self.missing.iter().map(|(name, count)| format!("{name} {count}")).collect();
        if !missing.is_empty() {
            anstream::println!("not run, for want of: {}", missing.join(", "));
        }
        anstream::println!(
            "{:.1} s; judging took {:.1} microseconds a line in this build",
            self.seconds,
            self.microseconds
        );
        for one in &self.wrong {
            anstream::println!("\n{} {}/{}", "wrongly judged `read`:".red().bold(), one.corpus, one.id);
            anstream::println!("  {:?}\n  really: {}", one.cmd, one.wrong.join("; "));
        }
    }
}
