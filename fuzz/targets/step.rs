//! The engine on arbitrary transcripts: never a panic, the same twice, and a state that survives being stored.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use phasegate_config::{Kind, Level, SourceFile, compile};
use phasegate_config::files::shipped;
use phasegate_core::{Event, FactValue, Facts, Policy, State, step};

/// What the shipped skills do not have: files, edges, rollback edges, a project scope, both values of `leave`.
const SKILL: &str = "\
skill: work
mode: block
scope: project
unlisted: read_only
finish: when_done
phases:
  look:
    allowed: [Read, Grep]
    forbidden: [Edit, Write]
    done_when: { any: [{ ok: Read }, { approved: go }] }
    next: [plan, { to: change, early: true }]
  plan:
    allowed: [Write]
    optional: true
    done_when: { file: plan.md }
    leave: on_done
    next: [change]
  change:
    allowed: [Edit, Write]
    done_when: { ok: Edit }
    next: [test]
  test:
    allowed: [{ tool: Bash, command: \"cargo test\" }]
    done_when: { ok: { tool: Bash, command: \"cargo test\" } }
    on_failure: { to: change, limit: 3 }
    back: [{ to: look, limit: 2 }]
";

fn policy() -> &'static Policy {
    static POLICY: OnceLock<Policy> = OnceLock::new();
    POLICY.get_or_init(|| {
        let file = |path: &str, text: &str| SourceFile {
            path: path.into(),
            text: text.into(),
            level: Level::Project,
            kind: Kind::Skill,
        };
        let mut files: Vec<SourceFile> =
            shipped().iter().map(|skill| file(skill.name, skill.strict)).collect();
        files.push(file("work.yaml", SKILL));
        let compiled = compile(&files);
        assert!(!compiled.has_errors(), "{:?}", compiled.diagnostics);
        compiled.policy
    })
}

fuzz_target!(|data: &[u8]| {
    let mut state = State::default();
    for line in data.split(|byte| *byte == b'\n').take(64) {
        let Ok(value) = serde_json::from_slice(line) else { continue };
        let Ok(event) = Event::from_value(value) else { continue };
        let again = Event::from_value(event.to_value());
        assert_eq!(again.as_ref(), Ok(&event), "an event that was written is read as another one");
        let mut facts = Facts::new();
        let mut answer = step(policy(), &state, &event, &facts);
        for _ in 0..64 {
            if answer.needs.is_empty() {
                break;
            }
            for key in answer.needs.drain(..) {
                facts.insert(key, FactValue::Unknown.into());
            }
            answer = step(policy(), &state, &event, &facts);
        }
        assert!(answer.needs.is_empty(), "the decision kept asking for facts");
        let twice = step(policy(), &state, &event, &facts);
        assert_eq!(twice, answer, "deciding twice differs");
        answer.apply_to(&mut state);
        let stored = serde_json::to_string(&state).expect("a state can be stored");
        let loaded: State = serde_json::from_str(&stored).expect("a stored state can be loaded");
        assert_eq!(loaded, state, "a stored state is another one");
    }
});
