//! Decisions to the exact bytes that the client must get: `encode.jsonl`, a case a line.

use std::collections::BTreeSet;
use std::sync::Arc;

use phasegate_adapter::{Adapter, Frame, Output, Problem, Received, Verdict};
use phasegate_core::state::Obligation;
use phasegate_core::{Code, Decision, Outcome};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::recordings::{Recordings, add};
use crate::blessing::blessing;
use crate::loading::Loading;
use crate::play::folders;
use crate::play::relay;
use crate::play::relay::Script;
use crate::texts::wording;
use crate::texts::{self, Reply};
use crate::trial::{Check, Mismatch};

/// The file of cases in an adapter's folder.
pub(super) const FILE: &str = "encode.jsonl";

/// A case as written. Exactly one of `steps`, `refuse` and `warn` is given.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What its trial is called.
    pub(super) case: String,
    /// What is answered to what.
    pub(super) name: String,
    /// The frame that is answered.
    pub(super) frame: Source,
    /// What the engine said, for each event of the frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) steps: Option<Vec<Told>>,
    /// The problem that is answered with a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) refuse: Option<Trouble>,
    /// The problem that is answered with a warning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) warn: Option<Trouble>,
    /// The expected reply, byte for byte; `--bless` writes it.
    #[serde(default)]
    pub(super) reply: Reply,
}

/// A frame: one of a recording, by its number from 1, or literal text.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    recording: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
}

/// What a step said.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Told {
    /// The decision, if the event asked for one.
    pub(super) decision: Option<Decision>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    obligations: Vec<Obligation>,
}

/// Why a frame could not be decided, as the adapter gets it.
#[derive(Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trouble {
    code: Code,
    message: String,
}

/// What every platform's cases must show: each effect, a step with a message only, and both answers to a problem.
const CELLS: [&str; 7] = ["allow", "warn", "ask", "deny", "told", "refuse a problem", "warn of a problem"];

/// One trial for each case, and one for each cell.
pub(super) fn trials(loading: &mut Loading, adapter: &'static dyn Adapter, recordings: &Arc<Recordings>) {
    let path = format!("{}/{FILE}", adapter.id());
    let cases = loading.take(&path).map_or_else(|| Ok(Vec::new()), |text| Case::parse(&text));
    let cases = cases.unwrap_or_else(|problem| {
        loading.fails(&path, &problem);
        Vec::new()
    });
    let shown: BTreeSet<&str> = cases.iter().flat_map(Case::shows).collect();
    for (at, case) in cases.into_iter().enumerate() {
        let (recordings, file, name) = (Arc::clone(recordings), folders::cases().join(&path), case.case.clone());
        let run = Box::new(move || match case.played(adapter, &recordings) {
            Ok(got) if blessing() => {
                texts::bless(&file, at, vec![got]);
                Vec::new()
            }
            Ok(got) => case.compare(&got),
            Err(problem) => vec![Mismatch::broken("case", problem)],
        });
        add(loading, adapter, Check::Encode, &name, "replies", run);
    }
    for cell in CELLS {
        let missing = !shown.contains(cell);
        let run = Box::new(move || {
            let mismatch = || Mismatch::new("encode", "frames", json!(format!("a case of `{cell}`")), json!(null));
            missing.then(mismatch).into_iter().collect()
        });
        add(loading, adapter, Check::Encode, &format!("cells/{cell}"), "cells", run);
    }
}

impl Case {
    /// Reads a file of cases, one a line.
    pub(super) fn parse(text: &str) -> Result<Vec<Self>, String> {
        let read = |(at, line)| serde_json::from_str(line).map_err(|error| format!("line {}: {error}", at + 1_usize));
        text.lines().enumerate().map(read).collect()
    }

    /// What the client gets.
    pub(super) fn played(&self, adapter: &dyn Adapter, recordings: &Recordings) -> Result<Reply, String> {
        if relay::plays(adapter) { self.relayed(recordings) } else { self.encoded(adapter, recordings) }
    }

