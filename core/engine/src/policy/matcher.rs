//! Matchers: which calls a line of a policy means.

mod one_or_many;
mod effect;
mod own_commands;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::effect::{among, does, does_alone, tells_paths};
use crate::calls::analysis::{Access, CallAnalysis, Invocation, PathUse, SimpleCommand, UNKNOWN, Verdict};
use crate::calls::builtin_tools::is_builtin;
use crate::calls::tool::{
    AGENT, BASH, Call, EXECUTE, Labels, READ, SHELL, SKILL, WRITE, only_reads, same_server, without_server,
};
use crate::policy::section_test::SectionTest;
use crate::prelude::*;
use crate::shell::words;
pub use crate::shell::words::DOES;
use crate::state::redacted_tests::Fit;
use crate::values::glob::{Glob, text_fits};

/// Selects calls by tool, server, label, arguments, reading and subject (rules 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Matcher {
    /// The matcher as written, for messages and for `get_skill_phase`.
    pub text: String,
    /// Which tools.
    pub tool: ToolPattern,
    /// Which servers.
    pub server: ServerPattern,
    /// What the arguments must be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<ArgTest>,
    /// The words of one simple command, with `*` for any words; or a whole line, letter by letter; or, behind [`DOES`], a word
    /// for what it does. One of several must match; none: any line. A single one is stored as a text.
    #[serde(default, rename = "command", skip_serializing_if = "Vec::is_empty", with = "one_or_many")]
    pub commands: Vec<String>,
    /// What the paths of the reading must be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathTest>,
    /// Which skill or subagent the call invokes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invokes: Option<Box<Invocation>>,
    /// Which agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<AgentTest>,
    /// Calls that are not meant, though all of the above holds for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub except: Vec<Matcher>,
}

/// Which tools a matcher means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolPattern {
    /// Every tool (`*`).
    Any,
    /// The tool of this canonical or native name.
    Exact(String),
    /// Every tool whose canonical or native name begins so (`simulate_*`).
    Prefix(String),
    /// Every tool with this label (`@write`).
    Label(String),
}

/// Which servers a matcher means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerPattern {
    /// None was written: any server where the matcher forbids, a host's own tool or a listed server where it permits.
    Bare,
    /// This server.
    Named(String),
}

/// A condition on one argument.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArgTest {
    /// The argument's name; a dot goes into an object (`options.dry_run`).
    pub path: String,
    /// What it must be.
    pub is: ArgIs,
}

/// What an argument must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArgIs {
    /// Equal to this value.
    Equal(Value),
    /// Equal to one of these values.
    OneOf(Vec<Value>),
    /// A text that begins so.
    Begins(String),
    /// A text in which this one stands, or a list with this text as an item.
    Contains(String),
    /// A text of Markdown with so many words below this heading.
    Section(SectionTest),
    /// Present (`true`) or absent (`false`).
    Present(bool),
}

/// A condition on the paths of a call's reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PathTest {
    /// The access asked about.
    pub access: Access,
    /// A path with `*`, `?`, `**` and `{a,b}` (`src/**/*.rs`), relative to the project or absolute.
    pub pattern: Glob,
    /// Whether it asks for a line of code that the file had not before (`adds: code`).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub adds: bool,
}

/// A condition on the agent that calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentTest {
    /// The main agent.
    Main,
    /// Any subagent.
    Subagent,
    /// A subagent of this kind.
    Kind(String),
}

/// What a list of matchers is for; doubt is settled by it (rules 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The list permits or proves: doubt does not match.
    Permit,
    /// The list forbids: doubt matches.
    Forbid,
}

impl Use {
    /// What a match is for under `not`.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Permit => Self::Forbid,
            Self::Forbid => Self::Permit,
        }
    }
}

/// What a matcher is held against: a call, what its tool can do, and who calls.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The call, before it runs.
    pub call: &'a Call,
    /// The labels of its tool, after the policy's own table.
    pub labels: &'a Labels,
    /// The id of the subagent that calls, or `None` for the main agent.
    pub agent: Option<&'a str>,
    /// The kind of the agent that calls; empty where not known.
    pub agent_kind: &'a str,
    /// Whether a list that permits names the command, so that nobody asks which paths the program may write.
    pub named: bool,
    /// Whether a match is evidence that files were written. Then a removal is no write, and neither is a change of times or
    /// rights.
    pub evidence: bool,
}

