//! Every adapter with arbitrary frames: never a panic, always a reply, and a refusal of a call is a denial.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use phasegate_adapter::{Adapter, Frame, Memory, Output, Problem, Received, SessionView, Verdict};
use phasegate_config::{Kind, Level, SourceFile, compile};
use phasegate_core::{Code, EventKind, Facts, Policy, State, step};

/// A skill in block mode that forbids everything.
const NOTHING_GOES: &str = "skill: work\nmode: block\nunlisted: deny\nphases:\n  one:\n    allowed: [survey]\n";

fn policy() -> &'static Policy {
    static POLICY: OnceLock<Policy> = OnceLock::new();
    POLICY.get_or_init(|| {
        let file =
            SourceFile { path: "work.yaml".into(), text: NOTHING_GOES.into(), level: Level::Project, kind: Kind::Skill };
        let compiled = compile(&[file]);
        assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
        compiled.policy
    })
}

/// Whether no platform lets a call run after this reply.
fn denies(reply: &Output) -> bool {
    reply.status == 2
}

fn play(adapter: &dyn Adapter, frames: &[Vec<u8>]) {
    let (mut memory, mut state) = (Memory::Null, State::default());
    for (at, bytes) in frames.iter().enumerate() {
        let frame = Frame::new(bytes.clone());
        let problem = Problem::new(Code::Internal, "fuzzed");
        let codec = adapter.codec();
        let opened = codec.open(&frame);
        let received = opened.as_ref().map_or(Received::Unread(&frame), Received::Message);
        let refusal = codec.refuse(received, &problem).into_output();
        codec.warn(received, &problem);
        let Ok(message) = &opened else {
            assert!(denies(&refusal), "a frame that cannot be opened is not denied: {refusal:?}");
            continue;
        };
        let view = SessionView::new(&memory, Some(&state.session));
        let decoded = match codec.decode(message, &view) {
            Ok(decoded) => decoded,
            Err(problem) => {
                codec.refuse(received, &problem);
                continue;
            }
        };
        assert_eq!(codec.decode(message, &view).ok().as_ref(), Some(&decoded), "decoding twice differs");
        let calls = decoded.events.iter().any(|event| matches!(event.kind, EventKind::ToolCall { .. }));
        assert!(!calls || denies(&refusal), "a refused call is not denied: {refusal:?}");
        memory = decoded.memory;
        let mut steps = Vec::new();
        let mut denied = false;
        for mut event in decoded.events {
            event.time = i64::try_from(at).ok();
            let answer = step(policy(), &state, &event, &Facts::new());
            answer.apply_to(&mut state);
            denied |= calls && answer.decision.as_ref().is_some_and(|decision| !decision.lets_through());
            steps.push(answer);
        }
        let reply = codec.reply(message, &Verdict::of(&steps)).into_output();
        let ask = String::from_utf8_lossy(&reply.stdout).contains("\"ask\"");
        assert!(!denied || denies(&reply) || ask, "a denied call is let through: {reply:?}");
    }
}

fuzz_target!(|data: &[u8]| {
    let frames: Vec<Vec<u8>> = data.split(|byte| *byte == b'\n').take(16).map(<[u8]>::to_vec).collect();
    for adapter in phasegate_adapters::all() {
        play(adapter, &frames);
    }
});
