//! The log of frames.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;

use crate::record::drivers::driver;
use crate::record::frame::Frame;

/// The variables by which the client that these arguments name says how it was started.
pub(super) fn environment(rest: &[String]) -> BTreeMap<String, String> {
    let set = |name: &&str| Some(((*name).to_string(), std::env::var(name).ok()?));
    let client = rest.iter().find_map(|word| driver(word).ok());
    client.map(|client| client.variables().iter().filter_map(set).collect()).unwrap_or_default()
}

/// Appends a frame.
pub(super) fn keep(log: &mut File, frame: &Frame) -> std::io::Result<()> {
    log.write_all(format!("{}\n", serde_json::to_string(frame)?).as_bytes())
}
