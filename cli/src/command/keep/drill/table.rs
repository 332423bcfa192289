//! What came of a drill, as a table and as JSON.

use std::fmt::Display;

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};

use super::plan::Trial;
use super::session::Seen;
use crate::output::Output;

/// The drill of one client.
pub(super) struct Drilled {
    pub(super) id: &'static str,
    pub(super) version: String,
    pub(super) seconds: u64,
    pub(super) rows: Vec<Row>,
}

/// What came of calls that are about one thing.
pub(super) struct Row {
    about: String,
    state: State,
    calls: Vec<Called>,
    note: String,
}

/// A call and what came of it.
struct Called {
    words: String,
    runs: bool,
    seen: Seen,
}

/// What a row shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Each call came out as it must.
    Ok,
    /// Nothing was to be shown; the note says why.
    Told,
    /// A call ran, as it does in this client whatever is set up.
    Limit,
    /// A call did not run that must.
    Broken,
    /// A call ran that must be denied.
    Hole,
}

impl State {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Told => "note",
            Self::Limit => "limit",
            Self::Broken => "broken",
            Self::Hole => "hole",
        }
    }
}

impl Called {
    /// Whether the client's own permissions refuse a call that the guard would let run.
    fn is_refused(&self) -> bool {
        // The call's own words have the name too.
        let of_guard = |read: &str| read.replace("phasegate-drill", "").contains("phasegate");
        let of_client = |read: &String| read.to_ascii_lowercase().contains("permission") && !of_guard(read);
        self.runs && !self.seen.ran && self.seen.read.as_ref().is_some_and(of_client)
    }
}

impl Drilled {
    /// Whether a row is not as it must be.
    pub(super) fn is_open(&self) -> bool {
        self.rows.iter().any(Row::is_open)
    }
}

impl Row {
    /// Nothing was to be shown.
    pub(super) fn told(about: &str, note: &str) -> Self {
        Self { about: about.to_owned(), state: State::Told, calls: Vec::new(), note: note.to_owned() }
    }

    /// Nothing could be tried.
    pub(super) fn broken(about: &str, why: &impl Display) -> Self {
        Self { about: about.to_owned(), state: State::Broken, calls: Vec::new(), note: why.to_string() }
    }

    /// A row for each thing that the calls are about.
    pub(super) fn of(all: impl Iterator<Item = (Trial, Seen)>) -> Vec<Self> {
        let mut rows: Vec<Self> = Vec::new();
        for (trial, seen) in all {
            let about = trial.about.clone();
            let call = Called { words: trial.words(), runs: trial.runs, seen };
            match rows.iter_mut().find(|row| row.about == about) {
                Some(row) => row.calls.push(call),
                None => rows.push(Self { about, state: State::Ok, calls: vec![call], note: String::new() }),
            }
        }
        rows.iter_mut().for_each(Self::judge);
        rows
    }

    /// A call that the client never made shows nothing; one that the client's own permissions refuse says nothing of the guard.
    fn judge(&mut self) {
        let refused = self.calls.iter().position(Called::is_refused);
        if let Some(call) = refused.map(|at| self.calls.remove(at)) {
            self.calls.retain(|call| !call.is_refused());
            (self.state, self.note) =
                (State::Told, format!("{} is refused by the client's own permissions", call.words));
        }
        let wrong = |call: &&Called| call.runs != call.seen.ran || call.seen.read.is_none();
        let Some(call) = self.calls.iter().filter(wrong).max_by_key(|call| call.seen.ran && !call.runs) else { return };
        self.state = if call.seen.ran && !call.runs { State::Hole } else { State::Broken };
        let read = call.seen.read.as_deref().unwrap_or("the client did not make the call, or waited for the guard");
        let first = read.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
        self.note = match self.state {
            State::Hole => format!("{} ran, and must be denied", call.words),
            _ => format!("{} must {}: {first}", call.words, if call.runs { "run" } else { "be denied" }),
        };
    }

    /// A hole that no installation closes; the client may also wait longer than is waited for it.
    pub(super) fn limited(&mut self, about: &str, why: &str) {
        if self.about == about && self.is_open() {
            self.state = State::Limit;
            self.note = why.to_owned();
        }
    }

    /// Whether it is not as it must be.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Hole | State::Broken)
    }

    fn json(&self) -> Value {
        let call = |call: &Called| json!({"call": call.words, "must_run": call.runs, "ran": call.seen.ran, "read": call.seen.read});
        let calls: Vec<_> = self.calls.iter().map(call).collect();
        json!({"about": self.about, "state": self.state.word(), "note": self.note, "calls": calls})
    }
}

/// Prints what came of all clients.
pub(super) fn print(out: Output, all: &[Drilled], verbose: bool, with_arguments: bool) {
    if out.json {
        let client = |drilled: &Drilled| {
            let rows: Vec<_> = drilled.rows.iter().map(Row::json).collect();
            json!({
                "client": drilled.id, "version": drilled.version, "seconds": drilled.seconds, "rows": rows,
                "open": drilled.is_open(),
            })
        };
        out.value(&all.iter().map(client).collect());
        return;
    }
    for drilled in all {
        let Drilled { id, version, seconds, rows } = drilled;
        out.line(format_args!("{} {version}, {seconds} s", id.bold()));
        rows.iter().for_each(|row| line(out, row, verbose));
    }
    let open = all.iter().flat_map(|drilled| &drilled.rows).filter(|row| row.is_open()).count();
    let denied = all.iter().flat_map(|drilled| &drilled.rows).flat_map(|row| &row.calls).any(|call| !call.runs);
    let advice = if with_arguments {
        "drill it without the arguments behind `--` too: one of them may switch hooks off"
    } else {
        "`phasegate doctor` says what is set up wrong"
    };
    let told = match open {
        0 if !denied => {
            "no call was to be denied, so this shows nothing; in warn mode every call runs".yellow().to_string()
        }
        0 => "the guard bites here".green().to_string(),
        1 => format!("1 row is not as it must be; {advice}").red().to_string(),
        count => format!("{count} rows are not as they must be; {advice}").red().to_string(),
    };
    out.line(told);
}

fn line(out: Output, row: &Row, verbose: bool) {
    let word = format!("{:<6}", row.state.word());
    let word = match row.state {
        State::Ok => word.green().to_string(),
        State::Told => word.cyan().to_string(),
        State::Limit => word.yellow().to_string(),
        State::Broken | State::Hole => word.red().bold().to_string(),
    };
    let count = |runs: bool| row.calls.iter().filter(|call| call.runs == runs && call.seen.ran == runs).count();
    let counts = match row.calls.len() {
        0 => String::new(),
        _ => format!(" ({} denied, {} ran)", count(false), count(true)),
    };
    let note = if row.note.is_empty() { String::new() } else { format!(": {}", row.note) };
    out.line(format_args!("  {word} {}{counts}{note}", row.about));
    for call in row.calls.iter().filter(|_| verbose) {
        let ran = if call.seen.ran { "ran" } else { "did not run" };
        let read = call.seen.read.as_deref().unwrap_or_default().lines().next().unwrap_or_default();
        out.line(format_args!("           {} {ran}: {read}", call.words));
    }
}
