//! Phrases: what policies list and ask for, in the words of a sentence and short. `phasegate status --session` shows all of it.

use crate::calls::analysis::Access;
use crate::calls::outcome::CallOutcome;
use crate::calls::tool::{BASH, Call, READ};
use crate::evidence::artifact::{ArtifactTest, Marks};
use crate::evidence::condition::{CallTest, Condition, TestsResult, Wanted};
use crate::evidence::fact_test::times;
use crate::evidence::object::Same;
use crate::policy::Phase;
use crate::policy::matcher::{AgentTest, DOES, Matcher, PathTest, ToolPattern};
use crate::prelude::*;
use crate::values::glob;

/// The most characters of one line of a policy, or of a command of the agent's.
const MAX_LINE_CHARS: usize = 80;
/// The most characters of the commands of one line, apart from the first.
const MAX_COMMANDS_CHARS: usize = 40;
/// The most characters of what is needed: of the first item, and of as many as are named.
const MAX_NEEDS_CHARS: usize = 260;
/// The most characters of what is wrong with a file, apart from the first.
const MAX_FAULT_CHARS: usize = 200;
/// How what a person has to approve is called.
const APPROVAL: &str = "the user's approval";
/// The most elements of a plan that are named.
const MAX_ELEMENTS: usize = 5;
/// The most characters of a list, apart from its first item.
const MAX_LIST_CHARS: usize = 160;

/// The beginning of a text that is too long for a sentence.
pub(crate) fn shortened(text: &str) -> String {
    cut(text, MAX_LINE_CHARS)
}

/// The beginning of a text, as so many characters.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}\u{2026}", text.get(..end).unwrap_or_default()),
        None => text.to_string(),
    }
}

/// Items in a row, as many as a sentence takes: `a, b or 3 others`.
pub(crate) fn listed(items: &[String]) -> String {
    let mut text = String::new();
    for (index, item) in items.iter().enumerate() {
        if index > 0 && text.len().saturating_add(item.len()) > MAX_LIST_CHARS {
            return format!("{text}{}", others(items.len().saturating_sub(index)));
        }
        text.push_str(if index == 0 { "" } else { ", " });
        text.push_str(item);
    }
    text
}

/// All that is needed, as far as a sentence takes it.
pub(crate) fn joined(needs: &[String]) -> String {
    joined_within(needs, MAX_NEEDS_CHARS)
}

/// As [`joined`], of so many characters apart from the first item.
pub(crate) fn joined_within(needs: &[String], most: usize) -> String {
    let mut text = String::new();
    for (index, need) in needs.iter().enumerate() {
        if index > 0 && text.len().saturating_add(need.len()) > most {
            return format!("{text}; and {} more", needs.len().saturating_sub(index));
        }
        text.push_str(if index == 0 { "" } else { "; " });
        text.push_str(&cut(need, MAX_NEEDS_CHARS));
    }
    text
}

/// The lines of a list of a phase.
pub(crate) fn lines(matchers: &[Matcher]) -> String {
    listed(&matchers.iter().map(line).collect::<Vec<_>>())
}

/// The calls that a phase lists, or by which the runs begin that it consists of.
pub(crate) fn entering(phase: &Phase) -> String {
    listed(&phase.enters().map(line).collect::<Vec<_>>())
}

fn others(count: usize) -> String {
    match count {
        0 => String::new(),
        1 => " or 1 other".to_string(),
        _ => format!(" or {count} others"),
    }
}

/// One line of a list. Of many commands it names the first ones.
fn line(matcher: &Matcher) -> String {
    let Some((first, rest)) = commands_alone(matcher) else {
        return match by_agent(matcher) {
            Some(By { what, who }) => format!("{} by {who}", shortened(&what)),
            None => shortened(&matcher.text),
        };
    };
    let mut text = command_in_words(first);
    let mut left = rest.len();
    for command in rest {
        if text.len().saturating_add(command.len()) > MAX_COMMANDS_CHARS {
            break;
        }
        left = left.saturating_sub(1);
        text.push_str(&format!("{} {}", if left == 0 { " or" } else { "," }, command_in_words(command)));
    }
    let except: Vec<String> = matcher.except.iter().map(quoted).collect();
    let except = if except.is_empty() { String::new() } else { format!(" except {}", listed(&except)) };
    format!("{text}{}{except}", others(left))
}

/// A command in backticks, or what one does as a noun.
fn command_in_words(command: &str) -> String {
    command.strip_prefix(DOES).map_or_else(|| format!("`{}`", shortened(command)), effect_in_words)
}

