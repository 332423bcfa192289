//! What became of a phase, and conditions as a drawing has them.

/// The most characters of a condition in a box.
const MAX_NOTE_CHARS: usize = 100;

/// What became of a phase or a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// No run stands there, or it comes later.
    Ahead,
    Done,
    Skipped,
    Current,
    Failed,
}

impl State {
    /// The state with this word in the answer to `runs`.
    pub(super) fn of(word: &str) -> Self {
        match word {
            "current" | "live" => Self::Current,
            "done" | "finished" => Self::Done,
            "skipped" => Self::Skipped,
            "failed" | "left" => Self::Failed,
            _ => Self::Ahead,
        }
    }

    /// The name of the style of a drawing.
    pub(super) fn style(self) -> &'static str {
        match self {
            Self::Ahead => "ahead",
            Self::Done => "done",
            Self::Skipped => "skipped",
            Self::Current => "current",
            Self::Failed => "failed",
        }
    }
}

/// A condition in a box.
pub(super) fn note(text: &str) -> String {
    shortened(text, MAX_NOTE_CHARS)
}

/// The beginning of a text that is long, as a picture has it.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let text = text.replace('`', "");
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default().trim_end()),
        None => text,
    }
}
