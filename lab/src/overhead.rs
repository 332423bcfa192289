//! `cargo xtask overhead`: what the guard adds to a call in a real client, from the client's own events.
//!
//! Two plugins that only note the time stand before and after the guard's: what passes between them is the guard's, less
//! what passes where there is none.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use serde::Deserialize;
use serde_json::json;

use crate::bench::build;
use crate::record::client::{self, Client, Stage};
use crate::record::drivers::{driver, program};
use crate::record::isolation::isolated;
use crate::record::scratch::Scratch;
use crate::record::story::{Call, Story, Turn};
use xtask::failure::{Failure, Result};
use xtask::root::{read, write};

/// The plugin that notes the time.
const MEASURE: &str = include_str!("overhead/measure.ts");
/// The clients that have plugins, by id, and where a project's are.
const PLUGINS: [(&str, &str); 2] = [("opencode", ".opencode/plugin"), ("pi", ".pi/extensions")];
/// What the guard may add at the median, in microseconds.
const TARGET: u64 = 3000;

/// Which client, and how often.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The client, by the id of its adapter.
    #[arg(value_parser = PLUGINS.map(|(id, _)| id))]
    client: String,
    /// The client's binary; without it the one that `PATH` has.
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The phasegate binary; without it the one that is installed, built now.
    #[arg(long)]
    guard: Option<PathBuf>,
    /// How many calls a session has.
    #[arg(long, default_value_t = 100)]
    calls: usize,
    /// How many sessions there are with the guard, in turn with as many without it.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Fail where more than 3 ms are added at the median.
    #[arg(long)]
    check: bool,
    #[arg(long, hide = true)]
    inside: bool,
}

/// A line of a measuring plugin.
#[derive(Deserialize)]
struct Note {
    who: String,
    what: String,
    id: String,
    /// Milliseconds of the machine's clock.
    at: f64,
}

/// What passed between the two plugins, in microseconds.
#[derive(Default)]
struct Samples {
    calls: Vec<u64>,
    results: Vec<u64>,
    both: Vec<u64>,
}

/// Measures and prints the table.
pub(crate) fn run(args: &Args) -> Result {
    if !args.inside {
        if args.guard.is_none() {
            build::guard(false)?;
        }
        return isolated("the overhead could not be measured, or is too much");
    }
    let client = driver(&args.client)?;
    let program = program(client, args.binary.as_deref())?;
    let version = client::version(client, &program)?;
    let guard = args.guard.clone().map_or_else(|| build::guard(false), Ok)?;
    let (mut without, mut with) = (Samples::default(), Samples::default());
    for _ in 0..args.rounds {
        session(client, &program, None, args.calls, &mut without)?;
        session(client, &program, Some(&guard), args.calls, &mut with)?;
    }
    let title = format!("{} {version}, {} calls, microseconds", client.id(), with.both.len());
    anstream::println!("{}", format!("{title:<44} {:>8} {:>8} {:>8} {:>8}", "without", "p95", "with", "p95").bold());
    let row = |name: &str, without: &[u64], with: &[u64]| {
        let [w50, w95, g50, g95] =
            [(without, 50), (without, 95), (with, 50), (with, 95)].map(|(all, at)| percentile(all, at));
        anstream::println!("{name:<44} {w50:>8} {w95:>8} {g50:>8} {g95:>8}");
        g50.saturating_sub(w50)
    };
    row("before the call", &without.calls, &with.calls);
    row("after it", &without.results, &with.results);
    let added = row("both", &without.both, &with.both);
    anstream::println!("added to a call at the median: {added} (at most {TARGET})");
    if args.check && added > TARGET {
        return Err(Failure::new("the guard adds too much"));
    }
    Ok(())
}

