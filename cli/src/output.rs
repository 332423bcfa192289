//! Output: text or JSON on standard output, failures on standard error, colours only where they are wanted.
//!
//! A reader that goes away early is not a failure, so errors of writing are dropped.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write as _;

use owo_colors::OwoColorize as _;
use phasegate_adapter::Problem;
use phasegate_core::Code;
use phasegate_core::values::canonical::Sorted;
use phasegate_core::values::one_line::{is_hidden, one_line};
use serde_json::{Value, json};

use crate::exit::Exit;

/// Where a command's answer goes.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Whether the answer is JSON.
    pub json: bool,
}

/// Why a command could not give its answer.
#[derive(Clone, Debug)]
pub struct Failure {
    /// How the program ends.
    pub exit: Exit,
    /// The stable code, where there is one.
    pub code: Option<Code>,
    /// What is wrong, as a fragment without a full stop.
    pub message: String,
    /// What to do about it, as a sentence without a full stop.
    pub help: Option<String>,
}

impl Failure {
    /// A failure without a code.
    pub fn new(message: impl Into<String>) -> Self {
        Self { exit: Exit::Failed, code: None, message: message.into(), help: None }
    }

    /// A failure with what to do about it.
    #[must_use]
    pub fn with_help(self, help: impl Into<String>) -> Self {
        Self { help: Some(help.into()), ..self }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        let help = Some(problem.remedy().to_string());
        Self { exit: Exit::Failed, code: Some(problem.code), message: problem.message, help }
    }
}

impl Output {
    /// Prints a line of text; colours are taken out where they are not wanted.
    pub fn line(&self, text: impl Display) {
        let _ = writeln!(anstream::stdout(), "{}", plain(&text.to_string()));
    }

    /// Prints a line of text to standard error.
    pub fn note(&self, text: impl Display) {
        let _ = writeln!(anstream::stderr(), "{}", plain(&text.to_string()));
    }

    /// Prints a JSON value.
    pub fn value(&self, value: &Value) {
        let _ = writeln!(anstream::stdout(), "{:#}", Sorted(value));
    }

    /// Prints a JSON value where JSON is asked for; whether it is.
    pub fn value_if_asked(&self, value: &Value) -> bool {
        if self.json {
            self.value(value);
        }
        self.json
    }

    /// Prints one of several JSON values, on a line of its own (JSON Lines).
    pub fn row(&self, value: &Value) {
        self.line(Sorted(value));
    }

    /// Prints a failure to standard error. Where the answer would have been JSON it is one object, the only form that a
    /// failure has there: `{"error": {"code", "message", "help"}}`, of which `code` and `help` may be `null`.
    pub fn failure(&self, failure: &Failure) {
        if self.json {
            let error = json!({"code": failure.code, "message": failure.message, "help": failure.help});
            let _ = writeln!(anstream::stderr(), "{:#}", Sorted(&json!({"error": error})));
            return;
        }
        let code = failure.code.map(|code| format!("[{code}]")).unwrap_or_default();
        self.note(format_args!("{}{}: {}", "error".red().bold(), code.red(), failure.message));
        if let Some(help) = &failure.help {
            self.note(format_args!("  {} {}", "help:".cyan(), to_a_person(help)));
        }
    }
}

/// The text with everything escaped that would hide or move some of it, but colours and ends of lines.
fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|letter| is_hidden(letter) && letter != '\n') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(letter) = rest.chars().next() {
        let (taken, after) = rest.split_at(colour(rest).unwrap_or(letter.len_utf8()));
        if taken.len() > 1 && letter == '\u{1b}' || matches!(letter, '\n' | '\t') {
            shown.push_str(taken);
        } else {
            shown.push_str(&one_line(taken));
        }
        rest = after;
    }
    Cow::Owned(shown)
}

/// The length of the sequence at the beginning of a text that sets a colour.
fn colour(text: &str) -> Option<usize> {
    let digits = text.strip_prefix("\u{1b}[")?;
    let end = digits.find(|letter: char| !(letter.is_ascii_digit() || letter == ';'))?;
    digits.get(end..)?.starts_with('m').then(|| end.saturating_add(3))
}

/// A remedy as it is said to the user, whom the agent is told to ask.
pub(crate) fn to_a_person(remedy: &str) -> String {
    remedy.replace("ask the user to ", "").replace("Ask the user to ", "")
}

/// A span of time in its largest whole unit.
pub(crate) fn duration(span: std::time::Duration) -> String {
    match span.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min", seconds / 60),
        seconds @ 3600..86_400 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / 86_400),
    }
}
