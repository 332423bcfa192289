//! The plugin's file of answers: a client with a busy event loop reads them there before it reads the pipe.
//!
//! Each line begins with a digest over the key, the answer and the key again. Only the plugin and the bridge know the
//! key, so no other program can write an accepted answer.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use crate::bridge_lines::AnswerFile;
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::ownership::open_own;

/// The file, open to be added to.
#[derive(Debug)]
pub(crate) struct Answers {
    file: File,
    key: String,
}

impl Answers {
    /// The plugin's file; `None` where it cannot be used: then what is said is enough.
    pub(crate) fn open(place: &AnswerFile) -> Option<Self> {
        let opened = open_own(&place.file, OpenOptions::new().append(true));
        let opened = opened.inspect_err(|error| tracing::warn!(%error, "the file of answers cannot be used"));
        Some(Self { file: opened.ok()?, key: place.key.clone() })
    }

    /// Adds an answer, in one piece. One that cannot be added is said all the same.
    pub(crate) fn add(&mut self, answer: &str) {
        let digest = sha256_hex(format!("{}{answer}{}", self.key, self.key).as_bytes());
        if let Err(error) = self.file.write_all(format!("{digest} {answer}\n").as_bytes()) {
            tracing::warn!(%error, "an answer cannot be written to the plugin's file");
        }
    }
}
