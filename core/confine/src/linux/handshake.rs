//! How the process inside says whether it got as far as the command.

use std::fs::{self, File};
use std::io::{self, Seek as _, Write as _};
use std::path::Path;

use crate::error::{Error, Result, Step as _};

/// The file in the work folder that says it.
const NAME: &str = "begun";

/// The side that says it.
pub(super) struct Teller(File);

impl Teller {
    /// Opens the file, before the process loses the right to.
    pub(super) fn open(work: &Path) -> Result<Self> {
        File::create(work.join(NAME)).map(Self).step("open a file in the work folder")
    }

    /// The command is about to begin, or has begun.
    pub(super) fn begun(&mut self) {
        self.say("begun");
    }

    /// The command did not begin.
    pub(super) fn failed(&mut self, error: &Error) {
        match error {
            Error::Refused { step, cause } => self.say(&format!("refused\n{step}\n{cause}")),
            Error::Unsupported(text) => self.say(&format!("refused\nconfine\n{text}")),
            Error::Start { program, cause } => {
                self.say(&format!("start\n{program}\n{}", cause.raw_os_error().unwrap_or_default()));
            }
        }
    }

    fn say(&mut self, text: &str) {
        let _ = self.0.rewind();
        let _ = self.0.set_len(0);
        let _ = self.0.write_all(text.as_bytes());
    }
}

/// What was said.
pub(super) fn outcome(work: &Path) -> Result<()> {
    let text = fs::read_to_string(work.join(NAME)).unwrap_or_default();
    let mut lines = text.lines();
    match lines.next() {
        Some("begun") => Ok(()),
        Some("start") => {
            let program = lines.next().unwrap_or_default().to_owned();
            let number = lines.next().and_then(|number| number.parse().ok()).unwrap_or_default();
            Err(Error::Start { program, cause: io::Error::from_raw_os_error(number) })
        }
        Some("refused") => {
            let step = lines.next().unwrap_or_default().to_owned();
            Err(Error::refused(step, lines.collect::<Vec<_>>().join(" ")))
        }
        _ => Err(Error::refused("begin", "the confined process ended before it said anything")),
    }
}
