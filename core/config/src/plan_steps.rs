//! The steps of a plan, as an agent proposes them and a person approves them.

use phasegate_core::calls::analysis::{Access, SimpleCommand};
use phasegate_core::calls::tool::BASH;
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::policy::steps::{MAX_STEPS, Step, StepState};
use phasegate_core::shell::same_line::in_words;
use phasegate_rules::{builtin, builtin_argument};
use phasegate_shell::{Judgement, Table, Touch, Trust, judge};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};
use serde_json::{Map, Value};

use crate::build::builder::Builder;
use crate::build::matcher;
use crate::diagnostic::Severity;
use crate::read::read;
use crate::read::suggestion::{did_you_mean, listed, slip};
use crate::read::text::Text;
use crate::settings::groups::Groups;
use crate::source::{ArgSource, CommandSource, MatcherObject, MatcherSource};

/// The keys of a step that say nothing of its call.
const OWN_KEYS: [&str; 3] = ["id", "text", "after"];

/// The keys of a matcher, which say what its call is.
const STEP_KEYS: [&str; 11] =
    ["tool", "server", "args", "command", "reads", "writes", "executes", "skill", "starts", "agent", "except"];

/// The most commands of a step, of which it permits one.
const MAX_COMMANDS: usize = 20;

/// The argument of a shell that is its line.
const COMMAND: &str = "command";
/// The arguments of the clients' own tools that say what a call of them is about.
const SUBJECTS: [&str; 3] = [COMMAND, "file_path", "notebook_path"];

/// The words that stand for others in a command.
const STARS: [&str; 2] = ["*", "**"];
/// What a line may change that names no file.
const ANY_FILE: &str = "any file";

/// The steps that stand in a document of YAML or JSON at this JSON pointer; in Markdown they stand in a block of code, the
/// only one with a list there. A text is prose; an object is prose too, unless
/// it says which call it permits, in the words of a line of `allowed`.
///
/// # Errors
///
/// It is no document with a list there, or steps mean nothing: each fault on a line of its own.
pub fn plan_steps(document: &str, at: &str) -> Result<Vec<Step>, String> {
    let steps = match list(document, at) {
        Some(steps) => steps,
        None => {
            let blocks = blocks(document);
            let mut found = blocks.iter().filter_map(|block| list(block, at));
            match (found.next(), found.next()) {
                (Some(only), None) => only,
                (None, _) => return Err(without_steps(document, &blocks, at)),
                (Some(_), Some(_)) => return Err(format!("several blocks of code in it have a list at `{at}`")),
            }
        }
    };
    if steps.len() > MAX_STEPS {
        return Err(format!("it has {} steps, and {MAX_STEPS} are the most", steps.len()));
    }
    let (mut read, mut faults) = (Vec::new(), Vec::new());
    for (place, one) in steps.iter().enumerate() {
        match step(place + 1, one) {
            Ok(step) => read.push(step),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(read) } else { Err(faults.join("\n")) }
}

/// Why a document has no steps: it, or a block of code in it, is meant as JSON and is none; or no list stands there.
fn without_steps(document: &str, blocks: &[String], at: &str) -> String {
    let meant = |text: &str| text.trim_start().starts_with(['{', '[']);
    let fault = |text: &str| serde_json::from_str::<Value>(text).err().filter(|_| meant(text));
    if let Some(error) = fault(document) {
        return format!("it is not JSON: {error}");
    }
    match blocks.iter().find_map(|block| fault(block)) {
        Some(error) => format!("a block of code in it is not JSON: {error} of the block"),
        None if meant(document) => format!("it has no list at `{at}`"),
        None => format!("it has no list at `{at}`, and neither has a block of code in it"),
    }
}

/// The list at a pointer of a document of YAML or JSON.
fn list(document: &str, at: &str) -> Option<Vec<Value>> {
    let value = read(&Text::whole(document), &mut Vec::new())?.to_value();
    value.pointer(at).and_then(Value::as_array).cloned()
}

/// The fenced blocks of code of a text in Markdown.
fn blocks(document: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut block: Option<String> = None;
    for event in Parser::new(document) {
        match event {
            Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(_))) => block = Some(String::new()),
            Event::Text(text) => block.iter_mut().for_each(|block| block.push_str(&text)),
            Event::End(TagEnd::CodeBlock) => blocks.extend(block.take()),
            _ => {}
        }
    }
    blocks
}

