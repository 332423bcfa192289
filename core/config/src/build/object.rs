//! Matchers written as objects.

use std::fmt::Write as _;

use phasegate_core::calls::analysis::{Access, Invocation};
use phasegate_core::calls::tool::BASH;
use phasegate_core::policy::matcher::{AgentTest, ArgIs, ArgTest, DOES, Matcher, PathTest, ServerPattern};
use phasegate_core::policy::section_test::SectionTest;
use phasegate_core::values::glob::text_fits;
use phasegate_core::{Code, EFFECTS, effect_in_words};
use serde_json::Value;

use super::builder::{Builder, child};
use super::pattern::pattern;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{closest, did_you_mean, listed};
use crate::source::{ArgSource, CommandSource, MatcherObject, PathSource, SectionSource};

/// The argument of a shell tool that holds the command line.
const COMMAND: &str = "command";

/// Builds the matchers of an object: one for each name under `tool`, `skill` or `starts`, each without what is excepted.
pub(super) fn matchers(
    builder: &mut Builder<'_>,
    source: &MatcherObject,
    node: &Node,
    except: &[Matcher],
) -> Vec<Matcher> {
    if let (Some(_), Some(_), Some(entry)) = (&source.command, &source.does, node.entry("does")) {
        let finding = Finding::error(Code::ConfigValue, entry.key_span, "`command` and `does` both say what is run");
        builder.findings.push(finding.suggest("write two lines, or one of the two as an exception"));
        return Vec::new();
    }
    if let (Some(_), None, Some(entry)) = (source.adds, &source.writes, node.entry("adds")) {
        let finding =
            Finding::error(Code::ConfigValue, entry.key_span, "`adds` says what is added to the files of `writes`");
        builder.findings.push(finding.suggest("name the files: `writes: \"@source\"`"));
        return Vec::new();
    }
    let tools = match (&source.tool, &source.command) {
        (Some(tool), _) => tool.as_str(),
        (None, Some(_)) => BASH,
        (None, None) => "*",
    };
    if *source == MatcherObject::default() {
        let finding = Finding::error(Code::MatcherEmpty, node.span, "an empty object names no calls");
        builder.findings.push(finding.suggest("give it a key, for example `tool`, `command` or `writes`"));
        return Vec::new();
    }
    let args = arguments(builder, source, child(node, "args"));
    let commands = match &source.does {
        Some(words) => does(builder, words.each(), child(node, "does")),
        None => commands(builder, source, child(node, COMMAND)),
    };
    let paths = accesses(builder, source, node);
    let agent = source.agent.as_deref().map(agent_test);
    let invoked = invocations(builder, source, node);
    let (Some(args), Some(commands), Some(paths), Some(invoked)) = (args, commands, paths, invoked) else {
        return Vec::new();
    };
    let mut matchers = Vec::new();
    let names = tools.split('|').map(str::trim);
    for (name, invokes) in names.flat_map(|name| invoked.iter().map(move |invokes| (name, invokes))) {
        let found = pattern(builder, name, child(node, "tool").span);
        let Some((tool, from_name)) = found else { continue };
        let Some(server) = server(builder, source, from_name, child(node, "server").span) else { continue };
        let (args, commands, paths, agent) = (args.clone(), commands.clone(), paths.clone(), agent.clone());
        let (invokes, except) = (invokes.clone(), except.to_vec());
        let mut matcher = Matcher { text: String::new(), tool, server, args, commands, paths, invokes, agent, except };
        matcher.text = note(source, name, &matcher);
        matchers.push(matcher);
    }
    matchers
}

fn server(
    builder: &mut Builder<'_>,
    source: &MatcherObject,
    from_name: ServerPattern,
    span: Span,
) -> Option<ServerPattern> {
    match (&source.server, from_name) {
        (None, pattern) => Some(pattern),
        (Some(server), ServerPattern::Bare) if !server.is_empty() => Some(ServerPattern::Named(server.clone())),
        (Some(server), ServerPattern::Named(name)) if *server == name => Some(ServerPattern::Named(name)),
        (Some(server), ServerPattern::Named(name)) => {
            let message = format!("the tool's name says server `{name}`, the key `server` says `{server}`");
            builder
                .findings
                .push(Finding::error(Code::MatcherNeverMatches, span, message).suggest("remove one of the two"));
            None
        }
        (Some(_), ServerPattern::Bare) => {
            builder.findings.push(
                Finding::error(Code::MatcherEmpty, span, "no server has an empty name").suggest("name the server"),
            );
            None
        }
    }
}

/// What the calls invoke, one of these; `None` after a mistake.
fn invocations(builder: &mut Builder<'_>, source: &MatcherObject, node: &Node) -> Option<Vec<Option<Box<Invocation>>>> {
    match (&source.skill, &source.starts) {
        (Some(_), Some(_)) => {
            let message = "no call gives the text of a skill and starts a subagent at once";
            let finding = Finding::error(Code::MatcherNeverMatches, child(node, "starts").span, message);
            builder.findings.push(finding.suggest("write two lines, one with `skill` and one with `starts`"));
            None
        }
        (None, None) => Some(vec![None]),
        (skill, agent) => {
            let skills = skill.iter().flat_map(PathSource::each).cloned().map(Invocation::Skill);
            let agents = agent.iter().flat_map(PathSource::each).cloned().map(Invocation::Agent);
            Some(skills.chain(agents).map(|one| Some(Box::new(one))).collect())
        }
    }
}