/// The servers whose tools a bare name permits.
#[derive(Clone, Copy, Debug)]
pub enum Servers<'a> {
    /// Every server: the compat form, in which names have no server.
    Every,
    /// These.
    Listed(&'a [String]),
}

impl Matcher {
    /// Whether the matcher applies to the call, with doubt settled by what the list is for.
    pub fn matches(&self, subject: Subject<'_>, servers: Servers<'_>, used: Use) -> bool {
        match self.fit(subject, servers, used) {
            Fit::Yes => true,
            Fit::Doubt => used == Use::Forbid,
            Fit::No => false,
        }
    }

    /// Whether it names the file as one that is written.
    pub(crate) fn names_written(&self, path: &str) -> bool {
        self.paths.iter().any(|test| test.access == Access::Write && test.pattern.fits(path))
    }

    pub(crate) fn fit(&self, subject: Subject<'_>, servers: Servers<'_>, used: Use) -> Fit {
        let who = self.fits_server(subject, servers, used).min(self.fits_agent(subject));
        let fit = if subject.call.analysis.open {
            // Some call of the tool is meant that a permitting list has, and no forbidding one.
            let some = |asked: bool| fit(!asked || used == Use::Permit);
            let shell = subject.labels.contains(SHELL) && matches!(self.tool, ToolPattern::Label(_));
            let tool = if shell { some(true) } else { self.fits_tool(subject) };
            who.min(tool).min(some(self.asks_for_arguments()))
        } else {
            // Most matchers fit no call, and are done with its tool.
            let who = who.min(self.fits_tool(subject));
            if who == Fit::No {
                return Fit::No;
            }
            who.min(self.fits_command(subject.call, subject.labels))
                .min(self.fits_args(subject))
                .min(self.fits_invocation(subject.call))
                // A line that names the command asks for what it does to the path, whatever that is.
                .min(self.fits_paths(Subject { evidence: subject.evidence && !self.names_commands(), ..subject }, used))
        };
        if fit == Fit::No {
            return Fit::No;
        }
        // What is excepted is doubtful the other way round: a doubtful exception keeps a forbidding list as it is.
        let subject = Subject { evidence: false, ..subject };
        let excepted = self.except.iter().map(|other| other.fit(subject, servers, used.turned()));
        match excepted.max().unwrap_or(Fit::No) {
            Fit::Yes => Fit::No,
            Fit::Doubt => fit.min(Fit::Doubt),
            Fit::No => fit,
        }
    }

    /// The same, with nothing excepted.
    #[must_use]
    pub fn without_exceptions(&self) -> Self {
        Self { except: Vec::new(), ..self.clone() }
    }

    /// Calls `visit` with the matcher and with those in its exceptions.
    pub fn each<'m>(&'m self, visit: &mut dyn FnMut(&'m Self)) {
        visit(self);
        self.except.iter().for_each(|other| other.each(visit));
    }

    /// Whether it names commands, not only any.
    fn names_commands(&self) -> bool {
        self.commands.iter().any(|wanted| wanted != ANY_COMMAND)
    }

    fn asks_for_arguments(&self) -> bool {
        !self.commands.is_empty() || !self.args.is_empty() || !self.paths.is_empty() || self.invokes.is_some()
    }

    fn fits_tool(&self, subject: Subject<'_>) -> Fit {
        let tool = &subject.call.tool;
        let server = tool.server.as_deref();
        let bare = server.and_then(|server| without_server(&tool.name, server));
        let named = |test: &dyn Fn(&str) -> bool| {
            test(&tool.name) || tool.native.as_deref().is_some_and(test) || bare.is_some_and(test)
        };
        let shown = |pattern: &str, test: &dyn Fn(&str) -> bool| {
            server.and_then(|server| without_server(pattern, server)).is_some_and(test)
        };
        match &self.tool {
            ToolPattern::Any => Fit::Yes,
            // Whether its line is one of the commands, the commands say.
            ToolPattern::Exact(_) if self.is_asked_of_another_shell(subject.call) => Fit::Yes,
            ToolPattern::Exact(name) => fit(named(&|n| n == name) || shown(name, &|rest| rest == tool.name)),
            ToolPattern::Prefix(prefix) => {
                let begins = |rest: &str| tool.name.starts_with(rest);
                fit(named(&|n| n.starts_with(prefix.as_str())) || shown(prefix, &begins))
            }
            ToolPattern::Label(label) if subject.labels.contains(label) => Fit::Yes,
            ToolPattern::Label(label) if subject.labels.is_empty() && label != READ => Fit::Doubt,
            ToolPattern::Label(_) => Fit::No,
        }
    }