fn step(number: usize, value: &Value) -> Result<Step, String> {
    let mut step = Step {
        id: number.to_string(),
        text: String::new(),
        lines: Vec::new(),
        in_words: Vec::new(),
        may_change: String::new(),
        after: Vec::new(),
        state: StepState::Open,
    };
    let wrong = |what: &str| format!("step {number}: {what}");
    let fields = match value {
        Value::String(text) => return Ok(Step { text: text.clone(), ..step }),
        Value::Object(fields) => fields,
        _ => return Err(wrong("it is neither a text nor an object")),
    };
    if let Some(id) = fields.get("id") {
        step.id = plain(id).ok_or_else(|| wrong("`id` is a text or a number"))?;
    }
    if let Some(text) = fields.get("text") {
        step.text = text.as_str().map(str::to_owned).ok_or_else(|| wrong("`text` is a text"))?;
    }
    step.after = match fields.get("after") {
        None => Vec::new(),
        Some(Value::Array(names)) => {
            names.iter().map(plain).collect::<Option<_>>().ok_or_else(|| wrong("`after` lists names"))?
        }
        Some(name) => vec![plain(name).ok_or_else(|| wrong("`after` lists names"))?],
    };
    let mut call: Map<String, Value> = fields
        .iter()
        .filter(|(key, _)| !OWN_KEYS.contains(&key.as_str()))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if let Some(unknown) = call.keys().find(|key| !STEP_KEYS.contains(&key.as_str())) {
        let known = OWN_KEYS.iter().chain(&STEP_KEYS).copied();
        let meant = did_you_mean(unknown, known.clone()).unwrap_or_else(|| format!("a step has {}", listed(known)));
        return Err(wrong(&format!("unknown field `{unknown}`; {meant}")));
    }
    if let Some(Value::String(tool)) = call.get_mut("tool").filter(|_| !fields.contains_key("server")) {
        *tool = tool_meant(tool).map_err(|what| wrong(&what))?;
    }
    if !call.is_empty() {
        let mut read = shell_lines(&call).map_err(|what| wrong(&what))?;
        read.extend(lines_of_argument(&call).map_err(|what| wrong(&what))?);
        let texts = read.iter().map(|line| line.may_change.clone()).filter(|text| !text.is_empty());
        step.may_change = texts.min_by_key(|text| text != ANY_FILE).unwrap_or_default();
        step.in_words = read.into_iter().filter_map(|line| line.in_words).collect();
        step.lines = lines(call).map_err(|what| wrong(&what))?;
    }
    Ok(step)
}

/// The name of the tool that a step calls, as calls have it. Of a client's own tools, capital letters differ.
fn tool_meant(name: &str) -> Result<String, String> {
    if let Some(own) = builtin_of(&Value::from(name)) {
        return Ok(own);
    }
    let known: Vec<String> = builtin(|_| Vec::new()).into_iter().map(|tool| tool.action).collect();
    // A tool of a plugin may have any name but one that is a slip of the fingers.
    match slip(name, known.iter().map(String::as_str)) {
        Some(meant) => Err(format!("no tool is called `{name}`; did you mean `{meant}`?")),
        None => Ok(name.to_owned()),
    }
}

/// A command of a step, as a line of the shell.
struct ShellLine {
    /// It in words, as far as these are known.
    in_words: Option<String>,
    /// What it may change beside the files that it names.
    may_change: String,
}