fn agent_test(agent: &str) -> AgentTest {
    match agent {
        "main" => AgentTest::Main,
        "subagent" => AgentTest::Subagent,
        kind => AgentTest::Kind(kind.into()),
    }
}

fn arguments(builder: &mut Builder<'_>, source: &MatcherObject, node: &Node) -> Option<Vec<ArgTest>> {
    let mut tests = Vec::new();
    let mut sound = true;
    for (path, source) in &source.args {
        let test = argument(path, source);
        let pattern = matches!(&test.is, ArgIs::Equal(Value::String(text)) if text.ends_with('*'));
        if path == COMMAND && (pattern || matches!(test.is, ArgIs::Begins(_) | ArgIs::Contains(_) | ArgIs::Section(_)))
        {
            builder.findings.push(equality_only(child(node, path).span));
            sound = false;
        }
        tests.push(test);
    }
    sound.then_some(tests)
}

/// What a value has to be, by the path to it.
pub(super) fn argument(path: &str, source: &ArgSource) -> ArgTest {
    let is = match source {
        ArgSource::Text(text) => ArgIs::Equal(Value::String(text.clone())),
        ArgSource::Bool(truth) => ArgIs::Equal(Value::Bool(*truth)),
        ArgSource::Number(number) => ArgIs::Equal(Value::Number(number.clone())),
        ArgSource::List(items) => ArgIs::Equal(Value::Array(items.clone())),
        ArgSource::Test(test) => (test.one_of.clone().map(ArgIs::OneOf))
            .or_else(|| test.begins.clone().map(ArgIs::Begins))
            .or_else(|| test.contains.clone().map(ArgIs::Contains))
            .or_else(|| test.section.as_ref().map(section))
            .unwrap_or(ArgIs::Present(test.present.unwrap_or(true))),
    };
    ArgTest { path: path.to_owned(), is }
}

fn section(source: &SectionSource) -> ArgIs {
    let heading = source.heading.trim_start_matches('#').trim().to_owned();
    ArgIs::Section(SectionTest { heading, min_words: source.min_words.unwrap_or(1) })
}

/// The commands of which one must match; empty where any may; `None` after a mistake.
fn commands(builder: &mut Builder<'_>, source: &MatcherObject, node: &Node) -> Option<Vec<String>> {
    match &source.command {
        None => Some(Vec::new()),
        Some(CommandSource::One(text)) => Some(vec![command(builder, text, node.span)?]),
        Some(CommandSource::AnyOf(texts)) if texts.is_empty() => {
            let finding = Finding::error(Code::MatcherEmpty, node.span, "an empty list names no command");
            builder.findings.push(finding.suggest("write the commands, or remove the key"));
            None
        }
        Some(CommandSource::AnyOf(texts)) => {
            let each = texts.iter().zip(node.items());
            let found: Vec<_> = each.map(|(text, item)| command(builder, text, item.span)).collect();
            found.into_iter().collect()
        }
    }
}

/// The words for what calls do; `None` after a mistake.
fn does(builder: &mut Builder<'_>, words: &[String], node: &Node) -> Option<Vec<String>> {
    let each = words.iter().zip(node.items()).map(|(word, item)| {
        if EFFECTS.contains(&word.as_str()) {
            return Some([DOES, word].concat());
        }
        let meant = did_you_mean(word, EFFECTS).unwrap_or_else(|| format!("the words are {}", listed(EFFECTS)));
        let finding = Finding::error(Code::ConfigValue, item.span, format!("`{word}` is no word for what a call does"));
        builder.findings.push(finding.suggest(meant));
        None
    });
    each.collect::<Vec<_>>().into_iter().collect()
}

fn command(builder: &mut Builder<'_>, text: &str, span: Span) -> Option<String> {
    let command = text.trim();
    if command.is_empty() {
        builder.findings.push(
            Finding::error(Code::MatcherEmpty, span, "an empty command line runs nothing")
                .suggest("write the command, or remove the key"),
        );
        return None;
    }
    let operators = ["|", ";", "&", ">", "<", "$(", "`", "\n"];
    if let Some(operator) = operators.into_iter().find(|operator| command.contains(operator)) {
        let message = format!("`{command}` matches a line of exactly this text only");
        let finding = Finding::warning(Code::MatcherUnsupported, span, message)
            .cause(format!("`{operator}` joins commands, and a matcher is about the words of one"));
        builder.findings.push(finding.suggest("name the command: each command of a line is judged by itself"));
    } else if command.len() > 2 && command.starts_with('/') && command.ends_with('/') {
        let message = format!("`{command}` is compared word by word, it is no regular expression");
        builder.findings.push(
            Finding::warning(Code::MatcherUnsupported, span, message)
                .suggest("write the words of the command, with `*` for any words: `git push *`"),
        );
    }
    if let Some(quote) = ['"', '\'', '\\'].into_iter().find(|quote| command.contains(*quote)) {
        let message = format!("`{command}` matches a line of exactly this text only");
        let finding = Finding::warning(Code::MatcherUnsupported, span, message)
            .cause(format!("words are compared as the program gets them, without `{quote}`"));
        builder.findings.push(finding.suggest("write the words without quotes, with `*` for any words"));
    }
    builder.findings.extend(unknown_command(command, span));
    Some(command.into())
}