/// What a command does, as a noun.
pub fn effect_in_words(word: &str) -> String {
    String::from(match word {
        "format" => "a formatter",
        "lint" => "a linter",
        "vcs" => "a switch, pull or stash of git",
        "install" => "an installation of packages",
        "build" => "a build",
        "test" => "a run of tests",
        "push" => "a push",
        "push_tag" => "a push of a tag",
        "force_push" => "a forced push",
        "tag" => "a new tag",
        "retag" => "a tag that is moved, removed or put on another commit",
        "commit" => "a commit",
        "plumbing" => "a change of git's index or refs past `git add` and `git commit`",
        "remotes" => "a change of where a push goes",
        "push_settings" => "a setting that changes what a push does",
        "version" => "a change of the version by its program",
        "backup" => "a whole dump into a file",
        "partial_dump" => "a dump that leaves data out",
        "publish" => "a publication",
        "deploy" => "a deployment",
        "migrate" => "a migration",
        "database" => "a change of a database",
        other => return format!("a call that does `{other}`"),
    })
}

/// A line that is about the calls of one agent.
struct By {
    /// The line without the agent.
    what: String,
    who: String,
}

/// The line of a matcher in two parts, where it names the agent that it is about.
fn by_agent(matcher: &Matcher) -> Option<By> {
    let what = without_agent(matcher)?;
    let who = match matcher.agent.as_ref()? {
        AgentTest::Main => String::from("the main agent"),
        AgentTest::Subagent => String::from("a subagent"),
        AgentTest::Kind(kind) => format!("the subagent `{}`", shortened(kind)),
    };
    Some(By { what, who })
}

/// The line of a matcher without the agent that it is about; `None`: it names none.
pub(crate) fn without_agent(matcher: &Matcher) -> Option<String> {
    let named = match matcher.agent.as_ref()? {
        AgentTest::Main => String::from(", agent main"),
        AgentTest::Subagent => String::from(", agent subagent"),
        AgentTest::Kind(kind) => format!(", agent {kind}"),
    };
    matcher.text.contains(&named).then(|| matcher.text.replacen(&named, "", 1))
}

/// What a call does that a line about files, or about what calls do, selects.
pub(crate) fn predicate(matcher: &Matcher) -> Option<String> {
    let other = !matcher.args.is_empty() || matcher.agent.is_some() || matcher.invokes.is_some();
    match (matcher.commands.as_slice(), matcher.paths.as_slice()) {
        _ if other || !of_any_program(&matcher.tool) && matcher.commands.is_empty() => None,
        ([], [test]) => {
            let files = match &*test.pattern {
                "**" | "{**,/**}" => "a file".to_string(),
                pattern => shortened(&glob::in_words(pattern)),
            };
            Some(format!("{} {files}{}", test.access.verb(), other_than(matcher, test.access)))
        }
        ([first, ..], []) => first.strip_prefix(DOES).map(|word| format!("is {}", effect_in_words(word))),
        _ => None,
    }
}

/// The files that a line about files excepts.
fn other_than(matcher: &Matcher, access: Access) -> String {
    let files = |except: &Matcher| match except.paths.as_slice() {
        [test] if test.access == access && of_any_program(&except.tool) && except.commands.is_empty() => {
            Some(shortened(&glob::in_words(&test.pattern)))
        }
        _ => None,
    };
    let files: Vec<String> = matcher.except.iter().filter_map(files).collect();
    if files.is_empty() { String::new() } else { format!(" other than {}", listed(&files)) }
}

/// Whether a line is about each tool, or each line of a shell.
fn of_any_program(tool: &ToolPattern) -> bool {
    matches!(tool, ToolPattern::Any) || matches!(tool, ToolPattern::Exact(name) if name == BASH)
}

/// One line of a list, in backticks.
pub(crate) fn quoted(matcher: &Matcher) -> String {
    commands_alone(matcher).map_or_else(|| format!("`{}`", shortened(&matcher.text)), |_| line(matcher))
}

/// The commands of a matcher that has no other condition.
fn commands_alone(matcher: &Matcher) -> Option<(&String, &[String])> {
    let alone = matcher.args.is_empty() && matcher.paths.is_empty() && matcher.agent.is_none();
    let alone = alone && matcher.invokes.is_none();
    matcher.commands.split_first().filter(|_| alone)
}

impl Condition {
    /// What it asks for, in the words of a sentence.
    pub fn wanted(&self) -> String {
        wanted(self)
    }