    fn fits_server(&self, subject: Subject<'_>, servers: Servers<'_>, used: Use) -> Fit {
        match (&self.server, subject.call.tool.server.as_deref()) {
            (ServerPattern::Named(wanted), Some(server)) => fit(same_server(wanted, server)),
            // What a client brings along is no server's.
            (ServerPattern::Named(_), None) if is_builtin(&subject.call.tool.name) => Fit::No,
            // The compat form compares names without their prefix.
            (ServerPattern::Named(_), None) if matches!(servers, Servers::Every) => Fit::Yes,
            (ServerPattern::Named(_), None) => Fit::Doubt,
            (ServerPattern::Bare, None) => Fit::Yes,
            (ServerPattern::Bare, Some(_)) if used == Use::Forbid => Fit::Yes,
            // A label belongs to this tool by the adapter or the config, whichever server offers it.
            (ServerPattern::Bare, Some(_)) if matches!(self.tool, ToolPattern::Label(_)) => Fit::Yes,
            (ServerPattern::Bare, Some(server)) => match servers {
                Servers::Every => Fit::Yes,
                Servers::Listed(listed) => {
                    fit(listed.iter().any(|known| same_server(known, server)) || self.names_server(server))
                }
            },
        }
    }

    /// Whether commands are asked for, and the call is of another tool that runs lines.
    fn is_asked_of_another_shell(&self, call: &Call) -> bool {
        let asks = !self.commands.is_empty() && matches!(&self.tool, ToolPattern::Exact(name) if name == BASH);
        asks && call.tool.name != BASH && call.command().is_some_and(Value::is_string)
    }

    /// Whether the name has this server before the tool's own, as clients show it: `fs__write_file`.
    fn names_server(&self, server: &str) -> bool {
        match &self.tool {
            ToolPattern::Exact(name) | ToolPattern::Prefix(name) => without_server(name, server).is_some(),
            ToolPattern::Any | ToolPattern::Label(_) => false,
        }
    }

    fn fits_agent(&self, subject: Subject<'_>) -> Fit {
        match &self.agent {
            None => Fit::Yes,
            Some(AgentTest::Main) => fit(subject.agent.is_none()),
            Some(AgentTest::Subagent) => fit(subject.agent.is_some()),
            Some(AgentTest::Kind(kind)) if subject.agent.is_some() && subject.agent_kind.is_empty() => {
                if kind.is_empty() { Fit::Yes } else { Fit::Doubt }
            }
            Some(AgentTest::Kind(kind)) => fit(subject.agent.is_some() && kind == subject.agent_kind),
        }
    }

    pub(crate) fn fits_command(&self, call: &Call, labels: &Labels) -> Fit {
        if self.commands.is_empty() {
            return Fit::Yes;
        }
        let mut best = Fit::No;
        for wanted in &self.commands {
            best = best.max(Self::fits_one_command(wanted, call, labels));
            if best == Fit::Yes {
                break;
            }
        }
        best
    }

    pub(crate) fn fits_one_command(wanted: &str, call: &Call, labels: &Labels) -> Fit {
        if let Some(known) = call.analysis.redacted.as_ref().and_then(|before| before.command(wanted)) {
            return known;
        }
        if let Some(word) = wanted.strip_prefix(DOES) {
            return does(word, call, labels);
        }
        let Some(Value::String(line)) = call.command() else { return Fit::Doubt };
        if is_whole(wanted, line) {
            return Fit::Yes;
        }
        let commands = &call.analysis.commands;
        if commands.is_empty() {
            return unread(wanted, call, labels);
        }
        if wanted == ANY_COMMAND {
            return Fit::Yes;
        }
        let best = commands.iter().map(|command| words::fits(command, wanted)).max().unwrap_or(Fit::No);
        among(best, call, labels)
    }