    /// What differs between the reply and the expected one.
    pub(super) fn compare(&self, got: &Reply) -> Vec<Mismatch> {
        let wanted = match texts::kept().and_then(|texts| self.reply.whole(texts)) {
            Ok(wanted) => wanted,
            Err(problem) => return vec![Mismatch::broken("case", problem)],
        };
        let fields = [
            ("stdout", json!(wanted.stdout), json!(got.stdout)),
            ("stderr", json!(wanted.stderr), json!(got.stderr)),
            ("status", json!(wanted.status), json!(got.status)),
        ];
        let differ = fields.into_iter().filter(|(_, wanted, got)| wanted != got);
        let mut mismatches: Vec<Mismatch> =
            differ.map(|(field, wanted, got)| Mismatch::new(&self.name, field, wanted, got)).collect();
        mismatches.extend(wording::of_reply(&self.name, &got.stdout));
        mismatches
    }

    /// The cells that the case fills.
    fn shows(&self) -> Vec<&'static str> {
        let steps = self.steps.iter().flatten();
        let mut cells: Vec<&'static str> =
            steps.map(|told| told.decision.as_ref().map_or("told", |decision| decision.effect.word())).collect();
        cells.extend(self.refuse.as_ref().map(|_| "refuse a problem"));
        cells.extend(self.warn.as_ref().map(|_| "warn of a problem"));
        cells
    }

    fn encoded(&self, adapter: &dyn Adapter, recordings: &Recordings) -> Result<Reply, String> {
        let reply = self.reply(adapter, recordings)?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Reply { stdout: text(&reply.stdout), stderr: text(&reply.stderr), status: Some(reply.status.into()) })
    }

    /// What the client gets through the relay, and what the relay logs. A problem denies there in warn mode too.
    fn relayed(&self, recordings: &Recordings) -> Result<Reply, String> {
        let frame = self.frame.read(recordings)?;
        let frames = self.frame.recording.as_ref().and_then(|name| recordings.get(name));
        let script = match (&self.steps, self.refuse.as_ref().or(self.warn.as_ref())) {
            (Some(steps), None) => Script::Outcomes(steps.iter().map(Told::outcome).collect()),
            (None, Some(trouble)) => Script::Refuses(Problem::new(trouble.code, trouble.message.clone())),
            _ => return Err("exactly one of `steps`, `refuse` and `warn` is given".into()),
        };
        let text = String::from_utf8_lossy(&frame.bytes);
        let relayed = relay::replied(&text, frames.map_or(&[], Vec::as_slice), script)?;
        Ok(Reply { stdout: relayed.to_client, stderr: relayed.log, status: Some(0) })
    }

    fn reply(&self, adapter: &dyn Adapter, recordings: &Recordings) -> Result<Output, String> {
        let frame = self.frame.read(recordings)?;
        let problem = |trouble: &Trouble| Problem::new(trouble.code, trouble.message.clone());
        let codec = adapter.codec();
        let opened = codec.open(&frame);
        let received = opened.as_ref().map_or(Received::Unread(&frame), Received::Message);
        let reply = match (&self.steps, &self.refuse, &self.warn) {
            (Some(steps), None, None) => {
                let steps: Vec<Outcome> = steps.iter().map(Told::outcome).collect();
                let message = opened.as_ref().map_err(ToString::to_string)?;
                codec.reply(message, &Verdict::of(&steps))
            }
            (None, Some(trouble), None) => codec.refuse(received, &problem(trouble)),
            (None, None, Some(trouble)) => codec.warn(received, &problem(trouble)),
            _ => return Err("exactly one of `steps`, `refuse` and `warn` is given".into()),
        };
        Ok(reply.into_output())
    }
}

impl Told {
    fn outcome(&self) -> Outcome {
        Outcome { decision: self.decision.clone(), obligations: self.obligations.clone(), ..Outcome::default() }
    }
}

impl Source {
    fn read(&self, recordings: &Recordings) -> Result<Frame, String> {
        match (&self.recording, self.line, &self.text) {
            (Some(name), Some(line), None) => {
                let frames = recordings.get(name).ok_or_else(|| format!("no recording `{name}`"))?;
                let frame = line.checked_sub(1).and_then(|at| frames.get(at));
                frame.map(|frame| Frame::new(frame.as_str())).ok_or_else(|| format!("`{name}` has no line {line}"))
            }
            (None, None, Some(text)) => Ok(Frame::new(text.as_bytes())),
            _ => Err("a frame is a line of a recording or a text".into()),
        }
    }
}
