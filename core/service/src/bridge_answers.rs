//! The plugin's file of answers: a client that has much to do finds them there before it looks for what was said.
//!
//! Each line begins with a digest of the answer between a key and itself once more. Nobody but the plugin knows the key, so
//! that nobody else writes an answer that it takes.

use std::fs::{File, OpenOptions};
use std::io::Write as _;

use crate::bridge_lines::AnswerFile;
use phasegate_store::digest::sha256_hex;
use phasegate_store::ownership::open_own;

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
