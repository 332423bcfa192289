//! A phase that the check calls unreachable or never done is so in a search by the engine, on many small random skills.
//!
//! A phase that is called unreachable and is not would deny a whole project. What the check cannot tell it does not say.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use phasegate_config::{Kind, Level, SourceFile, compile};
use phasegate_core::Code;
use serde_json::json;

use crate::search::{Try, run, search};

const TOOLS: [&str; 5] = ["Edit", "Write", "Read", "alpha", "beta"];

/// A sequence of numbers that is the same on every machine.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }

    fn tools(&mut self, most: u64) -> String {
        let chosen: BTreeSet<&str> = (0..self.below(most + 1)).map(|_| TOOLS[self.below(5) as usize]).collect();
        chosen.into_iter().collect::<Vec<_>>().join(", ")
    }
}

fn random_skill(numbers: &mut Numbers) -> String {
    let form = ["strict", "strict", "compat"][numbers.below(3) as usize];
    let unlisted = ["allow", "read_only", "deny"][numbers.below(3) as usize];
    let mut text = format!("skill: random\nservers: [lsp]\nform: {form}\nunlisted: {unlisted}\nphases:\n");
    let phases = 2 + numbers.below(3);
    for phase in 0..phases {
        let (allowed, mut forbidden) = (numbers.tools(3), numbers.tools(2));
        if form == "compat" && forbidden.split(", ").any(|tool| allowed.contains(tool)) {
            // The compat form's answer to a call that one phase allows and forbids is reported and not pursued.
            forbidden.clear();
        }
        write!(text, "  p{phase}:\n    allowed: [{allowed}]\n    forbidden: [{forbidden}]\n").unwrap();
        if numbers.below(2) == 0 {
            let tool = TOOLS[numbers.below(5) as usize];
            writeln!(text, "    done_when: {{ok: {tool}}}").unwrap();
            if numbers.below(4) == 0 {
                text.push_str("    leave: on_done\n");
            }
        }
        if numbers.below(4) == 0 {
            text.push_str("    optional: true\n");
        }
        if numbers.below(3) == 0 {
            let early = numbers.below(2) == 0;
            let (one, two) = (1 + numbers.below(phases - 1), 1 + numbers.below(phases - 1));
            let other = |step: u64| (phase + step) % phases;
            writeln!(text, "    next: [{{to: p{}, early: {early}}}, p{}]", other(one), other(two)).unwrap();
        }
        if numbers.below(4) == 0 {
            writeln!(text, "    back: [{{to: p{}, limit: 1}}]", numbers.below(phases)).unwrap();
        }
    }
    text
}

#[test]
fn what_the_check_says_is_so_in_a_search_through_all_states() {
    let mut numbers = Numbers(20_261_121);
    let tries: Vec<Try> = TOOLS.iter().map(|tool| Try::new(tool, json!({}))).collect();
    let (mut unreachable, mut never_done) = (0, 0);
    for _ in 0..1500 {
        let text = random_skill(&mut numbers);
        let source = SourceFile { path: "x".into(), text: text.clone(), level: Level::Project, kind: Kind::Skill };
        let compiled = compile(&[source]);
        let told = |code: Code| -> BTreeSet<String> {
            let found = compiled.diagnostics.iter().filter(|mistake| mistake.code == code);
            found.map(|mistake| mistake.message.split('`').nth(1).unwrap().to_string()).collect()
        };
        let found = search(&compiled.policy, &tries, &BTreeSet::new());
        let phases = &compiled.policy.skills[0].phases;
        let reached: BTreeSet<&str> = found.states.iter().map(|(state, _)| run(state).phase.as_str()).collect();
        let seen: BTreeSet<(usize, u32)> = found
            .states
            .iter()
            .flat_map(|(state, _)| run(state).evidence.iter().map(|evidence| (evidence.phase, evidence.atom)))
            .collect();
        let undone = told(Code::PhaseNeverDone);
        for (at, phase) in phases.iter().enumerate() {
            let mut done = None;
            phase
                .done_when
                .iter()
                .for_each(|when| when.each_call(&mut |test| done = Some(seen.contains(&(at, test.atom)))));
            let told = undone.contains(&phase.name);
            never_done += usize::from(told);
            assert!(!(told && done == Some(true)), "{} is done\n{text}", phase.name);
        }
        let lost = told(Code::PhaseUnreachable);
        unreachable += lost.len();
        for phase in phases {
            let in_search = reached.contains(phase.name.as_str());
            assert!(!(in_search && lost.contains(&phase.name)), "{} is reached\n{text}", phase.name);
        }
    }
    assert!(unreachable > 50 && never_done > 50, "the random skills are too tame: {unreachable} {never_done}");
}