/// One session of the client, with the guard or without.
fn session(client: &dyn Client, program: &Path, guard: Option<&Path>, calls: usize, samples: &mut Samples) -> Result {
    let scratch = Scratch::new("overhead")?;
    let story = story(calls);
    scratch.project(&story, client, story.skill.as_deref())?;
    if let Some(guard) = guard {
        scratch.install(guard, &story, client)?;
    }
    let folder = PLUGINS.iter().find(|(id, _)| *id == client.id()).map(|(_, folder)| *folder).unwrap_or_default();
    for (name, who) in [("aa-measure.ts", "before"), ("zz-measure.ts", "after")] {
        write(&scratch.path("project").join(folder).join(name), &MEASURE.replace("${WHO}", who))?;
    }
    let notes = scratch.path("notes.jsonl");
    let variables = BTreeMap::from([("OVERHEAD".to_string(), notes.display().to_string())]);
    let story = Story { client_env: variables, ..story };
    client::live(client, &Stage { story: &story, scratch: &scratch, program })?;
    let before = samples.both.len();
    samples.add(&read(&notes)?)?;
    let seen = samples.both.len() - before;
    if seen < calls || samples.both.iter().all(|time| *time == 0) {
        let place = scratch.base.display();
        return Err(Failure::new(format!("{seen} of {calls} calls were seen; the scratch folder is {place}")));
    }
    scratch.remove()
}

/// The skill, then reads of a file, one a turn.
fn story(calls: usize) -> Story {
    let call = |tool: &str, input: serde_json::Value| {
        let input = input.as_object().cloned().unwrap_or_default();
        Turn { calls: vec![Call::plain(tool, input)], ..Turn::default() }
    };
    let mut turns = vec![call("Skill", json!({"skill": "lsp-refactor"}))];
    turns.extend((0..calls).map(|_| call("Read", json!({"file_path": "src/a.txt"}))));
    turns.push(Turn { text: "done".into(), ..Turn::default() });
    Story {
        mode: "block".into(),
        prompt: "MEASURE".into(),
        skill: Some("lsp-refactor".into()),
        files: BTreeMap::from([("src/a.txt".to_string(), "hello\n".to_string())]),
        turns,
        ..Story::default()
    }
}

impl Samples {
    /// Adds what a session's notes say; calls that were not seen on both sides count for nothing.
    fn add(&mut self, notes: &str) -> Result {
        let mut seen: BTreeMap<String, BTreeMap<(String, String), f64>> = BTreeMap::new();
        for line in notes.lines() {
            let Note { who, what, id, at } =
                serde_json::from_str(line).map_err(|error| Failure::new(error.to_string()))?;
            seen.entry(id).or_default().insert((what, who), at);
        }
        for times in seen.values() {
            let at = |what: &str, who: &str| times.get(&(what.to_string(), who.to_string()));
            // Which of the two comes first is the client's choice.
            let between = |what| Some(microseconds((at(what, "after")? - at(what, "before")?).abs()));
            if let (Some(call), Some(result)) = (between("call"), between("result")) {
                self.calls.push(call);
                self.results.push(result);
                self.both.push(call + result);
            }
        }
        Ok(())
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a session's microseconds fit")]
fn microseconds(milliseconds: f64) -> u64 {
    (milliseconds * 1000.0).max(0.0).round() as u64
}

/// The value below which this share of the samples lies; 0 without any.
fn percentile(samples: &[u64], share: usize) -> u64 {
    let mut sorted = samples.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) * share / 100).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_passes_between_the_two_plugins_is_counted() {
        let mut samples = Samples::default();
        let note = |who: &str, what: &str, id: &str, at: f64| {
            json!({"who": who, "what": what, "id": id, "at": at}).to_string()
        };
        let notes = [
            note("before", "call", "1", 10.0),
            note("after", "call", "1", 11.5),
            note("before", "result", "1", 20.0),
            note("after", "result", "1", 20.25),
            note("before", "call", "2", 30.0),
        ];
        samples.add(&notes.join("\n")).unwrap();
        assert_eq!((samples.calls, samples.results, samples.both), (vec![1500], vec![250], vec![1750]));
    }
}
