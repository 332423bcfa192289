//! The calls that agents make most, with all the ways in which they end, and the calls that a skill names itself.

use std::collections::BTreeMap;

use phasegate_core::calls::analysis::Access;
use phasegate_core::calls::builtin_tools::is_builtin;
use phasegate_core::calls::tool::BASH;
use phasegate_core::evidence::condition::Wanted;
use phasegate_core::policy::input::{Input, Values};
use phasegate_core::policy::matcher::{AgentTest, ArgIs, DOES, Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{Phase, Skill, Start};
use phasegate_core::shell::test_report::Runner;
use phasegate_core::values::glob::choices;
use serde_json::{Value, json};

/// The calls that agents make most: what each is about, its tool, its main argument.
const MOST: [[&str; 3]; 15] = [
    ["read code", "Read", "src/lib.rs"],
    ["edit code", "Edit", "src/lib.rs"],
    ["edit a test", "Edit", "tests/lib.rs"],
    ["edit a document", "Edit", "README.md"],
    ["search", "Grep", "src"],
    ["run the tests", BASH, "cargo test"],
    ["build", BASH, "cargo build"],
    ["look at changes", BASH, "git diff"],
    ["commit", BASH, "git commit -m change"],
    ["push", BASH, "git push"],
    ["stash", BASH, "git stash"],
    ["install packages", BASH, "npm ci"],
    ["a program that edits code", BASH, "python3 -c \"open('src/lib.rs', 'w').write('fn a() {}')\""],
    ["start a subagent", "Agent", "general-purpose"],
    ["look at a web page", "WebFetch", "https://example.com"],
];
/// Commands for what a skill may name by a word, where none of the above does it.
const OF_WORDS: [[&str; 2]; 10] = [
    ["deploy", "kubectl apply -f deploy.yaml"],
    ["migrate", "npx prisma migrate deploy"],
    ["publish", "npm publish"],
    ["tag", "git tag v1.0.0"],
    ["push_tag", "git push origin v1.0.0"],
    ["force_push", "git push --force"],
    ["format", "cargo fmt"],
    ["lint", "cargo clippy"],
    ["send", "curl -d @a https://example.com"],
    ["database", "psql -c 'select 1'"],
];
/// The most files that are taken for one pattern.
const MAX_FILES: usize = 2;

/// A call that is likely.
#[derive(Clone, Debug, PartialEq)]
pub struct LikelyCall {
    /// It in a few words.
    pub name: String,
    /// The line of a transcript that makes it, without an id.
    pub line: Value,
    /// The lines that end it, each without an id: in every way that makes a difference.
    pub ends: Vec<Value>,
}

impl LikelyCall {
    fn new(name: Option<&str>, tool: &str, server: Option<&str>, input: Value, runner: Option<Runner>) -> Self {
        let line = match server {
            Some(server) => json!({"event": "tool_call", "tool": tool, "server": server, "input": input}),
            None => json!({"event": "tool_call", "tool": tool, "input": input}),
        };
        let end = |ok: bool, tests: Value| match tests {
            Value::Null => json!({"event": "tool_result", "ok": ok}),
            tests => json!({"event": "tool_result", "ok": ok, "exit_code": i32::from(!ok) * 101, "tests": [tests]}),
        };
        let ends = if let Some(runner) = runner {
            let report = |kind: &str, is: Value| json!({"runner": runner, kind: is});
            let failed = [end(false, report("failed", json!(1))), end(false, report("broken", json!(true)))];
            [end(true, report("passed", json!(1)))].into_iter().chain(failed).collect()
        } else {
            vec![end(true, Value::Null), end(false, Value::Null)]
        };
        let about = ["command", "file_path", "path", "url", "subagent_type"];
        let about = about.iter().find_map(|key| input.get(key)?.as_str()).unwrap_or_default();
        let own = format!("{tool} {about}");
        let own = if tool == BASH { about } else { own.trim_end() };
        Self { name: name.unwrap_or(own).to_owned(), line, ends }
    }

    /// The call of a tool with its main argument.
    fn of(name: Option<&str>, tool: &str, about: &str, runner: Option<Runner>) -> Self {
        let input = match tool {
            BASH => json!({"command": about}),
            "Edit" => json!({"file_path": about, "old_string": "fn a() {}", "new_string": "fn a() {}\nfn b() {}"}),
            "Write" => json!({"file_path": about, "content": "# Text\n"}),
            "Grep" | "Glob" => json!({"pattern": "a", "path": about}),
            "Agent" => json!({"subagent_type": about, "description": "a part of the work", "prompt": "do it"}),
            "WebFetch" => json!({"url": about, "prompt": "read it"}),
            _ => json!({"file_path": about}),
        };
        let runner = about.starts_with("cargo test").then_some(Runner::Cargo).or(runner);
        Self::new(name, tool, None, input, runner)
    }
}

/// The calls that agents make most, and behind them those that the skills name.
pub fn likely_calls(skills: &[&Skill]) -> Vec<LikelyCall> {
    let mut calls: Vec<LikelyCall> =
        MOST.iter().map(|[name, tool, about]| LikelyCall::of(Some(name), tool, about, None)).collect();
    for skill in skills {
        each_line(skill, &mut |matcher, runner| {
            for call in named(matcher, skill, runner) {
                if !calls.iter().any(|known| known.line == call.line) {
                    calls.push(call);
                }
            }
        });
    }
    calls
}

/// Calls `visit` with every line of a skill, and with the runner of tests whose report it asks for.
fn each_line(skill: &Skill, visit: &mut dyn FnMut(&Matcher, Option<Runner>)) {
    let before = skill.start.iter().filter_map(|start| if let Start::Before(line) = start { Some(line) } else { None });
    let lists =
        skill.global_forbidden.iter().chain(before).chain(skill.unlisted_lines.iter().map(|line| &line.matcher));
    let phases = skill.phases.iter().flat_map(|phase| phase.allowed.iter().chain(&phase.forbidden));
    lists.chain(phases).for_each(|matcher| matcher.each(&mut |one| visit(one, None)));
    for condition in skill.phases.iter().flat_map(Phase::conditions) {
        condition.each_call(&mut |test| match test.wanted {
            // One runner stands for all where any is asked for.
            Wanted::Tests(tests) if !tests.selected => {}
            Wanted::Report(report) => visit(&test.matcher, Some(report.runner)),
            _ => test.matcher.each(&mut |one| visit(one, None)),
        });
    }
    skill.children.iter().for_each(|child| each_line(child, visit));
}

/// Whether every line of the skill tells calls apart by their tools alone, so that one call of each tool stands for all.
pub fn tells_by_tools_alone(skill: &Skill) -> bool {
    let mut alone = true;
    each_line(skill, &mut |matcher, _| {
        alone &= matcher.args.is_empty()
            && matcher.commands.is_empty()
            && matcher.paths.is_empty()
            && matcher.invokes.is_none()
            && matcher.agent.is_none();
    });
    alone && skill.artifacts.is_empty()
}

/// Values that the inputs of a skill take; `None`: none of the samples is one, and nothing is given.
pub fn sample_inputs(skill: &Skill, given: &Values) -> Option<Values> {
    const SAMPLES: [&str; 9] = ["a", "src/lib.rs", "A-1", "1", "main", "1.0.0", "v1.0.0", "2026-01-01", "cargo"];
    let value = |input: &Input| {
        let sample = || SAMPLES.into_iter().find(|sample| input.takes(sample)).map(str::to_owned);
        Some((input.name.clone(), given.get(&input.name).cloned().or_else(sample)?))
    };
    skill.inputs.iter().map(value).collect::<Option<BTreeMap<_, _>>>()
}

/// The calls that a line of a skill names.
fn named(matcher: &Matcher, skill: &Skill, runner: Option<Runner>) -> Vec<LikelyCall> {
    if !matcher.commands.is_empty() {
        return matcher.commands.iter().filter_map(|command| of_command(command, runner)).collect();
    }
    let tool = match &matcher.tool {
        ToolPattern::Exact(tool) => tool.clone(),
        ToolPattern::Prefix(prefix) => format!("{prefix}x"),
        ToolPattern::Any | ToolPattern::Label(_) => String::new(),
    };
    if !matcher.paths.is_empty() {
        let files = matcher.paths.iter().flat_map(|test| {
            let tool = match (tool.as_str(), test.access) {
                ("", Access::Read) => "Read",
                ("", Access::Write) => "Write",
                ("", _) => return Vec::new(),
                (tool, _) => tool,
            };
            let is_known = |[_, known, about]: &[&str; 3]| {
                matches!(*known, "Edit" | "Read") && (tool == *known || tool == "Write") && test.pattern.fits(about)
            };
            if MOST.iter().any(is_known) {
                return Vec::new();
            }
            let call = |path: String| LikelyCall::of(None, tool, &path, None);
            choices(&test.pattern).iter().take(MAX_FILES).map(|pattern| call(one_file(pattern))).collect::<Vec<_>>()
        });
        return files.collect();
    }
    if tool.is_empty() || tool == BASH && matcher.args.is_empty() {
        return Vec::new();
    }
    let server = match &matcher.server {
        ServerPattern::Named(server) => Some(server.as_str()),
        ServerPattern::Bare if is_builtin(&tool) => None,
        ServerPattern::Bare => skill.servers.first().map(String::as_str),
    };
    let mut input = match (&*tool, &matcher.agent) {
        (_, Some(AgentTest::Kind(_) | AgentTest::Subagent)) => return Vec::new(),
        ("Read" | "Edit" | "Write" | "Grep" | "Glob" | "Agent" | "WebFetch", _) if matcher.args.is_empty() => {
            return if MOST.iter().any(|[_, known, _]| *known == tool) {
                Vec::new()
            } else {
                vec![LikelyCall::of(None, &tool, "src/lib.rs", None)]
            };
        }
        _ => json!({}),
    };
    for test in matcher.args.iter().filter(|test| !test.path.contains('.')) {
        let value = match &test.is {
            ArgIs::Equal(value) => value.clone(),
            ArgIs::OneOf(values) => values.first().cloned().unwrap_or_default(),
            ArgIs::Begins(text) | ArgIs::Contains(text) => json!(text),
            ArgIs::Present(true) => json!("a"),
            ArgIs::Section(_) | ArgIs::Present(false) => continue,
        };
        if let Some(fields) = input.as_object_mut() {
            fields.insert(test.path.clone(), value);
        }
    }
    vec![LikelyCall::new(None, &tool, server, input, None)]
}

/// A command that the words of a line select.
fn of_command(command: &str, runner: Option<Runner>) -> Option<LikelyCall> {
    let words: Vec<&str> = match command.strip_prefix(DOES) {
        Some(word) => vec![OF_WORDS.iter().find(|[known, _]| *known == word)?[1]],
        None => command.split_whitespace().filter(|word| *word != "*").collect(),
    };
    let line = words.join(" ").replace("**", "a").replace('*', "a");
    (!line.is_empty()).then(|| LikelyCall::of(None, BASH, &line, runner))
}

/// A file that a pattern without braces selects.
fn one_file(pattern: &str) -> String {
    let plain = pattern.replace("**/", "").replace("**", "a.txt").replace(['*', '?'], "a");
    plain.trim_start_matches("./").to_owned()
}
