//! The shipped skills, searched through. Each rollback edge has the limit one, so that the search ends soon.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use phasegate_config::shipped;
use phasegate_config::{Kind, Level, SourceFile, compile, shipped_policy};
use phasegate_core::Code;
use phasegate_core::State;
use phasegate_core::events::event::Outcome;
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::matcher::{Matcher, ToolPattern};
use phasegate_core::policy::{Mode, Policy, Skill};
use serde_json::json;

use crate::search::{Searched, Try, activated, do_step, finishes, run, search};

/// Whatever a call of the search can be: every tool that the skill names, with the arguments that it asks about, and strangers.
fn tries(skill: &Skill) -> Vec<Try> {
    let mut names = BTreeSet::new();
    let mut add = |matcher: &Matcher| match &matcher.tool {
        ToolPattern::Exact(name) => drop(names.insert(name.clone())),
        ToolPattern::Prefix(prefix) => drop(names.insert(format!("{prefix}other"))),
        ToolPattern::Any | ToolPattern::Label(_) => {}
    };
    skill.global_forbidden.iter().chain(skill.tools.iter().map(|note| &note.matcher)).for_each(&mut add);
    for phase in &skill.phases {
        phase.allowed.iter().chain(&phase.forbidden).for_each(&mut add);
        let conditions: Vec<&Condition> =
            phase.done_when.iter().chain(phase.next.iter().filter_map(|edge| edge.when.as_ref())).collect();
        conditions.iter().for_each(|condition| condition.each_call(&mut |test| add(&test.matcher)));
    }
    for forgotten in
        ["replace_symbol_body", "safe_apply_edit", "commit_session", "execute_command", "Edit", "Write", "Bash"]
    {
        names.insert(forgotten.into());
    }
    let mut tries: Vec<Try> = names.iter().map(|name| Try::new(name, json!({}))).collect();
    if names.contains("rename_symbol") {
        tries.push(Try::new("rename_symbol", json!({"dry_run": true})));
        tries.push(Try::new("rename_symbol", json!({"dry_run": false})));
    }
    for label in ["read", "write", "execute", "network"] {
        tries.push(Try { tool: format!("stranger_{label}"), input: json!({}), label: Some(label) });
    }
    tries
}

fn limited(name: &str) -> Policy {
    let mut policy = shipped_policy(name, Some(Mode::Block)).unwrap();
    for phase in &mut policy.skills[0].phases {
        phase.back.iter_mut().for_each(|back| back.limit = 1);
    }
    policy
}

fn searched(policy: &Policy) -> Searched {
    let skill = &policy.skills[0];
    let counted: BTreeSet<&str> = evidence(&skill.name, "Bash").into_iter().flatten().collect();
    search(policy, &tries(skill), &counted)
}

/// What must have succeeded before a tool that writes may be called: one of each group.
fn evidence(skill: &str, tool: &str) -> Vec<Vec<&'static str>> {
    match (skill, tool) {
        ("lsp-rename", _) => vec![vec!["prepare_rename"], vec!["find_references"]],
        ("lsp-refactor", _) => vec![vec!["blast_radius"], vec!["preview_edit", "simulate_chain"]],
        ("lsp-safe-edit", _) => vec![vec!["get_diagnostics"], vec!["preview_edit", "simulate_chain"]],
        ("lsp-verify", "Bash") => vec![vec!["get_tests_for_file"], vec!["get_diagnostics"], vec!["run_build"]],
        ("lsp-verify", _) => vec![vec!["get_tests_for_file"], vec!["get_diagnostics"]],
        _ => panic!("which evidence does {skill} ask for?"),
    }
}

/// Whether the call changes something, by the labels of the skill or the host. A tool without labels does.
fn writes(skill: &Skill, tool: &str, input: &str) -> bool {
    if input.contains("\"dry_run\":true") {
        return false;
    }
    let mut labels = phasegate_core::events::event::builtin_labels(tool);
    for note in &skill.tools {
        let named = match &note.matcher.tool {
            ToolPattern::Exact(name) => name == tool,
            ToolPattern::Prefix(prefix) => tool.starts_with(prefix.as_str()),
            ToolPattern::Any | ToolPattern::Label(_) => false,
        };
        labels.extend(note.labels.iter().filter(|_| named).cloned());
    }
    labels.is_empty() || labels.contains("write")
}

static STRICT: LazyLock<Vec<(Policy, Searched)>> = LazyLock::new(|| {
    let search = |name| {
        let policy = limited(name);
        let found = searched(&policy);
        (policy, found)
    };
    // Those that ask for tools of a server; the others are played in stories.
    let lists = shipped().iter().filter(|shipped| shipped.name.starts_with("lsp-"));
    std::thread::scope(|scope| {
        let searches: Vec<_> = lists.map(|shipped| scope.spawn(move || search(shipped.name))).collect();
        searches.into_iter().map(|search| search.join().unwrap()).collect()
    })
});

#[test]
fn strict_skills_reach_every_phase_and_write_only_after_the_evidence() {
    for (policy, found) in STRICT.iter() {
        let skill = &policy.skills[0];
        let name = skill.name.as_str();
        let reached: BTreeSet<&str> = found.states.iter().map(|(state, _)| run(state).phase.as_str()).collect();
        let all: BTreeSet<&str> = skill.phases.iter().map(|phase| phase.name.as_str()).collect();
        assert_eq!(reached, all, "{}", name);
        let mut written = BTreeSet::new();
        for (tool, input, ok) in &found.allowed {
            if tool == "stranger_read" || !writes(skill, tool, input) {
                continue;
            }
            assert!(!tool.starts_with("stranger"), "{}: {tool} is allowed", name);
            written.insert(tool.as_str());
            for group in evidence(name, tool) {
                let proven = group.iter().any(|tool| ok.iter().any(|ok| ok == tool));
                assert!(proven, "{}: {tool} {input} is allowed after {ok:?}, without {group:?}", name);
            }
        }
        assert!(!written.is_empty(), "{} writes nothing", name);
        for forgotten in ["replace_symbol_body", "safe_apply_edit", "commit_session", "execute_command"] {
            assert!(!written.contains(forgotten), "{}: {forgotten}", name);
        }
    }
}