    /// That it holds, in few words.
    pub fn reason(&self) -> String {
        reason(self)
    }
}

/// What a condition asks for, for example ``a failed run of `cargo test *` or 19 others``.
pub(crate) fn wanted(condition: &Condition) -> String {
    match condition {
        Condition::Call(test) => call(test),
        Condition::Approved(gate) => approval(&gate.name),
        Condition::All(parts) => {
            let each: Vec<&Condition> = parts.iter().filter(|part| written(part, parts).is_none()).collect();
            let several = |part: &&Condition| matches!(part, Condition::Any(ways) if ways.len() > 1);
            let numbered = each.len() > 1 && each.iter().any(several);
            all(each.into_iter().map(wanted).collect(), numbered)
        }
        Condition::Any(parts) => either(&alternatives(parts)),
        Condition::Unchanged(test) => format!("{} as it was when the phase began", glob::quoted(&test.content.text)),
        Condition::Artifact(test) => artifact(test),
        Condition::Says(_) => "a message that says that it is complete".to_string(),
        Condition::Not(_) | Condition::Fact(_) => shortened(&condition.to_string()),
    }
}

/// All of several things: what the agent can do comes first. `numbered`: one of them can be done in several ways.
fn all(mut phrases: Vec<String>, numbered: bool) -> String {
    approvals_last(&mut phrases);
    if !numbered {
        return phrases.join(" and ");
    }
    let numbered = (1..).zip(phrases).map(|(number, phrase): (u32, _)| format!("({number}) {phrase}"));
    numbered.collect::<Vec<_>>().join(" and ")
}

/// Puts what a person has to say behind what the agent can do.
pub(crate) fn approvals_last(phrases: &mut [String]) {
    phrases.sort_by_key(|phrase| phrase.starts_with(APPROVAL));
}

/// A person's word, as something that is needed.
pub(crate) fn approval(name: &str) -> String {
    format!("{APPROVAL} `{name}`")
}

/// A text without the patterns of files that stand in brackets behind their names.
pub(crate) fn without_patterns(text: &str) -> String {
    let mut parts = text.split(" (");
    let mut plain = parts.next().unwrap_or_default().to_string();
    for part in parts {
        match part.split_once(')') {
            // What stands between two backticks is a word of the policy.
            Some((patterns, rest)) if patterns.contains('*') && plain.matches('`').count().is_multiple_of(2) => {
                plain.push_str(rest);
            }
            _ => plain.extend([" (", part]),
        }
    }
    plain
}

/// The ways in which one of several conditions can hold.
fn alternatives(parts: &[Condition]) -> Vec<String> {
    let mut phrases: Vec<String> = parts.iter().map(wanted).collect();
    without_approvals(&mut phrases);
    phrases
}

/// Takes a person's word out of several ways, where there is another: it is told apart.
pub(crate) fn without_approvals(phrases: &mut Vec<String>) {
    let others = phrases.iter().any(|phrase| !phrase.starts_with(APPROVAL));
    phrases.retain(|phrase| !others || !phrase.starts_with(APPROVAL));
}

/// The part that asks for an artifact, where this part asks for a call that writes its files. A sentence names one of them.
pub(crate) fn written<'p>(part: &Condition, parts: &'p [Condition]) -> Option<&'p Condition> {
    let Condition::Call(CallTest { matcher, unchanged: None, .. }) = part else { return None };
    let [PathTest { access: Access::Write, pattern, .. }] = matcher.paths.as_slice() else { return None };
    let alone = matcher.tool == ToolPattern::Any && matcher.commands.is_empty() && matcher.agent.is_none();
    let its = |part: &&Condition| matches!(part, Condition::Artifact(test) if *test.content.text == **pattern);
    parts.iter().find(its).filter(|_| alone)
}

/// Why something may be passed over: that a condition holds.
pub(crate) fn reason(condition: &Condition) -> String {
    if let Condition::Artifact(ArtifactTest { name, marks: Some(marks), .. }) = condition {
        return format!("`{name}` contains `{}` {}", shortened(&marks.text), times(marks.at_least, marks.at_most));
    }
    shortened(&condition.to_string())
}