    /// Whether one command of a call is one of those meant.
    pub(crate) fn fits_words(&self, command: &SimpleCommand) -> Fit {
        let fits = |wanted: &String| match wanted.strip_prefix(DOES) {
            Some(word) => does_alone(word, command),
            None => words::fits(command, wanted),
        };
        self.commands.iter().map(fits).max().unwrap_or(Fit::No)
    }

    /// Whether the line is one of the commands, letter by letter.
    pub(crate) fn is_whole_line(&self, call: &Call) -> bool {
        self.commands.iter().any(|wanted| is_whole_line(wanted, call))
    }

    fn fits_args(&self, subject: Subject<'_>) -> Fit {
        self.args.iter().map(|test| test.fits(subject.call)).min().unwrap_or(Fit::Yes)
    }

    fn fits_invocation(&self, call: &Call) -> Fit {
        let Some(wanted) = &self.invokes else { return Fit::Yes };
        match (&**wanted, &call.analysis.invokes) {
            (Invocation::Skill(wanted), Some(Invocation::Skill(name)))
            | (Invocation::Agent(wanted), Some(Invocation::Agent(name))) => fits_name(wanted, name),
            // A call of the tool that does it, of which nobody can tell the name.
            (Invocation::Skill(_), None) if call.tool.name == SKILL && call.tool.server.is_none() => Fit::Doubt,
            (Invocation::Agent(_), None) if call.tool.name == AGENT && call.tool.server.is_none() => Fit::Doubt,
            _ => Fit::No,
        }
    }

    /// Whether only another name of a file that the call writes keeps the line from listing it.
    pub(crate) fn lies_elsewhere(&self, call: &Call) -> bool {
        self.paths.iter().any(|test| call.analysis.paths.iter().any(|path| test.lies_elsewhere(path)))
    }

    fn fits_paths(&self, subject: Subject<'_>, used: Use) -> Fit {
        self.paths.iter().map(|test| test.fits(subject, used)).min().unwrap_or(Fit::Yes)
    }
}

/// Whether a name is the one that is wanted, in any case of its letters; in doubt where a client may take it for that:
/// clients ignore outer spaces and the plugin.
fn fits_name(wanted: &str, name: &str) -> Fit {
    if text_fits(wanted, name) || text_fits(&wanted.to_ascii_lowercase(), &name.to_ascii_lowercase()) {
        return Fit::Yes;
    }
    let other_plugin = wanted.contains(':') && name.contains(':');
    let plain = |name: &str| if other_plugin { name.trim() } else { Invocation::plain(name) }.to_ascii_lowercase();
    if text_fits(&plain(wanted), &plain(name)) { Fit::Doubt } else { Fit::No }
}

/// The pattern that stands for every line of the shell that was read, whatever stands in it.
const ANY_COMMAND: &str = "*";

/// Whether a line of which no command is known may be one: a line that no parser reads may be any, a line of another shell
/// one whose program it names.
fn unread(wanted: &str, call: &Call, labels: &Labels) -> Fit {
    let line = call.command().and_then(Value::as_str).unwrap_or_default();
    let may_be = if call.tool.name == BASH { !only_reads(labels) } else { words::mentions(line, wanted) };
    if may_be { Fit::Doubt } else { Fit::No }
}

fn is_whole_line(wanted: &str, call: &Call) -> bool {
    let line = call.command().and_then(Value::as_str);
    line.is_some_and(|line| is_whole(wanted, line))
}

fn is_whole(wanted: &str, line: &str) -> bool {
    line.trim_matches(|letter| matches!(letter, ' ' | '\t' | '\n')) == wanted
}

