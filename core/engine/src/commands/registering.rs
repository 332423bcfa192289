//! Registering what commands do: who may, and which patterns are accepted (rules 4.6).

use serde_json::{Value, json};

use crate::answers::denial::{DenialKind, NotRegistered};
use crate::calls::cause::{By, SessionSource};
use crate::commands::arguments::Arguments;
use crate::events::event::{Event, EventKind};
use crate::policy::{Policy, Safety, Scope};
use crate::prelude::*;
use crate::shell::classifier::{Classifier, is_child};
use crate::shell::safety::{
    Classified, Entry, Level, MAX_PATTERNS, REGISTER, Registry, SafetyPattern, is_never_read, is_runner, shown,
};
use crate::state::State;
use crate::state::change::Change;
use crate::state::draft::Draft;

/// Who registers something, and when.
pub(crate) struct Registrar {
    pub(crate) by: By,
    pub(crate) subagent: bool,
    pub(crate) at: Option<i64>,
}

/// Registers what the commands of a program do.
///
/// # Errors
///
/// `not-registered`: who asks may not, the program is not one that agents may classify, or no pattern is accepted.
pub(crate) fn register(
    policy: &Policy,
    draft: &mut Draft,
    who: &Registrar,
    args: &Arguments<'_>,
) -> Result<Value, DenialKind> {
    let Registrar { by, subagent, at } = *who;
    let tool = args.required("tool")?;
    let scope = args.scope()?.unwrap_or(Scope::Session);
    let refused = |why| Err(DenialKind::NotRegistered(why));
    let state = draft.state();
    let person = by == By::Human;
    if !person && scope == Scope::Project {
        return Err(DenialKind::CommandRefused { name: REGISTER.to_string() });
    }
    if !person && (subagent || is_child(&state.session)) {
        return refused(NotRegistered::Subagent);
    }
    let Some(program) = program_of(tool) else { return refused(NotRegistered::NoProgram { tool: tool.to_string() }) };
    if !person && !Classifier::of(state, &policy.safety).is_named(program) {
        return refused(NotRegistered::NotNamed { program: program.to_string() });
    }
    let Some(given) = pairs(args.value("commands")) else { return refused(NotRegistered::NoCommands) };
    let only_default = given.is_empty();
    if only_default && args.value("default").is_null() {
        return if person { Ok(removed(draft, scope, program)) } else { refused(NotRegistered::NoCommands) };
    }
    if given.len() > MAX_PATTERNS {
        return refused(NotRegistered::TooMany);
    }
    let asked = Asked { program, person, overrides: policy.safety.overrides(program), state };
    let (mut commands, mut rejected) = (asked.kept(scope, only_default), Vec::new());
    let mut accepted = 0_usize;
    for pair in given {
        match asked.accepted(&pair) {
            Ok(level) => {
                commands.retain(|known| known.pattern != pair.pattern);
                commands.push(Classified { pattern: pair.pattern, level });
                accepted = accepted.saturating_add(1);
            }
            Err(why) => rejected.push(format!("\"{}\": {why}", pair.pattern)),
        }
    }
    let default = asked.default(args.value("default"), &mut rejected);
    if accepted == 0 && !rejected.is_empty() {
        return refused(NotRegistered::Rejected { program: program.to_string(), rejected });
    }
    let entry = Entry { tool: program.to_string(), commands, default, by, at };
    let replaced = if person { replaced(state, scope, &entry) } else { Vec::new() };
    let text = told(&entry, accepted, &rejected, &replaced);
    draft.change(Change::SafetyRegistered { scope, entry });
    Ok(json!({
        "status": "registered", "tool": program, "accepted": accepted, "rejected": rejected,
        "default": default.map(Level::word), "replaced": replaced, "text": text,
    }))
}

/// Takes back all that was registered of a program there.
fn removed(draft: &mut Draft, scope: Scope, program: &str) -> Value {
    let (by, at) = (By::Human, None);
    let entry = Entry { tool: program.to_string(), commands: Vec::new(), default: None, by, at };
    let gone = replaced(draft.state(), scope, &entry);
    let text = if gone.is_empty() {
        format!("Nothing was registered of \"{program}\" there.")
    } else {
        draft.change(Change::SafetyRegistered { scope, entry });
        format!("Removed what was registered of \"{program}\":\n  - {}", gone.join("\n  - "))
    };
    json!({"status": "removed", "tool": program, "replaced": gone, "text": text})
}

