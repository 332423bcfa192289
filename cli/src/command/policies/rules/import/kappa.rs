//! Rules in the language κ, `rule NAME { guards { ... } effects { ... } }`: each becomes rules of Cedar, or is named with
//! why not.

mod builtins;
mod checks;
mod fold;
mod lexer;
mod parser;
mod statements;
mod syntax;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use owo_colors::OwoColorize as _;
use phasegate_runtime::sessions::redact::digest_of;
use serde_json::{Value, json};

use self::fold::{Folded, Unsaid};
use self::statements::Statement;
use self::syntax::{Mistake, Spot};
use super::cedar::quoted;
use crate::context::Context;
use crate::output::Failure;

/// How the names of such files end.
pub(super) const ENDINGS: [&str; 2] = ["kappa", "rules"];
/// What a deep condition takes on the stack, with room to spare.
const STACK: usize = 64 << 20;

/// What a person says of the rules, and what reads rules of Cedar.
pub(super) struct Given<'a> {
    /// What stands for each variable, as `NAME=WHAT`.
    pub(super) variables: &'a [String],
    /// The tool that the rules are about.
    pub(super) tool: Option<&'a str>,
    /// The folder to which shown paths are relative.
    pub(super) root: &'a Path,
    /// Why rules of Cedar cannot be read beside the other configs.
    pub(super) readable: &'a dyn Fn(&str) -> Result<(), String>,
}

/// What a file becomes.
pub(super) struct Converted {
    file: String,
    /// What keeps the original from loading it; then there are no rules.
    mistakes: Vec<Mistake>,
    rules: Vec<One>,
    /// The version of the rules: it depends neither on their order nor on the layout.
    version: String,
    has_effects: bool,
}

/// A rule of the file.
struct One {
    name: String,
    at: Spot,
    became: Result<Vec<Statement>, Unsaid>,
}

/// Whether a file has rules of this language, by its name.
pub(super) fn is_one(file: &Path) -> bool {
    file.extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known))
}

/// What the files become.
///
/// # Errors
///
/// A file cannot be read, or what a person says of a variable is not of the form.
pub(super) fn converted(given: &Given<'_>, files: &[PathBuf]) -> Result<Vec<Converted>, Failure> {
    let mut variables = BTreeMap::new();
    for said in given.variables {
        let pair = said.split_once('=').map(|(name, what)| (name.trim_start_matches('$'), what));
        let (name, what) = pair.ok_or_else(|| Failure::new(format!("`{said}` is not `NAME=WHAT`")))?;
        variables.insert(name.to_owned(), Folded::given(what));
    }
    let action = given.tool.map_or("action".to_owned(), |tool| format!("action == Action::{}", quoted(tool)));
    let one = |file: &PathBuf| {
        let shown = file.strip_prefix(given.root).unwrap_or(file).display().to_string();
        let text = fs::read_to_string(file).map_err(|error| Failure::new(format!("{shown}: {error}")))?;
        let convert = || convert(shown.clone(), &text, &variables, &action);
        let made = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, convert);
            thread.map(std::thread::ScopedJoinHandle::join)
        });
        let Ok(Ok(mut made)) = made else { return Err(Failure::new(format!("{shown} cannot be converted"))) };
        made.rules.iter_mut().for_each(|rule| rule.check(given.readable));
        Ok(made)
    };
    files.iter().map(one).collect()
}

fn convert(file: String, text: &str, variables: &BTreeMap<String, Folded>, action: &str) -> Converted {
    let mut converted =
        Converted { file, mistakes: Vec::new(), rules: Vec::new(), version: String::new(), has_effects: false };
    let mut rules = match parser::rules(text) {
        Ok(rules) => rules,
        Err(mistake) => {
            converted.mistakes.push(mistake);
            return converted;
        }
    };
    let roots: Vec<&str> = variables.keys().filter_map(|name| name.split('.').next()).collect();
    converted.mistakes = checks::mistakes(&rules, &roots);
    if !converted.mistakes.is_empty() {
        return converted;
    }
    converted.has_effects = rules.iter().any(|rule| !rule.effects.is_empty());
    let one = |rule: &syntax::Rule| One {
        name: rule.name.clone(),
        at: rule.at,
        became: statements::statements(rule, variables, action),
    };
    converted.rules = rules.iter().map(one).collect();
    rules.sort_by(|one, other| one.name.cmp(&other.name));
    let digest = digest_of(&serde_json::to_vec(&rules).unwrap_or_default());
    converted.version = format!("sha256:{}", digest.get("sha256").and_then(Value::as_str).unwrap_or_default());
    converted
}

