//! The recipes of a Makefile, as far as they stand in it.

use std::collections::BTreeMap;

use phasegate_core::runner;

use super::task::Task;

/// What takes rules from elsewhere, or changes how all recipes run.
const ELSEWHERE: [&str; 9] =
    ["include ", "-include ", "sinclude ", "define ", "SHELL", ".SHELLFLAGS", ".RECIPEPREFIX", "MAKEFLAGS", "vpath "];
/// Targets that do the same.
const SPECIAL: [&str; 4] = [".ONESHELL", ".EXPORT_ALL_VARIABLES", ".IGNORE", ".POSIX"];
/// How many names of variables are looked up in one text, those in their values included.
const MAX_NAMES: usize = 256;

/// The targets by name, where these variables have a value already; `None`: others are taken from elsewhere, or something changes how all of them run.
pub(super) fn read(text: &str, given: &[&str]) -> Option<BTreeMap<String, Task>> {
    let mut file = Makefile::default();
    let text = text.replace("\\\n", " ");
    let mut targets: Vec<String> = Vec::new();
    let mut conditions = 0_u32;
    for line in text.lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            targets.iter().for_each(|target| file.recipe(target, recipe, conditions > 0));
            continue;
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        if ELSEWHERE.iter().any(|start| line.starts_with(start)) || line.contains("$(eval") {
            return None;
        }
        match line.split([' ', '(']).next().unwrap_or_default() {
            "" | "else" => continue,
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => conditions = conditions.saturating_add(1),
            "endif" => conditions = conditions.saturating_sub(1),
            _ => targets = file.line(line, conditions > 0, given)?,
        }
    }
    Some(file.tasks)
}

#[derive(Default)]
struct Makefile {
    /// The variables, where their value is known.
    variables: BTreeMap<String, Option<String>>,
    tasks: BTreeMap<String, Task>,
}

impl Makefile {
    /// A line that is no recipe: the targets that recipes after it are of.
    fn line(&mut self, line: &str, conditional: bool, given: &[&str]) -> Option<Vec<String>> {
        let line = line.strip_prefix("override ").unwrap_or(line);
        let (exported, line) = line.strip_prefix("export ").map_or((false, line), |rest| (true, rest.trim()));
        let assigned = line.find('=').filter(|at| line.get(..*at).is_some_and(|name| !name.contains(": ")));
        if let Some((name, value)) = assigned.and_then(|at| Some((line.get(..at)?, line.get(at.saturating_add(1)..)?)))
        {
            let (adds, keeps) = (name.trim_end().ends_with('+'), name.trim_end().ends_with('?'));
            let name = name.trim_end_matches([':', '?', '+', ' ']);
            (!exported || !runner::is_obeyed(name)).then_some(())?;
            let before = self.variables.get(name).cloned().flatten().filter(|_| adds);
            let value = before.map_or_else(|| value.trim().to_owned(), |before| [&before, " ", value.trim()].concat());
            let unknown = conditional || (keeps && given.contains(&name));
            self.variables.insert(name.to_owned(), Some(value).filter(|_| !unknown));
            return Some(Vec::new());
        }
        if exported {
            return (!line.split_whitespace().any(runner::is_obeyed)).then(Vec::new);
        }
        let Some((targets, rest)) = line.split_once(':') else { return Some(Vec::new()) };
        let (rest, recipe) = rest.split_once(';').map_or((rest, None), |(rest, recipe)| (rest, Some(recipe)));
        let targets = self.expanded(targets)?;
        let targets: Vec<String> = targets.split_whitespace().map(str::to_owned).collect();
        targets.iter().all(|target| !SPECIAL.contains(&target.as_str())).then_some(())?;
        let others = self.expanded(rest.trim_start_matches(':'));
        for target in targets.iter().filter(|target| *target != ".PHONY") {
            let task = self.tasks.entry(target.clone()).or_insert(Task { lines: Some(Vec::new()), others: Vec::new() });
            match &others {
                Some(others) if !rest.starts_with(':') => {
                    task.others.extend(others.split_whitespace().filter(|name| *name != "|").map(str::to_owned));
                }
                _ => task.lines = None,
            }
        }
        // A second rule with a recipe takes the place of the first.
        let told = |target: &String| {
            self.tasks.get(target).is_some_and(|task| task.lines.as_ref().is_none_or(|all| !all.is_empty()))
        };
        let twice: Vec<String> = targets.iter().filter(|target| told(target)).cloned().collect();
        for target in &twice {
            self.tasks.entry(target.clone()).or_default().lines = None;
        }
        if let Some(recipe) = recipe {
            targets.iter().for_each(|target| self.recipe(target, recipe, conditional));
        }
        Some(targets)
    }

    /// A line of the recipe of a target.
    fn recipe(&mut self, target: &str, text: &str, conditional: bool) {
        let text = text.trim_start();
        let plain = text.trim_start_matches(['@', '+', ' ']);
        let line = self.expanded(plain).filter(|_| !plain.starts_with('-') && !conditional);
        let Some(task) = self.tasks.get_mut(target) else { return };
        match (&mut task.lines, line) {
            (Some(lines), Some(line)) => lines.push(line),
            (lines, _) => *lines = None,
        }
    }

    /// The text with the values of variables; `None` if one is not known.
    fn expanded(&self, text: &str) -> Option<String> {
        let mut all = String::new();
        // What is still to be read, the next at the end.
        let mut rest: Vec<&str> = vec![text];
        let mut names = 0_usize;
        while let Some(text) = rest.pop() {
            let Some((before, after)) = text.split_once('$') else {
                all.push_str(text);
                continue;
            };
            all.push_str(before);
            let mut letters = after.chars();
            match letters.next()? {
                '$' => {
                    all.push('$');
                    rest.push(letters.as_str());
                }
                open @ ('(' | '{') => {
                    names = names.saturating_add(1);
                    let (name, after) = letters.as_str().split_once(if open == '(' { ')' } else { '}' })?;
                    rest.push(after);
                    rest.push(self.variables.get(name)?.as_ref().filter(|_| names < MAX_NAMES)?);
                }
                _ => return None,
            }
        }
        Some(all)
    }
}