/// What was registered of the program there, and holds no more, each with its level first.
fn replaced(state: &State, scope: Scope, now: &Entry) -> Vec<String> {
    let registry = if scope == Scope::Project { &state.project.safety } else { &state.session.safety };
    let Some(before) = registry.entry(&now.tool) else { return Vec::new() };
    let gone = before.commands.iter().filter(|one| !now.commands.contains(one));
    let default = before.default.filter(|level| now.default != Some(*level));
    let default = default.map(|level| format!("{} by default", level.word()));
    gone.map(|one| format!("{} {}", one.level.word(), one.pattern)).chain(default).collect()
}

/// What a registration says to who asked.
fn told(entry: &Entry, accepted: usize, rejected: &[String], replaced: &[String]) -> String {
    let program = &entry.tool;
    let mut text = match entry.default {
        Some(level) if accepted == 0 && rejected.is_empty() => {
            format!("Registered {} for the commands of \"{program}\" that no pattern selects.", level.word())
        }
        _ => format!("Registered {accepted} safety pattern(s) for \"{program}\"."),
    };
    if !rejected.is_empty() {
        text.push_str(&format!("\nRejected {} pattern(s):", rejected.len()));
        rejected.iter().for_each(|line| text.push_str(&format!("\n  - {line}")));
    }
    if !replaced.is_empty() {
        text.push_str("\nThey replace what was registered of it, which holds no more:");
        replaced.iter().for_each(|line| text.push_str(&format!("\n  - {line}")));
    }
    text
}

/// Lets agents classify a program, or no more.
pub(crate) fn approve(draft: &mut Draft, program: &str, approved: bool) -> Result<Value, DenialKind> {
    let Some(name) = program_of(program).map(ToString::to_string) else {
        return Err(DenialKind::NotRegistered(NotRegistered::NoProgram { tool: program.to_string() }));
    };
    let before = draft.state().project.safety.approved.contains(&name);
    draft.change(Change::SafetyApproved { program: name.clone(), approved });
    let never = approved && is_never_read(&name);
    let status = if approved { "approved" } else { "revoked" };
    Ok(json!({"status": status, "program": name, "never_read": never, "before": before}))
}

/// All that is registered.
pub(crate) fn list(policy: &Policy, state: &State) -> Value {
    let entries = |registry: &Registry, scope: &str| {
        let each = registry.entries.iter().map(|entry| {
            let commands: Vec<Value> =
                entry.commands.iter().map(|one| json!({"pattern": one.pattern, "level": one.level.word()})).collect();
            let (default, by) = (entry.default.map(Level::word), entry.by);
            json!({"tool": entry.tool, "scope": scope, "by": by, "default": default, "commands": commands})
        });
        each.collect::<Vec<_>>()
    };
    let mut all = entries(&state.project.safety, "project");
    all.extend(entries(&state.session.safety, "session"));
    let Safety { programs, any, overrides, .. } = &policy.safety;
    let mut answer = json!({
        "any": any, "programs": programs, "override": overrides, "approved": state.project.safety.approved, "registered": all,
    });
    let text = shown(&answer);
    if let Value::Object(fields) = &mut answer {
        fields.insert("text".to_string(), text.into());
    }
    answer
}

/// Tells the agent how to register what commands do, where a person lets it classify some: each time that its client starts,
/// and with the first prompt after the programs became others.
pub(crate) fn tell(policy: &Policy, draft: &mut Draft, event: &Event) {
    let State { session, project } = draft.state();
    let Some(programs) = policy.safety.told(&project.safety.approved).filter(|_| !is_child(session)) else { return };
    let due = match event.kind {
        EventKind::SessionStart { source, .. } => source != SessionSource::Compact,
        EventKind::Prompt { .. } => session.safety.told != programs,
        _ => false,
    };
    if due {
        draft.change(Change::SafetyTold { text: instruction(&programs), programs });
    }
}

fn instruction(names: &str) -> String {
    format!(
        "phasegate: when you read a skill that says which operations of {names} only read and which do not, call \
         plan_skill_safety once for each program, with patterns of its lines: {{\"gcloud * list *\": \"READ\", \
         \"gcloud * delete *\": \"DESTRUCTIVE\"}}. `*` stands for any words of one command. Levels: READ, WRITE, \
         DESTRUCTIVE, EXPENSIVE, SECURITY, FORBIDDEN; all but READ count as WRITE. In doubt: WRITE. Without that tool, \
         ask the user to run `phasegate safety register`."
    )
}

/// The program that is registered by this name of a tool; of what names none, the name itself.
pub(crate) fn meant_program(tool: &str) -> &str {
    program_of(tool).unwrap_or(tool)
}