#[test]
fn strict_skills_can_be_finished_from_every_state() {
    for (policy, found) in STRICT.iter() {
        let name = &policy.skills[0].name;
        let mut before = vec![Vec::new(); found.states.len()];
        for (from, to) in found.edges.iter().enumerate() {
            to.iter().for_each(|to| before[*to].push(from));
        }
        let mut good: Vec<bool> = found.states.iter().map(|(state, _)| finishes(policy, state)).collect();
        let mut open: Vec<usize> = (0..good.len()).filter(|at| good[*at]).collect();
        assert!(!open.is_empty(), "{} never finishes", name);
        while let Some(at) = open.pop() {
            for from in &before[at] {
                if !good[*from] {
                    good[*from] = true;
                    open.push(*from);
                }
            }
        }
        if let Some(dead) = good.iter().position(|good| !good) {
            panic!("{} cannot be finished from {:#?}", name, run(&found.states[dead].0));
        }
        let (first, _) = &found.states[0];
        assert!(!finishes(policy, first), "{} is finished before it began", name);
    }
}

fn called(policy: &Policy, state: State, tool: &str) -> (bool, State) {
    let attempt = Try::new(tool, json!({}));
    let (decision, state) = do_step(policy, &state, &attempt.event());
    if !decision.unwrap().lets_through() {
        return (false, state);
    }
    (true, do_step(policy, &state, &attempt.result(Outcome::Ok)).1)
}

fn walk(policy: &Policy, tools: &[&str]) -> (Vec<bool>, String) {
    let mut state = activated(policy);
    let mut allowed = Vec::new();
    for tool in tools {
        let (through, after) = called(policy, state, tool);
        allowed.push(through);
        state = after;
    }
    let phase = run(&state).phase.clone();
    (allowed, phase)
}

#[test]
fn the_first_published_tables_have_their_known_weaknesses() {
    let safe_edit = limited("lsp-safe-edit@compat");
    let reached: BTreeSet<String> =
        searched(&safe_edit).states.iter().map(|(state, _)| run(state).phase.clone()).collect();
    assert!(!reached.contains("apply") && reached.contains("verify_and_fix"), "{reached:?}");
    let refactor = shipped_policy("lsp-refactor@compat", None).unwrap();
    assert_eq!(walk(&refactor, &["Edit", "format_document", "Edit"]), (vec![false, true, true], "apply".into()));
    let strict = shipped_policy("lsp-refactor", None).unwrap();
    assert_eq!(walk(&strict, &["Edit", "format_document", "Edit"]), (vec![false, false, false], "blast_radius".into()));
    assert_eq!(
        walk(&strict, &["blast_radius", "preview_edit", "Edit", "run_build", "run_tests"]),
        (vec![true; 5], "test_execution".into())
    );
}

#[test]
fn the_search_reaches_no_phase_that_the_check_calls_unreachable() {
    for shipped in shipped() {
        let Some(text) = shipped.compat.filter(|_| shipped.name.starts_with("lsp-")) else { continue };
        let source = SourceFile { path: "x".into(), text: text.into(), level: Level::Project, kind: Kind::Skill };
        let unreachable = compile(&[source]).diagnostics.into_iter().filter(|d| d.code == Code::PhaseUnreachable);
        let told: BTreeSet<String> = unreachable.map(|d| d.message.split('`').nth(1).unwrap().to_string()).collect();
        let policy = limited(&format!("{}@compat", shipped.name));
        let reached: BTreeSet<String> =
            searched(&policy).states.iter().map(|(state, _)| run(state).phase.clone()).collect();
        assert!(told.is_disjoint(&reached), "{}: {told:?}", shipped.name);
    }
}

#[test]
fn the_published_walkthrough_has_two_endings() {
    let calls = ["start_lsp", "go_to_symbol", "prepare_rename", "apply_edit", "get_diagnostics", "apply_edit"];
    let compat = shipped_policy("lsp-rename@compat", None).unwrap();
    assert_eq!(walk(&compat, &calls), (vec![true, true, true, false, true, true], "execute".into()));
    let strict = shipped_policy("lsp-rename", None).unwrap();
    assert_eq!(walk(&strict, &calls), (vec![true, true, true, false, true, false], "preview".into()));
}

#[test]
fn a_failed_build_opens_a_way_back_to_writing() {
    let policy = shipped_policy("lsp-refactor", None).unwrap();
    let mut state = activated(&policy);
    for tool in ["blast_radius", "preview_edit", "Edit", "run_build"] {
        let attempt = Try::new(tool, json!({}));
        let outcome = if tool == "run_build" { Outcome::Failed } else { Outcome::Ok };
        let (decision, called) = do_step(&policy, &state, &attempt.event());
        assert!(decision.unwrap().lets_through(), "{tool}");
        state = do_step(&policy, &called, &attempt.result(outcome)).1;
    }
    assert_eq!(run(&state).phase, "build_verification");
    let (through, state) = called(&policy, state, "Edit");
    assert!(through);
    assert_eq!(run(&state).phase, "apply");
}
