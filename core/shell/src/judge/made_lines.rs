//! Lines that a line makes at run time: what its programs print, where a shell reads something that nobody can see, and the
//! words after a program whose name is not known.

use phasegate_core::calls::analysis::Status;

use super::text::Runs;
use crate::expand::field::Field;
use crate::judge::guard;
use crate::parse::{self, Dialect};
use crate::script::{Doubt, Script};
use crate::walk::Walk;

/// The most texts that are kept.
const MAX_SAID: usize = 64;
/// Programs that print what they are given.
const SPEAKERS: [&str; 4] = ["echo", "printf", "print", "yes"];
/// Commands that give variables values, for other shells too.
const NAMERS: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];
/// What stands for what is not known of a text.
const VALUE: &str = "\"$VALUE\"";
/// Places of a format that other words fill.
const PLACES: [&str; 3] = ["%s", "%b", "%q"];

impl Walk<'_> {
    /// Keeps what a program prints, and the values that it gives to variables.
    pub(crate) fn say(&mut self, program: &str, words: &[Field]) {
        for field in words.iter().filter(|_| NAMERS.contains(&program)) {
            let value = field.start().find('=').map(|at| field.after(at.saturating_add(1)));
            value.into_iter().for_each(|value| self.say_text(value));
        }
        if self.said.len() < MAX_SAID && SPEAKERS.contains(&program) {
            let option = |field: &&Field| matches!(field.known(), Some("-e" | "-n" | "-E" | "-ne" | "-en" | "--"));
            self.said.push(words.iter().skip_while(option).cloned().collect());
        }
    }

    /// Keeps a text that a program gets on its standard input.
    pub(crate) fn say_text(&mut self, text: Field) {
        if self.said.len() < MAX_SAID {
            self.said.push(vec![text]);
        }
    }

    /// Where a shell reads something that nobody can see: judges all that the line says, as what it may run.
    pub(crate) fn hear(&mut self) {
        let said = std::mem::take(&mut self.said);
        if !self.listens {
            return;
        }
        let worst = self.worst_so_far();
        for words in said {
            if self.is_stopped() {
                break;
            }
            self.said_line(&Script::of(&words));
            if words.len() > 1 {
                self.lines_in(&words);
            }
        }
        self.back_to(worst);
    }

    /// Judges every line that words may be: a text with blanks, and every end that begins with a known program.
    pub(crate) fn lines_in(&mut self, words: &[Field]) {
        let status = std::mem::replace(&mut self.status, Status::Lost);
        let outer = self.wraps == 0;
        for (at, word) in words.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            let script = Script::of([word]);
            match script.text.trim() {
                text if text.contains(' ') => self.said_line(&script),
                _ if self.knows(word) => {
                    let rest = words.get(at..).unwrap_or(&[]);
                    let span = rest.last().map_or(word.span, |last| (word.span.0, last.span.1));
                    self.wrapped(rest, span);
                    if !outer {
                        break;
                    }
                }
                _ => {}
            }
        }
        self.status = status;
    }

    /// Judges a text that may be run, if it is a line at all. What its holes are, the line says elsewhere.
    pub(crate) fn said_line(&mut self, script: &Script) {
        let text = script.text.replace("\\n", "\n").replace("\\t", "\t");
        // What ends a command and a quote before it may stand at its start.
        let text = text.trim_start_matches(['\'', '"', ')', ';', '&', '|', ' ', '\n']);
        let text = PLACES.iter().fold(text.to_owned(), |text, place| text.replace(place, VALUE));
        if guard::check_script(&text).is_err()
            || parse::parse_inner(&text, Some(script.span), 0, Dialect::Bash).is_err()
        {
            return;
        }
        let status = std::mem::replace(&mut self.status, Status::Lost);
        self.script(
            &Script { text, doubt: script.doubt.min(Doubt::Words), span: script.span },
            Runs::Apart(&[]),
            Dialect::Bash,
        );
        self.status = status;
    }
}

/// Whether a path stands for the standard input, or for what a process substitution prints.
pub(crate) fn is_stream(path: &str) -> bool {
    path == "/dev/stdin" || ["/dev/fd/", "/proc/self/fd/"].iter().any(|start| path.starts_with(start))
}