/// The program that a name of a tool means: the name itself, or what follows a runner (`npx go-gmail`).
fn program_of(tool: &str) -> Option<&str> {
    let words: Vec<&str> = tool.split_whitespace().collect();
    let name = match *words.as_slice() {
        [name] => name,
        [runner, name] if is_runner(runner) => name,
        _ => return None,
    };
    SafetyPattern::read(name).ok().filter(|_| !name.contains(['*', '\'', '"']) && !is_runner(name)).map(|_| name)
}

/// A pattern and a level, as given.
struct Pair {
    pattern: String,
    level: Value,
}

/// The patterns with their levels: an object, or a list of pairs or of objects. An object has no order: in it what writes
/// comes first.
fn pairs(commands: &Value) -> Option<Vec<Pair>> {
    let pair = |pattern: &str, level: &Value| Pair { pattern: pattern.trim().to_string(), level: level.clone() };
    match commands {
        Value::Object(fields) => {
            let mut all: Vec<Pair> = fields.iter().map(|(pattern, level)| pair(pattern, level)).collect();
            all.sort_by_key(|pair| pair.level.as_str() == Some(Level::Read.word()));
            Some(all)
        }
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::Array(two) => match two.as_slice() {
                    [Value::String(pattern), level] => Some(pair(pattern, level)),
                    _ => None,
                },
                Value::Object(fields) => Some(pair(fields.get("pattern")?.as_str()?, fields.get("level")?)),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

/// For which program something is to be registered, and by whom.
struct Asked<'a> {
    program: &'a str,
    person: bool,
    /// Whether the settings let what is registered count over the never-read list.
    overrides: bool,
    state: &'a State,
}

impl Asked<'_> {
    /// What stays of an earlier registration: to an agent, all that does not read. What a person registers replaces all.
    fn kept(&self, scope: Scope, only_default: bool) -> Vec<Classified> {
        let registry = if scope == Scope::Project { &self.state.project.safety } else { &self.state.session.safety };
        let before = registry.entry(self.program).filter(|_| !self.person || only_default);
        let kept = |one: &&Classified| only_default || !one.level.reads();
        before.into_iter().flat_map(|entry| &entry.commands).filter(kept).cloned().collect()
    }

    /// The level of a pattern, if it is accepted.
    fn accepted(&self, pair: &Pair) -> Result<Level, String> {
        let level = pair.level.as_str().and_then(Level::named).ok_or_else(|| {
            let shown = pair.level.as_str().map_or_else(|| pair.level.to_string(), ToString::to_string);
            let known: Vec<&str> = Level::ALL.iter().map(|(word, _)| *word).collect();
            format!("invalid level \"{shown}\" (one of {})", known.join(", "))
        })?;
        let pattern = SafetyPattern::read(&pair.pattern).map_err(|fault| fault.words())?;
        let program = self.program;
        if pattern.program() != Some(program) {
            return Err(format!(
                "a pattern of \"{program}\" begins with `{program}`, or with a runner such as `npx {program}`"
            ));
        }
        if !level.reads() || self.person {
            return Ok(level);
        }
        self.may_read(&pair.pattern, &pattern).map(|()| level)
    }

    /// Whether an agent may register a pattern as READ.
    fn may_read(&self, text: &str, pattern: &SafetyPattern) -> Result<(), String> {
        let program = self.program;
        if is_never_read(program) && !self.overrides {
            return Err(format!(
                "`{program}` runs or writes what it is given: no agent registers a command of it as READ"
            ));
        }
        if let Some(word) = pattern.changing() {
            return Err(format!("`{word}` changes things: only a person registers it as READ"));
        }
        if let Some(word) = pattern.any_program() {
            return Err(format!(
                "`{word}` may be any program or script that `{program}` runs: only a person registers it as READ"
            ));
        }
        let writes = |entry: &Entry| entry.commands.iter().any(|one| one.pattern == text && !one.level.reads());
        let registries = [&self.state.project.safety, &self.state.session.safety];
        if registries.iter().filter_map(|registry| registry.entry(program)).any(writes) {
            return Err("it is registered as WRITE already".to_string());
        }
        Ok(())
    }

    /// The default: WRITE where it is no level. An agent's never lifts one that was WRITE.
    fn default(&self, given: &Value, rejected: &mut Vec<String>) -> Option<Level> {
        let asked = match given {
            Value::Null => None,
            given => Some(given.as_str().and_then(Level::named).unwrap_or(Level::Write)),
        };
        let before = self.state.session.safety.entry(self.program).and_then(|entry| entry.default);
        let before = before.filter(|level| !self.person && !level.reads());
        let never = !self.person && is_never_read(self.program) && !self.overrides;
        match asked {
            Some(Level::Read) if before.is_some() || never => {
                rejected.push("default: it stays WRITE".to_string());
                before.or(Some(Level::Write))
            }
            Some(level) => Some(level),
            None => before,
        }
    }
}