fn artifact(test: &ArtifactTest) -> String {
    let new = if test.content.since.is_some() { "a new or changed file" } else { "a file" };
    let files = match test.name.as_str() {
        "" => format!("{new} `{}`", shortened(&test.content.text)),
        name => format!("{new} of the artifact `{name}` ({})", shortened(&test.content.text)),
    };
    let digest = test.sha256.iter().map(|digest| format!("with the digest {digest}"));
    let marks =
        |marks: &Marks| format!("with `{}` {} in it", shortened(&marks.text), times(marks.at_least, marks.at_most));
    let pointer = test.pointer.iter().map(|test| format!("with {}", shortened(&test.to_string())));
    let said = digest.chain(test.marks.iter().map(marks)).chain(pointer).chain(test.format.clone());
    said.fold(files, |files, part| format!("{files}, {part}"))
}

/// An artifact of which a file has not its format.
pub(crate) fn faulty(test: &ArtifactTest, fault: &str) -> String {
    let faults: Vec<String> = fault.split("; ").map(String::from).collect();
    format!("the artifact `{}` in its format ({})", test.name, joined_within(&faults, MAX_FAULT_CHARS))
}

/// The runs that a phase consists of.
pub(crate) fn of_runs(names: &[String], parallel: bool) -> String {
    let how = match names.len() {
        0 | 1 => "",
        _ if parallel => ", in any order",
        _ => ", one after the other",
    };
    let (skills, are) = if names.len() > 1 { ("skills", "are") } else { ("skill", "is") };
    format!("that the {skills} {} {are} done{how}", listed(names))
}

/// The elements of a plan that a phase runs.
pub(crate) fn of_elements(left: &[&str], failed: bool) -> String {
    let shown: Vec<String> = left.iter().take(MAX_ELEMENTS).map(|id| format!("`{id}`")).collect();
    let more = left.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let failed = if failed { ", and one of them failed" } else { "" };
    format!("that {}{more} of the plan {} done{failed}", listed(&shown), if left.len() > 1 { "are" } else { "is" })
}

/// One of several things that would do.
pub(crate) fn either(phrases: &[String]) -> String {
    let all = phrases.join(" or ").replace(" or a test run that", " or one that");
    match phrases.split_first() {
        Some((first, rest)) if all.len() > MAX_LIST_CHARS && !rest.is_empty() => {
            let ways = if rest.len() == 1 { "way" } else { "ways" };
            format!("{first}, or {} other {ways}", rest.len())
        }
        _ => all,
    }
}

/// What a condition on a call asks for.
pub(crate) fn call(test: &CallTest) -> String {
    let ending = match test.wanted {
        Wanted::Outcome(CallOutcome::Ok) => "successful",
        Wanted::Ended => "completed",
        Wanted::Outcome(outcome) => outcome.word(),
        Wanted::Tests(tests) => {
            let of = if tests.selected { format!(" of {}", line(&test.matcher)) } else { String::new() };
            return of_tests(tests.result, tests.selected, &of);
        }
        Wanted::Report(report) => return of_tests(report.result, report.part, ""),
    };
    let matcher = &test.matcher;
    if commands_alone(matcher).is_some() {
        let text = line(matcher);
        let done = matcher.commands.iter().all(|command| command.starts_with(DOES)).then(|| text.split_once(' '));
        match done.flatten() {
            Some(("a" | "an", what)) => format!("a {ending} {what}"),
            _ => format!("a {ending} run of {text}"),
        }
    } else if matcher.tool == ToolPattern::Any && (!matcher.paths.is_empty() || matcher.invokes.is_some()) {
        match by_agent(matcher) {
            Some(By { what, who }) => format!("a {ending} call of {who} that {}", shortened(&what)),
            None => format!("a {ending} call that {}", line(matcher)),
        }
    } else if matcher.tool == ToolPattern::Label(READ.to_string()) && matcher.text == "@read" {
        format!("a {ending} call that only reads")
    } else {
        format!("a {ending} call of {}", line(matcher))
    }
}

/// What a call has to be about, for this one to be allowed.
pub(crate) fn about(same: &[Same], call: &Call) -> String {
    let each = same.iter().map(|one| match one.mine.values(call) {
        Some(values) => {
            let values: Vec<String> = values.iter().map(|value| format!("`{}`", shortened(value))).collect();
            format!(" with {} in `{}`", listed(&values), one.its)
        }
        None => format!(" (which nothing can show, as `{}` of this call is not known)", one.mine),
    });
    each.collect::<Vec<_>>().join(" and")
}

fn of_tests(result: TestsResult, selected: bool, of: &str) -> String {
    match result {
        TestsResult::Passed if selected => format!("a test run{of} that passed"),
        TestsResult::Passed => "a run of the whole test suite that passed".to_string(),
        TestsResult::Failed => format!("a test run{of} that failed"),
        TestsResult::Broken => format!("a test run{of} that could not be built"),
    }
}
