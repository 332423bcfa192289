//! The recipes of a Makefile, as far as they stand in it.

use std::collections::BTreeMap;

use phasegate_core::shell::runner;

use super::task::{HOLE, Said};

/// What takes rules from elsewhere, or changes how all recipes run.
const ELSEWHERE: [&str; 9] =
    ["include ", "-include ", "sinclude ", "define ", "SHELL", ".SHELLFLAGS", ".RECIPEPREFIX", "MAKEFLAGS", "vpath "];
/// Targets that do the same.
const SPECIAL: [&str; 4] = [".ONESHELL", ".EXPORT_ALL_VARIABLES", ".IGNORE", ".POSIX"];
/// How many names of variables are looked up in one text, those in their values included.
const MAX_NAMES: usize = 256;

/// The targets, where these variables have a value already.
pub(super) fn read(text: &str, given: &[&str]) -> Said {
    let mut file = Makefile { given, variables: BTreeMap::new(), said: Said::default() };
    let mut targets: Vec<String> = Vec::new();
    let mut conditions = 0_u32;
    for line in text.replace("\\\n", " ").lines() {
        if let Some(recipe) = line.strip_prefix('\t') {
            targets.iter().for_each(|target| file.recipe(target, recipe, conditions > 0));
            continue;
        }
        let line = line.split('#').next().unwrap_or_default().trim();
        file.said.unsure |= ELSEWHERE.iter().any(|start| line.starts_with(start)) || line.contains("$(eval");
        match line.split([' ', '(']).next().unwrap_or_default() {
            "" | "else" => {}
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => conditions = conditions.saturating_add(1),
            "endif" => conditions = conditions.saturating_sub(1),
            _ => targets = file.line(line, conditions > 0),
        }
    }
    file.said
}

struct Makefile<'a> {
    given: &'a [&'a str],
    /// The values of the variables that are known.
    variables: BTreeMap<String, String>,
    said: Said,
}

/// A text with the values of its variables.
struct Expanded {
    text: String,
    /// Whether one of them is not known, so that a hole stands for it.
    unsure: bool,
}

impl Makefile<'_> {
    /// A line that is no recipe: the targets that recipes after it are of.
    fn line(&mut self, line: &str, conditional: bool) -> Vec<String> {
        let line = line.strip_prefix("override ").unwrap_or(line);
        let (exported, line) = line.strip_prefix("export ").map_or((false, line), |rest| (true, rest.trim()));
        let assigned = line.split_once('=').filter(|(name, _)| !name.contains(": "));
        if let Some((name, value)) = assigned {
            let (name, value) = (name.trim_end(), value.trim());
            let (adds, keeps) = (name.ends_with('+'), name.ends_with('?'));
            let name = name.trim_end_matches([':', '?', '+', ' ']);
            self.said.unsure |= exported && runner::is_obeyed(name);
            let before = self.variables.remove(name).filter(|_| adds);
            let unknown = conditional || (keeps && self.given.contains(&name));
            if !unknown {
                let value = before.map_or_else(|| value.to_owned(), |before| [&before, " ", value].concat());
                self.variables.insert(name.to_owned(), value);
            }
            return Vec::new();
        }
        if exported {
            self.said.unsure |= line.split_whitespace().any(runner::is_obeyed);
            return Vec::new();
        }
        let Some((targets, rest)) = line.split_once(':') else { return Vec::new() };
        let (others, recipe) = rest.split_once(';').map_or((rest, None), |(rest, recipe)| (rest, Some(recipe)));
        let (targets, others) = (self.expanded(targets), self.expanded(others.trim_start_matches(':')));
        let unsure = conditional || others.unsure || rest.starts_with(':');
        let names: Vec<String> = targets.text.split_whitespace().map(str::to_owned).collect();
        self.said.unsure |= targets.unsure || names.iter().any(|name| SPECIAL.contains(&name.as_str()));
        for target in names.iter().filter(|target| *target != ".PHONY") {
            if !target.starts_with('.') && !target.contains('%') {
                self.said.first.get_or_insert_with(|| target.clone());
            }
            let task = self.said.all.entry(target.clone()).or_default();
            // A second rule with a recipe takes the place of the first.
            task.unsure |= unsure || !task.texts.is_empty();
            task.others.extend(others.text.split_whitespace().filter(|name| *name != "|").map(str::to_owned));
        }
        if let Some(recipe) = recipe {
            names.iter().for_each(|target| self.recipe(target, recipe, conditional));
        }
        names
    }

    /// A line of the recipe of a target.
    fn recipe(&mut self, target: &str, text: &str, conditional: bool) {
        let text = text.trim_start_matches([' ', '\t', '@', '+']);
        let line = self.expanded(text.trim_start_matches('-'));
        let Some(task) = self.said.all.get_mut(target) else { return };
        task.unsure |= line.unsure || text.starts_with('-') || conditional;
        task.texts.push(line.text);
    }

    fn expanded(&self, text: &str) -> Expanded {
        let mut all = Expanded { text: String::new(), unsure: false };
        // What is still to be read, the next at the end.
        let mut rest: Vec<&str> = vec![text];
        let mut names = 0_usize;
        while let Some(text) = rest.pop() {
            let Some((before, after)) = text.split_once('$') else {
                all.text.push_str(text);
                continue;
            };
            all.text.push_str(before);
            let mut letters = after.chars();
            let value = match letters.next() {
                Some('$') => {
                    all.text.push('$');
                    rest.push(letters.as_str());
                    continue;
                }
                Some('(' | '{') => {
                    names = names.saturating_add(1);
                    let (name, after) = after.split_at_checked(length(after)).unwrap_or((after, ""));
                    rest.push(after);
                    let name = name.get(1..name.len().saturating_sub(1)).unwrap_or_default();
                    self.variables.get(name).filter(|_| names < MAX_NAMES)
                }
                _ => {
                    rest.push(letters.as_str());
                    None
                }
            };
            match value {
                Some(value) => rest.push(value),
                None => {
                    all.text.push_str(HOLE);
                    all.unsure = true;
                }
            }
        }
        all
    }
}

/// How long the text in brackets is that a text begins with, those in it included, in bytes.
fn length(text: &str) -> usize {
    let mut open = 0_u32;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' | '{' => open = open.saturating_add(1),
            ')' | '}' => open = open.saturating_sub(1),
            _ => {}
        }
        if open == 0 {
            return at.saturating_add(1);
        }
    }
    text.len()
}