/// The commands of a step.
fn shell_lines(call: &Map<String, Value>) -> Result<Vec<ShellLine>, String> {
    let command = call.get("command").and_then(|command| serde_json::from_value(command.clone()).ok());
    let commands = match command {
        Some(CommandSource::One(one)) => vec![one],
        Some(CommandSource::AnyOf(several)) => several,
        None => Vec::new(),
    };
    if commands.len() > MAX_COMMANDS {
        return Err(format!("it names {} commands, and {MAX_COMMANDS} are the most", commands.len()));
    }
    commands.iter().map(|command| shell_line(command.trim())).collect()
}

/// The lines that a step names as an argument. They are compared letter by letter, and a star in them is the shell's own.
fn lines_of_argument(call: &Map<String, Value>) -> Result<Vec<ShellLine>, String> {
    if call.contains_key("server")
        || call.get("tool").is_some_and(|tool| builtin_of(tool).is_some_and(|own| own != BASH))
    {
        return Ok(Vec::new());
    }
    let given = call.get("args").and_then(|args| args.get(COMMAND));
    let several = given.and_then(|test| test.get("one_of")?.as_array());
    let lines = given.into_iter().chain(several.into_iter().flatten()).filter_map(Value::as_str);
    if several.is_some_and(|several| several.len() > MAX_COMMANDS) {
        return Err(format!("it names more than {MAX_COMMANDS} commands"));
    }
    let line =
        |line: &str| read_line(line).map(|(_, touches)| ShellLine { in_words: None, may_change: may_change(&touches) });
    lines.map(line).collect()
}

/// The tool among those that clients bring along that has this name, whatever the letters' case.
fn builtin_of(tool: &Value) -> Option<String> {
    let known = builtin(|_| Vec::new()).into_iter().map(|tool| tool.action);
    tool.as_str().and_then(|name| known.into_iter().find(|tool| tool.eq_ignore_ascii_case(name)))
}

/// The commands of a line that can be read, none of them in the background; and what they touch.
fn read_line(line: &str) -> Result<(Vec<SimpleCommand>, Vec<Touch>), String> {
    let Judgement { parts, problem, touches, .. } = judge(line, &Table::shipped(), Trust::default());
    if let Some(problem) = problem {
        return Err(format!("`{line}`: {}", problem.what));
    }
    let commands: Vec<_> = parts.into_iter().map(|part| part.command).collect();
    if has_background(line, &commands) {
        let how = "leave `&` out, and let the client run it in the background";
        return Err(format!("`{line}`: how a command in the background ends, the line does not tell; {how}"));
    }
    Ok((commands, touches))
}

/// A command. A star is a word of a pattern, and a pattern is about one command without quotes.
fn shell_line(line: &str) -> Result<ShellLine, String> {
    let (commands, touches) = read_line(line)?;
    let stars = line.split_whitespace().any(|word| STARS.contains(&word));
    if stars && (commands.len() > 1 || line.contains(['"', '\''])) {
        let how = "write each command as a step of its own, and `**` for a word with blanks";
        return Err(format!("`{line}`: a star stands for words in one command without quotes; {how}"));
    }
    let in_words = in_words(line, &commands).filter(|_| !commands.is_empty());
    // A star stands for words that nobody knows: one is put in its place.
    let words = line.split_whitespace().map(|word| if STARS.contains(&word) { "x" } else { word });
    let filled = || judge(&words.collect::<Vec<_>>().join(" "), &Table::shipped(), Trust::default()).touches;
    let may_change = may_change(&if stars { filled() } else { touches });
    Ok(ShellLine { in_words, may_change })
}

/// Whether a command of the line runs in the background: `&` stands between its commands or after them.
fn has_background(line: &str, commands: &[SimpleCommand]) -> bool {
    let place = |at: u32| usize::try_from(at).unwrap_or(usize::MAX);
    let starts = commands.iter().map(|command| place(command.span.0)).chain([line.len()]);
    let ends = core::iter::once(0).chain(commands.iter().map(|command| place(command.span.1)));
    ends.zip(starts).filter_map(|(from, to)| line.get(from..to)).any(|gap| {
        let others = ["&&", "|&", "&>", ">&", "<&"];
        others.iter().fold(gap.to_owned(), |gap, other| gap.replace(other, " ")).contains('&')
    })
}

