//! How the process inside says whether it got as far as the command.

use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd};
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::{Error, Result, Step as _};

/// The side that says it: a file in memory that the process outside hands down.
pub(super) struct Teller(File);

impl Teller {
    /// Opens the file by its number, which may be closed then.
    pub(super) fn open(number: &OsStr) -> Result<Self> {
        let path = Path::new("/proc/self/fd").join(number);
        OpenOptions::new().write(true).open(path).map(Self).step("open a file in memory")
    }

    /// What must stay open.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
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

/// The side that hears it.
pub(super) struct Hearer(File);

impl Hearer {
    /// Makes the file. The next program that this process starts inherits it.
    pub(super) fn open() -> Result<Self> {
        memfd_create("phasegate", MemfdFlags::empty()).map(|file| Self(file.into())).step("make a file in memory")
    }

    /// The number by which the process inside finds it.
    pub(super) fn number(&self) -> String {
        self.0.as_raw_fd().to_string()
    }

    /// What was said.
    pub(super) fn outcome(mut self) -> Result<()> {
        let mut text = String::new();
        let _ = self.0.rewind();
        let _ = self.0.read_to_string(&mut text);
        understood(&text)
    }
}

fn understood(text: &str) -> Result<()> {
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