impl ArgTest {
    pub(crate) fn fits(&self, call: &Call) -> Fit {
        if let Some(known) = call.analysis.redacted.as_ref().and_then(|before| before.argument(self)) {
            return known;
        }
        let found = self.path.split('.').try_fold(&call.input, |value, key| value.get(key));
        let same = |wanted: &Value, found: &Value| {
            if is_same_path(&call.analysis, wanted, found) { Fit::Yes } else { same(wanted, found) }
        };
        match (&self.is, found) {
            (ArgIs::Present(wanted), found) => fit(*wanted == found.is_some()),
            (_, None) => Fit::Doubt,
            (ArgIs::Equal(wanted), Some(found)) => same(wanted, found),
            (ArgIs::OneOf(all), Some(found)) => all.iter().map(|wanted| same(wanted, found)).max().unwrap_or(Fit::No),
            (ArgIs::Begins(start), Some(Value::String(text))) => fit(text.starts_with(start.as_str())),
            (ArgIs::Contains(part), Some(Value::String(text))) => fit(text.contains(part.as_str())),
            (ArgIs::Contains(part), Some(Value::Array(items))) => fit(items.iter().any(|item| item == part.as_str())),
            (ArgIs::Section(section), Some(Value::String(_))) => {
                let words = call.analysis.words_below(&self.path, &section.heading);
                words.map_or(Fit::Doubt, |words| fit(words >= section.min_words))
            }
            (ArgIs::Begins(_) | ArgIs::Contains(_) | ArgIs::Section(_), Some(_)) => Fit::Doubt,
        }
    }
}

impl PathTest {
    /// All paths must fit to permit, and one is enough to forbid: where some do, the answer is doubt.
    pub(crate) fn fits(&self, subject: Subject<'_>, used: Use) -> Fit {
        let analysis = &subject.call.analysis;
        let labels = subject.labels;
        if self.access == Access::Write && !labels.is_empty() && !labels.contains(WRITE) && !labels.contains(EXECUTE) {
            return Fit::No;
        }
        let writer = labels.contains(SHELL) || labels.contains(WRITE);
        let silent = analysis.commands.is_empty() && analysis.paths.is_empty() && !writer;
        if used == Use::Forbid && self.access == Access::Write && silent && !analysis.open {
            // It is about the paths that its arguments name: what else it changes is found when it ends.
            let named = |path: &String| path == UNKNOWN || self.pattern.fits(path) || self.begins_in(path);
            return if analysis.in_project.values().any(named) { Fit::Doubt } else { Fit::No };
        }
        let seen_into = |number: u32, command: &SimpleCommand| {
            command.verdict <= Verdict::Write
                || (self.access == Access::Execute && names_script(analysis, number, command))
        };
        let opaque =
            !subject.named && !(0..).zip(&analysis.commands).all(|(number, command)| seen_into(number, command));
        let told = subject.named || tells_paths(subject.call, labels, self.access);
        let nothing = if opaque || (analysis.paths.is_empty() && !told) { Fit::Doubt } else { Fit::No };
        let proven = subject.evidence && self.access == Access::Write;
        let writes = |access| access == Access::Remove && self.access == Access::Write && !proven;
        let asked = analysis.paths.iter().filter(|path| path.access == self.access || writes(path.access));
        let asked = asked.filter(|path| !proven || !analysis.keeps_content(path));
        // What is removed adds nothing; of what is written only a file tool can prove it.
        let adds_none =
            |path: &PathUse| path.access == Access::Remove || path.becomes.as_ref().is_some_and(|new| new.adds_none);
        let asked = asked.filter(|path| !self.adds || !adds_none(path));
        // Of a word that may be no path nobody asks what could lie below it, unless the pattern says so.
        let begins = |path: &PathUse| path.resolved.as_deref().is_some_and(|folder| self.begins_in(folder));
        let fits = asked.map(|path| match self.fits_path(path, used) {
            Fit::Doubt if path.guess && used == Use::Forbid && !begins(path) => Fit::No,
            fit => fit,
        });
        let (least, most) = fits.fold((None, nothing), |(least, most), fit| {
            (Some(least.map_or(fit, |least: Fit| least.min(fit))), most.max(fit))
        });
        // What a command changes besides is written in no file that a line permits: `git push > notes.md`.
        let besides = self.access == Access::Write
            && used == Use::Permit
            && analysis.commands.iter().any(|command| command.besides);
        match least {
            Some(Fit::Yes) if !opaque && !besides => Fit::Yes,
            Some(_) if used == Use::Forbid && most == Fit::Yes => Fit::Yes,
            _ => most.min(Fit::Doubt),
        }
    }

    /// Whether the pattern begins with this folder.
    fn begins_in(&self, folder: &str) -> bool {
        self.pattern.strip_prefix(folder).is_some_and(|rest| !folder.is_empty() && rest.starts_with('/'))
    }

