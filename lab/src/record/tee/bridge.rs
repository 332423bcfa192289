//! A bridge between plugin and guard, line by line.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::log::{environment, keep, own_files};
use crate::record::bridged::as_hook;
use crate::record::frame::Frame;

/// What of a line is recorded.
#[derive(Deserialize)]
struct Line<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    event: Option<&'a RawValue>,
    /// A `null` is a reply, too.
    #[serde(borrow, default)]
    reply: Option<&'a RawValue>,
}

/// The frames that have no reply yet, by number.
type Open = Mutex<BTreeMap<u64, String>>;

/// Passes every line on in both directions, and keeps each frame with its reply, in the order of the replies.
pub(super) fn pass(binary: &Path, log: &Path, rest: &[String]) -> std::io::Result<Output> {
    let mut log = OpenOptions::new().create(true).append(true).open(log)?;
    let mut child = Command::new(binary).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let open: &'static Open = Box::leak(Box::default());
    // It ends with the process, at the latest: the plugin may keep its end open when the guard is gone.
    std::thread::spawn(move || stdin.map(|guard| asked(guard, open)));
    stdout.map_or(Ok(()), |guard| {
        answered(guard, open, |frame, reply| {
            log.lock()?;
            let (args, environment, files) = (rest.to_vec(), environment(rest), own_files(rest));
            keep(
                &mut log,
                &Frame { args, environment, files, record: Vec::new(), input: frame, reply: as_hook(reply) },
            )?;
            File::unlock(&log)
        })
    })?;
    Ok(Output { status: child.wait()?, stdout: Vec::new(), stderr: Vec::new() })
}

fn asked(mut guard: ChildStdin, open: &Open) -> std::io::Result<()> {
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if let Ok(Line { id: Some(id), event: Some(event), .. }) = serde_json::from_str(&line) {
            open.lock().unwrap_or_else(PoisonError::into_inner).insert(id, event.get().to_string());
        }
        writeln!(guard, "{line}")?;
    }
    Ok(())
}

fn answered(
    guard: ChildStdout,
    open: &Open,
    mut keep: impl FnMut(String, &str) -> std::io::Result<()>,
) -> std::io::Result<()> {
    for line in BufReader::new(guard).lines() {
        let line = line?;
        if let Ok(Line { id: Some(id), event: None, reply }) = serde_json::from_str(&line) {
            let asked = open.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            let reply = reply.map_or("null", RawValue::get);
            if let Some(frame) = asked.filter(|_| !line.contains(r#""error":{"#)) {
                keep(frame, reply)?;
            }
        }
        let mut out = std::io::stdout().lock();
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    Ok(())
}
