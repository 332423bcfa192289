//! A plan that an MCP client does through the proxy, kept whole: what the client sent, what the server answered, and what
//! the guard answered in its place.

use std::collections::BTreeMap;
use std::path::PathBuf;

use phasegate_conformance::play::session::About;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::process::{done, tee_words};
use crate::clients::Clients;
use crate::record::frame::{Frame, Reply};
use crate::record::scratch::Scratch;
use crate::record::session;
use xtask::failure::{Failure, Result};
use xtask::root::{read, root, target, write};

/// The revisions in which each plan is done; one client speaks both.
pub(super) const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

const CLIENT: &str = "python-2";

/// The adapter, whose folder the plans and the sessions are in.
const ADAPTER: &str = "mcp";

/// The server's name, by which policies know it.
const SERVER: &str = "lsp";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Plan {
    title: String,
    config: String,
    steps: Vec<Value>,
}

/// A line of the log that both sides of the proxy write.
#[derive(Deserialize)]
struct Line {
    /// `1` between client and proxy, `inner` between proxy and server.
    session: String,
    from: String,
    message: Option<Box<RawValue>>,
}

/// Where a plan is.
pub(super) fn file(name: &str) -> PathBuf {
    root().join("conformance/stories").join(ADAPTER).join(format!("{name}.json"))
}

/// Has a plan done in one revision and keeps the session.
pub(super) fn record(name: &str, revision: &str, clients: &Clients) -> Result<usize> {
    let path = file(name);
    let plan: Plan = serde_json::from_str(&read(&path)?).map_err(|error| Failure::file(&path, error))?;
    let scratch = Scratch::new(&format!("{name}-{revision}"))?;
    write(&scratch.path("project/.phasegate/config.yaml"), &plan.config)?;
    let files = session::files(&scratch)?;
    let steps = scratch.path("plan.json");
    write(&steps, &json!({"revision": revision, "steps": plan.steps}).to_string())?;
    let log = scratch.path("frames.jsonl");
    let own = |binary: &str| target().join("debug").join(binary).display().to_string();
    let (mut command, _) = clients.client(CLIENT, &steps)?;
    command.current_dir(scratch.path("project")).args(tee_words(SERVER, &log, "1")?);
    command.arg(own("phasegate")).args(["mcp", "proxy", "--server", SERVER, "--"]);
    command.args(tee_words(SERVER, &log, "inner")?).arg(own("phasegate-test-server"));
    done(&mut command, &scratch)?;
    let frames = frames(&read(&log)?)?;
    as_planned(&plan.steps, &frames)?;
    let head = About {
        story: name.into(),
        title: plan.title,
        client: ADAPTER.into(),
        client_version: revision.into(),
        script_sha256: session::sha256(&path)?,
        recorded: session::today()?,
        files,
    };
    session::save(head, &frames, &scratch)?;
    scratch.remove()?;
    Ok(frames.len())
}

/// What the adapter is given: the client's messages and the server's, in the order in which they were sent. The reply to
/// a request that never reached the server is what the client got for it.
fn frames(log: &str) -> Result<Vec<Frame>> {
    let lines: Vec<(&str, Line)> = log
        .lines()
        .map(|text| serde_json::from_str(text).map(|line| (text, line)))
        .collect::<std::result::Result<_, _>>()
        .map_err(|error| Failure::new(format!("the log: {error}")))?;
    let (mut forwarded, mut answered) = (Vec::new(), BTreeMap::new());
    for (_, line) in &lines {
        let (Some(message), Some(id)) = (&line.message, id(line)) else { continue };
        match (line.session.as_str(), line.from.as_str()) {
            ("inner", "client") => forwarded.push(id),
            ("1", "server") => drop(answered.insert(id, message.get().to_string())),
            _ => {}
        }
    }
    let mut frames = Vec::new();
    for (text, line) in &lines {
        let seen = [("1", "client"), ("inner", "server")].contains(&(line.session.as_str(), line.from.as_str()));
        let id = id(line).filter(|id| line.from == "client" && !forwarded.contains(id));
        let answer = id.and_then(|id| answered.get(&id)).map(|answer| format!("{answer}\n"));
        if seen {
            let input = text.replacen("\"session\":\"inner\"", "\"session\":\"1\"", 1);
            let reply = Reply { stdout: answer.unwrap_or_default(), stderr: String::new(), status: Some(0) };
            let (environment, files) = (BTreeMap::new(), BTreeMap::new());
            frames.push(Frame { args: Vec::new(), environment, files, record: Vec::new(), input, reply });
        }
    }
    Ok(frames)
}

/// The id of a line's message, as text.
fn id(line: &Line) -> Option<String> {
    let message: Value = serde_json::from_str(line.message.as_ref()?.get()).ok()?;
    message.get("id").map(Value::to_string)
}

/// Whether just the calls that the plan says so were stopped.
fn as_planned(steps: &[Value], frames: &[Frame]) -> Result {
    let calls = frames.iter().filter(|frame| frame.input.contains("\"method\":\"tools/call\""));
    let stopped: Vec<bool> = calls.map(|frame| frame.reply.stdout.contains("\"isError\":true")).collect();
    let calls = steps.iter().filter(|step| step.get("call").is_some());
    let planned: Vec<bool> = calls.map(|step| step.get("stopped") == Some(&json!(true))).collect();
    if stopped == planned {
        return Ok(());
    }
    Err(Failure::new(format!("the plan has these calls stopped: {planned:?}, and it were these: {stopped:?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_never_reached_the_server_has_a_reply() {
        let line = |session: &str, from: &str, message: &str| {
            format!(r#"{{"session":"{session}","server":"lsp","from":"{from}","message":{message}}}"#)
        };
        let log = [
            line("1", "client", r#"{"id":1,"method":"tools/call"}"#),
            line("inner", "client", r#"{"id":1,"method":"tools/call"}"#),
            line("inner", "server", r#"{"id":1,"result":{}}"#),
            line("1", "server", r#"{"id":1,"result":{}}"#),
            line("1", "client", r#"{"id":2,"method":"tools/call"}"#),
            line("1", "server", r#"{"id":2,"result":{"isError":true}}"#),
        ];
        let frames = frames(&log.join("\n")).unwrap();
        let replies: Vec<&str> = frames.iter().map(|frame| frame.reply.stdout.as_str()).collect();
        assert_eq!(replies, ["", "", "{\"id\":2,\"result\":{\"isError\":true}}\n"]);
        assert!(frames[1].input.starts_with("{\"session\":\"1\""));
        let planned = [json!({"call": "a"}), json!({"call": "b", "stopped": true})];
        assert!(as_planned(&planned, &frames).is_ok());
        assert!(as_planned(&[json!({"call": "a"}), json!({"call": "b"})], &frames).is_err());
    }
}
