//! Bounds: how large what is looked at may be, before any work is done on it. What is larger is refused, or stays in doubt.
//!
//! Every event passes [`check`], whoever sent it; every message [`message`]; every file that the guard reads for its text
//! passes [`read`]. What is below these bounds costs time that grows with its size, and no more.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use phasegate_adapter::{Message, Problem};
use phasegate_core::calls::tool::BASH;
use phasegate_core::{Code, Event, EventKind};
use serde_json::Value;

/// The longest path, in bytes: systems know no longer one.
pub const MAX_PATH_BYTES: usize = 4096;
/// The longest line for a shell, in bytes: Linux hands no longer one to a program.
const MAX_LINE_BYTES: usize = 128 * 1024;
/// The longest name of a tool, a server or a session, in bytes.
const MAX_NAME_BYTES: usize = 1024;
/// The most values in the arguments of a call, and the most paths.
const MAX_VALUES: usize = 20_000;
/// The most pieces of a file name pattern.
pub const MAX_PIECES: usize = 64;
/// The largest file of a client's settings, in bytes.
pub const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;
/// The largest file of a repository's own data, and of what a client keeps, in bytes.
pub const MAX_FILE_BYTES: u64 = 32 * 1024 * 1024;

/// Whether a message names its session and its folder in bounds.
///
/// # Errors
///
/// `input-too-large`: it does not.
pub fn message(message: &Message) -> Result<(), Problem> {
    let folder = message.cwd.as_ref().map_or(0, |folder| folder.as_os_str().len());
    within("the name of the session", message.session.len(), MAX_NAME_BYTES)?;
    within("the folder of the message", folder, MAX_PATH_BYTES)
}

/// Whether a call is in bounds; an event that is none is.
///
/// # Errors
///
/// `input-too-large`: it is not.
pub fn check(event: &Event) -> Result<(), Problem> {
    let EventKind::ToolCall { tool, server, input, analysis, .. } = &event.kind else { return Ok(()) };
    within("the name of the tool", tool.len().max(server.as_ref().map_or(0, String::len)), MAX_NAME_BYTES)?;
    let paths = analysis.paths.iter().map(|path| path.written.len()).chain(event.cwd.as_ref().map(String::len));
    within("a path", paths.max().unwrap_or_default(), MAX_PATH_BYTES)?;
    if tool == BASH && server.is_none() {
        let line = input.get("command").and_then(Value::as_str).map_or(0, str::len);
        within("the line", line, MAX_LINE_BYTES)?;
    }
    let values = values(input).max(analysis.paths.len());
    if values > MAX_VALUES {
        let text = format!("the call has {values} values in its arguments, and at most {MAX_VALUES} are looked at");
        return Err(Problem::new(Code::InputTooLarge, text).with_remedy("make several calls of it"));
    }
    Ok(())
}

/// The text of a regular file of at most so many bytes.
///
/// # Errors
///
/// As for [`bytes`]; and it is not UTF-8.
pub fn read(path: &Path, most: u64) -> io::Result<String> {
    String::from_utf8(bytes(path, most)?).map_err(io::Error::other)
}

/// The text of a client's settings, as clients decode it: what is no UTF-8 is replaced, and UTF-16 is read by its mark.
///
/// # Errors
///
/// As for [`bytes`].
pub fn settings(path: &Path) -> io::Result<String> {
    let bytes = bytes(path, MAX_FILE_BYTES)?;
    if let Some(rest) = bytes.strip_prefix(&[0xff, 0xfe]) {
        let pairs = rest.chunks_exact(2).filter_map(|pair| Some(u16::from_le_bytes(pair.try_into().ok()?)));
        return Ok(char::decode_utf16(pairs).map(|sign| sign.unwrap_or(char::REPLACEMENT_CHARACTER)).collect());
    }
    let text = String::from_utf8_lossy(bytes.strip_prefix(&[0xef, 0xbb, 0xbf]).unwrap_or(&bytes));
    Ok(text.into_owned())
}

/// What is in a regular file of at most so many bytes.
///
/// # Errors
///
/// It is larger or no regular file, or it cannot be read.
pub fn bytes(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    if file.take(most.saturating_add(1)).read_to_end(&mut bytes)? as u64 > most {
        return Err(io::Error::other(format!("it is larger than {most} bytes")));
    }
    Ok(bytes)
}

fn within(what: &str, bytes: usize, most: usize) -> Result<(), Problem> {
    if bytes <= most {
        return Ok(());
    }
    let text = format!("{what} has {bytes} bytes, and at most {most} are looked at");
    Err(Problem::new(Code::InputTooLarge, text).with_remedy("write it shorter; a long text goes into a file"))
}

/// How many values these are, with those in them; not more than one above the bound is counted.
fn values(value: &Value) -> usize {
    let (mut open, mut count) = (vec![value], 0_usize);
    while let Some(value) = open.pop() {
        count = count.saturating_add(1);
        if count > MAX_VALUES {
            break;
        }
        match value {
            Value::Array(items) => open.extend(items),
            Value::Object(fields) => open.extend(fields.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    count
}