/// What a line may change beside the files that it names, for the person who approves it; empty: nothing.
fn may_change(touches: &[Touch]) -> String {
    let changed = touches.iter().filter(|touch| touch.access != Access::Read && touch.path.text().is_none());
    let texts = changed.map(|touch| match touch.path.folder() {
        Some(folder) => format!("files below `{folder}`"),
        None => ANY_FILE.to_owned(),
    });
    // Of several, the one that says most.
    texts.min_by_key(|text| text != ANY_FILE).unwrap_or_default()
}

/// Whether it says which call it permits: a shell's by its command, one that is about a file by its path, and another tool's
/// by its name. Who calls, and which calls are not meant, says nothing of it.
fn says_which(object: &MatcherObject) -> bool {
    let MatcherObject { command, reads, writes, executes, skill, starts, args, .. } = object;
    if command.is_some()
        || [reads, writes, executes].into_iter().any(Option::is_some)
        || [skill, starts].into_iter().any(Option::is_some)
    {
        return true;
    }
    let tool = object.tool.as_deref().unwrap_or_default();
    let is_open = |tool: &str| tool.is_empty() || tool.contains(['*', '@']);
    let any = || args.values().any(tells);
    if object.server.is_some() {
        return any() || !(is_open(tool) || tool.contains('|'));
    }
    let names = |subject: &&str| args.get(*subject).is_some_and(tells);
    let is_said = |tool: &str| {
        let own = builtin_of(&Value::from(tool));
        let is_of = |subject: &&str| own.as_ref().is_some_and(|own| builtin_argument(own, subject).is_some());
        let mut asked = SUBJECTS.iter().filter(|subject| is_open(tool) || is_of(subject)).peekable();
        asked.peek().is_none() || asked.any(&names)
    };
    tool.split('|').all(|one| is_said(one.trim())) && (any() || !tool.contains('|'))
}

/// Whether the test of an argument says what the argument is.
fn tells(test: &ArgSource) -> bool {
    match test {
        ArgSource::Text(text) => !text.is_empty(),
        ArgSource::Test(test) => {
            let is_part = |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
            test.one_of.is_some() || is_part(&test.begins) || is_part(&test.contains)
        }
        ArgSource::Bool(_) | ArgSource::Number(_) | ArgSource::List(_) => true,
    }
}