    /// Whether it selects the path of a file that has another name: who may write here may not write there.
    pub(crate) fn lies_elsewhere(&self, path: &PathUse) -> bool {
        let selects = |resolved: &String| self.pattern.fits(resolved) && !self.pattern.selects_all();
        path.linked && path.resolved.as_ref().is_some_and(selects)
    }

    pub(crate) fn fits_path(&self, path: &PathUse, used: Use) -> Fit {
        let Some(resolved) = &path.resolved else { return Fit::Doubt };
        if !path.below.is_empty() {
            return self.fits_below(path, resolved);
        }
        if self.pattern.fits(resolved) {
            return if used == Use::Permit && self.lies_elsewhere(path) { Fit::Doubt } else { Fit::Yes };
        }
        // Who may write a file may make the folders that it lies in.
        if path.folder && used == Use::Permit && self.pattern.may_lie_in(resolved) {
            return Fit::Yes;
        }
        // A folder is read with what lies in it, as far as anything of it is.
        if path.access == Access::Read && self.pattern.contains("/**") && self.pattern.has_all_below(resolved) {
            return Fit::Yes;
        }
        // What is done to a folder may be done to what lies below it.
        let here = matches!(resolved.as_str(), "" | ".") && !self.pattern.starts_with('/');
        let below = here || resolved == "/" || self.pattern.lies_below(resolved);
        if below && path.access != Access::Read { Fit::Doubt } else { Fit::No }
    }

    /// By a folder of which what lies below is changed. What a line removes is the folder too.
    fn fits_below(&self, path: &PathUse, folder: &str) -> Fit {
        let selected = match path.access {
            Access::Write => self.pattern.has_all_below(folder) || self.pattern.has_all_of(folder),
            _ => self.pattern.fits(folder),
        };
        let around = || folder == "/" || self.pattern.may_select_below(folder, &path.below);
        match selected {
            true => Fit::Yes,
            false if around() || self.pattern.fits(folder) => Fit::Doubt,
            false => Fit::No,
        }
    }
}

impl ArgIs {
    /// Whether a value that is known is as wanted; `None`: there is none.
    pub fn holds(&self, found: Option<&Value>) -> bool {
        match (self, found) {
            (Self::Present(wanted), found) => *wanted == found.is_some(),
            (_, None) => false,
            (Self::Equal(wanted), Some(found)) => wanted == found,
            (Self::OneOf(all), Some(found)) => all.contains(found),
            (Self::Begins(start), Some(found)) => found.as_str().is_some_and(|text| text.starts_with(start.as_str())),
            (Self::Contains(part), Some(Value::Array(items))) => items.iter().any(|item| item == part.as_str()),
            // Of a call, the words are counted before it is decided.
            (Self::Section(_), Some(_)) => false,
            (Self::Contains(part), Some(found)) => found.as_str().is_some_and(|text| text.contains(part.as_str())),
        }
    }
}

/// Whether a command says which file it runs, and nothing stands beside it that may have it run or change others.
fn names_script(analysis: &CallAnalysis, number: u32, command: &SimpleCommand) -> bool {
    let own = |path: &PathUse| path.command == Some(number) || analysis.commands.len() == 1;
    let runs = |path: &PathUse| path.access == Access::Execute && own(path);
    words::is_plain(command) && analysis.paths.iter().any(runs)
}

fn fit(yes: bool) -> Fit {
    if yes { Fit::Yes } else { Fit::No }
}

/// Whether an argument names the file that is wanted, relative to the project, in another way: clients give absolute paths.
fn is_same_path(analysis: &CallAnalysis, wanted: &Value, found: &Value) -> bool {
    let (Some(wanted), Some(found)) = (wanted.as_str(), found.as_str()) else { return false };
    let wanted = wanted.trim_start_matches("./");
    let names = |path: &PathUse| path.written == found && path.resolved.as_deref() == Some(wanted);
    analysis.commands.is_empty() && analysis.paths.iter().any(names)
}

fn same(wanted: &Value, found: &Value) -> Fit {
    if wanted == found {
        Fit::Yes
    } else if core::mem::discriminant(wanted) == core::mem::discriminant(found) {
        Fit::No
    } else {
        Fit::Doubt
    }
}
