//! The client in a terminal: what a person would type, when the screen shows what it waits for.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::record::later::Typed;
use crate::record::scratch::Scratch;
use xtask::failure::{Failure, Result};

/// How long the screen may take to show what is waited for.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a person's hands take between two keys that matter.
const PAUSE: Duration = Duration::from_millis(500);

/// Lets the client live in a terminal, which `script` of util-linux gives it, until it ends by itself.
///
/// # Errors
///
/// The screen never shows what is waited for, or the client cannot be run.
pub(crate) fn live(client: &Command, typed: &[Typed], scratch: &Scratch) -> Result {
    let failed = |error: std::io::Error| Failure::new(format!("the terminal: {error}"));
    let words = std::iter::once(client.get_program()).chain(client.get_args());
    let line: Vec<String> = words.map(|word| format!("'{}'", word.to_string_lossy().replace('\'', r"'\''"))).collect();
    let mut terminal = scratch.command(Path::new("script"));
    terminal.args(["-qfec", &format!("stty rows 50 cols 160; exec {}", line.join(" ")), "/dev/null"]);
    for (name, value) in client.get_envs() {
        match value {
            Some(value) => terminal.env(name, value),
            None => terminal.env_remove(name),
        };
    }
    terminal.env("TERM", "xterm-256color").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = terminal.spawn().map_err(failed)?;
    let screen = watch(&mut child);
    let mut keys = child.stdin.take().ok_or_else(|| Failure::new("the terminal takes no keys"))?;
    for one in typed {
        if let Err(failure) = shown(&screen, &one.sees) {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Err(failure);
        }
        std::thread::sleep(PAUSE + Duration::from_millis(one.after_ms));
        text(&screen).clear();
        for part in [one.types.as_bytes(), b"\r"] {
            keys.write_all(part).and_then(|()| keys.flush()).map_err(failed)?;
            std::thread::sleep(PAUSE);
        }
    }
    crate::record::client::wait(&mut child)
}

type Screen = Arc<Mutex<String>>;

fn text(screen: &Screen) -> std::sync::MutexGuard<'_, String> {
    screen.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Everything that is shown, from now on, without spaces and control sequences.
fn watch(child: &mut Child) -> Screen {
    let screen = Screen::default();
    if let Some(mut out) = child.stdout.take() {
        let screen = Arc::clone(&screen);
        std::thread::spawn(move || {
            let (mut buffer, mut plain) = ([0; 8192], Plain::default());
            while let Ok(read @ 1..) = out.read(&mut buffer) {
                let new = String::from_utf8_lossy(buffer.get(..read).unwrap_or_default()).into_owned();
                text(&screen).extend(new.chars().filter(|letter| plain.keeps(*letter)));
            }
        });
    }
    screen
}

fn shown(screen: &Screen, wanted: &str) -> Result {
    let wanted: String = wanted.split_whitespace().collect();
    let started = Instant::now();
    while !text(screen).contains(&wanted) {
        if started.elapsed() > PATIENCE {
            return Err(Failure::new(format!("the screen does not show `{wanted}` but `{}`", text(screen))));
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

/// Leaves out spaces and control sequences, one letter after the other.
#[derive(Default)]
enum Plain {
    #[default]
    Text,
    Escape,
    /// Within a sequence that a letter ends.
    Sequence,
    /// Within a text for the terminal itself, which a bell or another escape ends.
    Title,
}

impl Plain {
    fn keeps(&mut self, letter: char) -> bool {
        *self = match (&self, letter) {
            (Self::Text, '\u{1b}') => Self::Escape,
            (Self::Text, letter) => return !letter.is_whitespace() && !letter.is_control(),
            (Self::Escape, '[') => Self::Sequence,
            (Self::Escape, ']') => Self::Title,
            (Self::Escape, '(' | ')') => Self::Escape,
            (Self::Sequence, '@'..='~') | (Self::Escape, _) | (Self::Title, '\u{7}') => Self::Text,
            (Self::Sequence, _) => Self::Sequence,
            (Self::Title, '\u{1b}') => Self::Escape,
            (Self::Title, _) => Self::Title,
        };
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Plain;

    #[test]
    fn only_what_is_read_is_kept() {
        let mut plain = Plain::default();
        let screen = "\u{1b}[1;32mhello\u{1b}[0m \u{1b}]0;a title\u{7}wor\u{1b}(Bld\r\n";
        assert_eq!(screen.chars().filter(|letter| plain.keeps(*letter)).collect::<String>(), "helloworld");
    }
}