/// The calls that a step permits one of.
fn lines(call: Map<String, Value>) -> Result<Vec<Matcher>, String> {
    let written = Value::Object(call);
    let object: MatcherObject = serde_json::from_value(written.clone()).map_err(|error| error.to_string())?;
    if !says_which(&object) {
        let how = "name a command, the path of a file, or the arguments of another tool";
        return Err(format!("it does not say which call it permits: {how}"));
    }
    let text = written.to_string();
    let mut findings = Vec::new();
    let node = read(&Text::whole(&text), &mut findings).ok_or("it is no line of `allowed`")?;
    let groups = Groups::default();
    let mut builder = Builder::new(&mut findings, false, &groups);
    let matchers = matcher::each(&mut builder, &MatcherSource::Object(Box::new(object)), &node);
    match findings.into_iter().map(|finding| finding.in_file("")).find(|found| found.severity == Severity::Error) {
        Some(found) => Err(found.message),
        None if matchers.is_empty() => Err("it permits nothing".to_owned()),
        None => Ok(matchers),
    }
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_prose_or_name_a_call() {
        let document = r#"{"steps": ["Tell the client.", {"id": "send", "text": "Send it", "command": "npx go-gmail * send *"},
            {"tool": "Edit", "writes": "src/a.rs", "after": "send"}, {"text": "Look again", "after": [2]}]}"#;
        let steps = plan_steps(document, "/steps").unwrap();
        let ids: Vec<&str> = steps.iter().map(|step| step.id.as_str()).collect();
        assert_eq!(ids, ["1", "send", "3", "4"]);
        let permits: Vec<usize> = steps.iter().map(|step| step.lines.len()).collect();
        assert_eq!(permits, [0, 1, 1, 0]);
        assert_eq!(steps[2].after, ["send"]);
        assert_eq!(plan_steps("steps:\n  - {command: git push}\n", "/steps").unwrap()[0].lines.len(), 1);
    }

    #[test]
    fn quotes_and_blanks_are_no_words() {
        let words =
            |line: &str| plan_steps(&format!("steps:\n  - command: {line:?}\n"), "/steps").unwrap()[0].in_words.clone();
        assert_eq!(words("git  commit -m 'a b'"), words("git commit -m \"a b\""));
        assert_eq!(words("a  &&  b"), words("a && b"));
        assert_ne!(words("a && b"), words("a; b"));
        assert_ne!(words("a | b"), words("a; b"));
        assert_ne!(words("a 'b c'"), words("a b c"));
        assert_ne!(words("a > b"), words("a b"));
        assert_ne!(words("A=1 a"), words("a"));
        for unknown in ["a $X", "a *.c", "a ~/b", "a $(b)", "for i in 1 2; do a; done", "(a; b)", "cat <<< a"] {
            assert!(words(unknown).is_empty(), "{unknown}");
        }
    }

    #[test]
    fn a_step_says_what_its_line_may_change_beside_what_it_names() {
        for (line, text) in [
            ("touch a && ls 2>&1", ""),
            ("make &> log", ""),
            ("git commit -m *", ""),
            ("rm *", ""),
            ("touch $X", "any file"),
            ("psql -c 'delete from t'", ""),
            ("psql -c *", "any file"),
            ("find src -name a.pyc -delete", "files below `src`"),
            ("find src -name a.pyc -delete && touch $X", "any file"),
        ] {
            let steps = plan_steps(&format!("steps:\n  - command: {line:?}\n"), "/steps").unwrap();
            assert_eq!(steps[0].may_change, text, "{line}");
        }
    }

    #[test]
    fn a_line_that_is_an_argument_says_what_it_may_change() {
        for (step, text) in [
            (r#"{"tool": "Bash", "args": {"command": "touch $X"}}"#, "any file"),
            (r#"{"args": {"command": {"one_of": ["touch a", "touch $X"]}}}"#, "any file"),
            (r#"{"tool": "Bash", "args": {"command": "touch a"}}"#, ""),
            (r#"{"tool": "Write", "args": {"file_path": "a", "command": "touch $X"}}"#, ""),
            (r#"{"server": "gh", "tool": "run", "args": {"command": "touch $X"}}"#, ""),
        ] {
            assert_eq!(
                plan_steps(&format!("{{\"steps\": [{step}]}}"), "/steps").unwrap()[0].may_change,
                text,
                "{step}"
            );
        }
    }

    #[test]
    fn a_step_of_another_tool_is_said_by_its_name() {
        for step in [
            r#"{"tool": "send_mail"}"#,
            r#"{"server": "gh", "tool": "merge"}"#,
            r#"{"server": "gh", "args": {"number": 7}}"#,
            r#"{"tool": "Edit", "args": {"file_path": "a"}}"#,
            r#"{"tool": "Edit|Write", "args": {"file_path": {"begins": "src/"}}}"#,
            r#"{"tool": "Skill", "skill": "review"}"#,
            r#"{"starts": "reviewer"}"#,
        ] {
            assert_eq!(
                plan_steps(&format!("{{\"steps\": [{step}]}}"), "/steps").map(|steps| steps.len()),
                Ok(1),
                "{step}"
            );
        }
    }

    #[test]
    fn of_several_lines_a_step_says_the_most() {
        let document = "steps:\n  - command: [find src -name a.pyc -delete, touch $X, touch a]\n";
        assert_eq!(plan_steps(document, "/steps").unwrap()[0].may_change, "any file");
    }

    #[test]
    fn a_tool_may_be_written_with_small_letters() {
        let named = |tool: &str| {
            plan_steps(&format!("steps:\n  - {{tool: {tool}, writes: a}}\n"), "/steps").unwrap()[0].lines[0]
                .text
                .clone()
        };
        assert_eq!(named("edit"), named("Edit"));
        assert_eq!(named("Task"), "Task (writes a)", "another tool's name");
    }

    #[test]
    fn a_plan_in_markdown_has_its_steps_in_a_block_of_code() {
        let block = "```json\n{\"steps\": [{\"command\": \"git push\"}]}\n```\n";
        let document = format!("# A plan\n\nProse: more.\n\n```sh\ngit log\n```\n\n{block}");
        assert_eq!(plan_steps(&document, "/steps").unwrap()[0].lines.len(), 1);
        let yaml = "- [ ] look\n\n```yaml\nsteps:\n  - {command: git push}\n```\n";
        assert_eq!(plan_steps(yaml, "/steps").unwrap().len(), 1);
        assert!(plan_steps(&format!("{block}\n{block}"), "/steps").unwrap_err().contains("several"));
        assert!(plan_steps(&format!("<!--\n{block}\n-->\n# A\n"), "/steps").is_err());
    }

    #[test]
    fn a_step_that_means_nothing_is_told() {
        for (document, fault) in [
            ("# A plan\n\nProse.", "no list"),
            ("{\"steps\": [{\"command\": \"git push\"},}", "it is not JSON: expected value at line 1 column 36"),
            (
                "# A\n\n```json\n{\"steps\": [}\n```\n",
                "a block of code in it is not JSON: expected value at line 1 column 12",
            ),
            (r#"{"stages": []}"#, "it has no list at `/steps`"),
            (r#"{"steps": [{"command": "git add * && git push"}]}"#, "step 1: `git add * && git push`: a star stands"),
            (r#"{"steps": [{"command": "send * -s 'a b'"}]}"#, "one command without quotes"),
            (r#"{"steps": [7]}"#, "step 1: it is neither"),
            (r#"{"steps": [{"comand": "git push"}]}"#, "unknown field"),
            (r#"{"steps": [{"tool": "Bash"}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "*"}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "Bash", "args": {"description": "Show the log"}}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "Bash", "args": {"command": {"present": true}}}]}"#, "does not say which call"),
            (r#"{"steps": [{"args": {"description": "Show the log"}}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "Edit"}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "Edit", "args": {"old_string": "ok"}}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "edit|write", "args": {"content": "x"}}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "@write", "args": {"content": "x"}}]}"#, "no tool is called `@write`"),
            (r#"{"steps": [{"agent": "main"}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "Bash", "agent": "main"}]}"#, "does not say which call"),
            (r#"{"steps": [{"except": [{"writes": "a"}]}]}"#, "does not say which call"),
            (r#"{"steps": [{"server": "gh", "agent": "main"}]}"#, "does not say which call"),
            (r#"{"steps": [{"tool": "Bash", "args": {"command": "sleep 1 &"}}]}"#, "in the background"),
            (r#"{"steps": [{"command": ""}]}"#, "step 1"),
            (r#"{"steps": [{"tool": "Edit", "writes": "../x"}]}"#, "leads out of the project"),
            (r#"{"steps": [{"tool": "Edti", "writes": "x"}]}"#, "did you mean `Edit`?"),
            (r#"{"steps": [{"command": "sleep 1 &"}]}"#, "in the background"),
            (r#"{"steps": [{"command": "(sleep 1 &); touch a"}]}"#, "in the background"),
        ] {
            let found = plan_steps(document, "/steps").unwrap_err();
            assert!(found.contains(fault), "{document}: {found}");
        }
        let of_pairs = |pairs: usize| format!(r#"{{"steps": [{{"writes": "{}"}}]}}"#, "{a,b}".repeat(pairs));
        assert!(plan_steps(&of_pairs(30), "/steps").unwrap_err().contains("too many texts"));
        assert_eq!(plan_steps(&of_pairs(5), "/steps").unwrap()[0].lines.len(), 1);
    }
}