/// A word in the place of a command that the program has not.
fn unknown_command(command: &str, span: Span) -> Option<Finding> {
    let mut words = command.split_whitespace();
    let (program, word) = (words.next()?, words.next()?);
    let own = phasegate_shell::Table::shipped().rule(program)?.own;
    if own.is_empty() || word.starts_with(['-', '*']) || own.split_whitespace().any(|own| text_fits(word, own)) {
        return None;
    }
    let meant = closest(word, own.split_whitespace());
    Some(
        Finding::warning(Code::MatcherNeverMatches, span, format!("`{program}` has no command `{word}`"))
            .cause("only an alias or an extension can have this name")
            .suggest(meant.map_or("check the spelling".into(), |meant| format!("did you mean `{program} {meant}`?"))),
    )
}

fn equality_only(span: Span) -> Finding {
    Finding::error(Code::MatcherUnsupported, span, "the argument `command` can be compared for equality only")
        .cause("the beginning of a line does not determine what it does")
        .suggest("write the key `command` with the words of one command: `command: \"git push *\"`")
}

fn accesses(builder: &mut Builder<'_>, source: &MatcherObject, node: &Node) -> Option<Vec<PathTest>> {
    let written = [
        ("reads", &source.reads, Access::Read),
        ("writes", &source.writes, Access::Write),
        ("executes", &source.executes, Access::Execute),
    ];
    let mut tests = Vec::new();
    let mut sound = true;
    for (key, path, access) in written {
        let Some(path) = path else { continue };
        match builder.groups.pattern(path, child(node, key).span) {
            Ok(pattern) => {
                let adds = key == "writes" && source.adds.is_some();
                tests.push(PathTest { access, pattern: pattern.into(), adds });
            }
            Err(finding) => {
                builder.findings.push(finding);
                sound = false;
            }
        }
    }
    sound.then_some(tests)
}

/// The pattern with its conditions in brackets: `Edit (writes src/**)`.
fn note(source: &MatcherObject, name: &str, matcher: &Matcher) -> String {
    let mut parts = Vec::new();
    parts.extend(source.server.iter().map(|server| format!("server {server}")));
    parts.extend(matcher.args.iter().map(|test| match &test.is {
        ArgIs::Equal(value) => format!("{} {value}", test.path),
        ArgIs::OneOf(values) => format!("{} one of {}", test.path, Value::Array(values.clone())),
        ArgIs::Begins(start) => format!("{} begins {}", test.path, Value::String(start.clone())),
        ArgIs::Contains(part) => format!("{} contains {}", test.path, Value::String(part.clone())),
        ArgIs::Section(section) => format!("{} with {section}", test.path),
        ArgIs::Present(true) => format!("{} given", test.path),
        ArgIs::Present(false) => format!("{} not given", test.path),
    }));
    let (effects, commands): (Vec<&String>, Vec<_>) =
        matcher.commands.iter().partition(|command| command.starts_with(DOES));
    let commands: Vec<_> = commands.into_iter().map(|command| Value::String(command.clone()).to_string()).collect();
    parts.extend((!commands.is_empty()).then(|| format!("command {}", commands.join(" or "))));
    let effects: Vec<_> = effects.into_iter().filter_map(|one| one.strip_prefix(DOES)).map(effect_in_words).collect();
    parts.extend((!effects.is_empty()).then(|| effects.join(" or ")));
    parts.extend(matcher.paths.iter().map(|test| match test.access {
        Access::Read => format!("reads {}", test.pattern),
        Access::Write | Access::Remove if test.adds => format!("adds code to {}", test.pattern),
        Access::Write | Access::Remove => format!("writes {}", test.pattern),
        Access::Execute => format!("executes {}", test.pattern),
    }));
    parts.extend(matcher.invokes.as_deref().map(|invoked| match invoked {
        Invocation::Skill(name) => format!("invokes the skill {name}"),
        Invocation::Agent(kind) => format!("starts the subagent {kind}"),
    }));
    parts.extend(source.agent.iter().map(|agent| format!("agent {agent}")));
    let except: Vec<&str> = matcher.except.iter().map(|other| other.text.as_str()).collect();
    parts.extend((!except.is_empty()).then(|| format!("except {}", except.join(" or "))));
    let mut text = name.to_string();
    if source.tool.is_none() {
        text = parts.join(", ");
    } else if !parts.is_empty() {
        // Writing into a string cannot fail.
        let _ = write!(text, " ({})", parts.join(", "));
    }
    text
}