impl One {
    /// Refuses what cannot be read beside the other configs: an argument that no config describes, for example.
    fn check(&mut self, readable: &dyn Fn(&str) -> Result<(), String>) {
        let Ok(statements) = &self.became else { return };
        let text: String = statements.iter().map(|one| one.text.as_str()).collect();
        if let Err(why) = readable(&text) {
            let instead = "`--tool SERVER/TOOL`, and the arguments of that tool in `rules.tools` of the config".into();
            self.became = Err(Unsaid { at: self.at, why, instead });
        }
    }

    fn as_json(&self) -> Value {
        let Spot { line, column } = self.at;
        match &self.became {
            Ok(all) => {
                let all: Vec<Value> = all.iter().map(|one| json!({"id": one.id, "text": one.text})).collect();
                json!({"rule": self.name, "line": line, "column": column, "statements": all})
            }
            Err(Unsaid { at, why, instead }) => {
                let why_not = json!({"line": at.line, "column": at.column, "why": why, "instead": instead});
                json!({"rule": self.name, "line": line, "column": column, "why_not": why_not})
            }
        }
    }
}

impl Converted {
    /// Whether the original would load it.
    pub(super) fn loads(&self) -> bool {
        self.mistakes.is_empty()
    }

    /// The rules of Cedar, each after a blank line.
    pub(super) fn text(&self) -> String {
        let all = self.rules.iter().filter_map(|rule| rule.became.as_ref().ok()).flatten();
        let rules: String = all.map(|one| format!("\n{}", one.text)).collect();
        if rules.is_empty() { rules } else { format!("\n// from {}, {}\n{rules}", self.file, self.version) }
    }

    pub(super) fn as_json(&self) -> Value {
        let error = |mistake: &Mistake| {
            let Mistake { stage, code, message, at } = mistake;
            json!({"stage": stage, "code": code, "message": message, "line": at.line, "column": at.column})
        };
        json!({
            "file": self.file, "loads": self.loads(), "version": self.loads().then_some(&self.version),
            "errors": self.mistakes.iter().map(error).collect::<Vec<_>>(),
            "rules": self.rules.iter().map(One::as_json).collect::<Vec<_>>(),
        })
    }

    pub(super) fn report(&self, context: &Context) {
        context.out.line(self.file.bold());
        for Mistake { stage, code, message, at } in &self.mistakes {
            let (wrong, place) = ("error".red(), format!("{}:{}", at.line, at.column));
            context.out.line(format_args!("  {place}  {wrong}: {message} [{stage}: {code}]"));
        }
        for One { name, at, became } in &self.rules {
            let became = match became {
                Ok(all) if all.is_empty() => "no rule is needed: no guard of it ever holds".to_owned(),
                Ok(all) => all.iter().map(|one| format!("rule {}", one.id)).collect::<Vec<_>>().join(", "),
                Err(Unsaid { at, why, instead }) => {
                    let none = "no rule".yellow();
                    format!("{none}: line {}, column {}: {why}; write instead: {instead}", at.line, at.column)
                }
            };
            context.out.line(format_args!("  {}:{}  {name}  {became}", at.line, at.column));
        }
        if self.rules.iter().any(|rule| rule.became.is_err()) {
            context.out.note("what a rule rejects of which none is made passes, if another rule admits it");
        }
        if self.has_effects {
            context.out.note("effects are left out: rules change nothing here");
        }
        if self.rules.len() > 1 {
            context.out.note("of several rules each one that rejects counts; then one must admit");
        }
    }
}
