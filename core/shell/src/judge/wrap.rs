//! Programs that run another program.

use phasegate_core::calls::analysis::{Status, Verdict};

use super::builtin::is_builtin;
use super::simple::bare_name;
use crate::arguments::{Given, Scan, is_assignment, same, takes_anything};
use crate::check::run::program_text;
use crate::expand::field::{Bit, Field};
use crate::finding::{Finding, keep_worse};
use crate::parse::Dialect;
use crate::script::Script;
use crate::table::Rule;
use crate::tree::Span;
use crate::variables::is_harmless;
use crate::walk::Walk;

/// Commands of the shell itself that no shell evaluates the words of.
const ALIKE: [&str; 6] = [":", "cd", "echo", "false", "pwd", "true"];
/// Programs that run a command with the rights of another user. What is registered as READ is so for the user's own.
const RAISING: [&str; 6] = ["doas", "pkexec", "run0", "runuser", "su", "sudo"];
/// Words before a command that this shell runs itself.
const HERE: [&str; 3] = ["builtin", "command", "time"];
/// Programs that run a command as it is given and end as it ends, if with 0.
const TRANSPARENT: [&str; 5] = ["time", "timeout", "nice", "ionice", "stdbuf"];
/// Programs that run the command that they are given once, and no text that comes from elsewhere.
const ONCE: [&str; 10] = ["builtin", "command", "env", "exec", "ionice", "nice", "nohup", "stdbuf", "time", "timeout"];

impl Walk<'_> {
    /// Judges the command that a wrapper runs.
    pub(crate) fn wrap(&mut self, name: &str, rule: &Rule, scan: &Scan<'_>, span: Span) -> Finding {
        let wraps = rule.wraps.unwrap_or_default();
        let mut worst = Finding::new(Verdict::Read, format!("`{name}` runs a command that only reads"), span);
        if wraps.assignments {
            for field in scan.operands.iter().filter(|field| is_assignment(field)) {
                let (variable, value) = field.start().split_once('=').unwrap_or(("", ""));
                let known = field.known().map(|_| value);
                self.tell_git_place(variable, &field.after(variable.len().saturating_add(1)), false);
                // A shell that it runs sees the value.
                self.scope.forget(variable);
                if !is_harmless(variable, known) {
                    let because = format!("`{variable}` can change what the command does");
                    keep_worse(&mut worst, Finding::new(Verdict::Unknown, because, field.span));
                }
                if program_text::is_variable(variable) {
                    program_text::value_of(self, &field.after(variable.len().saturating_add(1)));
                }
            }
        }
        self.texts_with_words(rule, scan);
        if scan.command.is_empty() {
            let verdict = wraps.alone.unwrap_or(Verdict::Read);
            keep_worse(&mut worst, Finding::new(verdict, format!("`{name}` without a command"), span));
            return worst;
        }
        let mut fields = scan.command.to_vec();
        if wraps.appends {
            append(&mut fields, scan, span);
        }
        // Asked for its help, a wrapper runs nothing and succeeds.
        let tells = scan.options.iter().any(|given| matches!(given.name.as_str(), "help" | "version" | "h" | "V"));
        let transparent = TRANSPARENT.contains(&name) && worst.verdict == Verdict::Read && !tells;
        let status = self.status;
        if !transparent {
            self.status = Status::Lost;
        }
        let folders = self.scope.folders.clone();
        let moves = scan.options.iter().rev().find(|given| sets_folder(name, &given.name));
        match moves.map(|given| given.value.as_ref()) {
            Some(Some(folder)) => self.scope.enter(&folder.bits),
            Some(None) => self.scope.lose_folder(),
            None => {}
        }
        let outer = self.own_forms;
        self.own_forms |= wraps.own;
        let before = self.raised;
        self.raised |= RAISING.contains(&name);
        self.once = ONCE.contains(&name);
        let inner = self.wrapped(&fields, span);
        (self.own_forms, self.raised) = (outer, before);
        // These run a command of the shell in this shell: `command cd x`.
        if !HERE.contains(&name) {
            self.scope.folders = folders;
        }
        self.status = status;
        self.transparent = transparent;
        keep_worse(&mut worst, inner);
        worst
    }
}

impl Walk<'_> {
    /// Judges the line that the value of an option is with the words after it: `env -S 'A=1 git' push`.
    fn texts_with_words(&mut self, rule: &Rule, scan: &Scan<'_>) {
        let runs = |given: &&Given| rule.runs.split_ascii_whitespace().any(|option| same(option, &given.name));
        let texts = scan.options.iter().filter(runs).filter_map(|given| given.value.as_ref());
        for text in texts.filter(|_| !scan.command.is_empty()) {
            program_text::judge(self, &Script::of(std::iter::once(text).chain(scan.command)));
        }
    }
}

/// Whether an option of a wrapper names the folder in which the command runs. Of several, the last counts.
fn sets_folder(name: &str, option: &str) -> bool {
    let short = match name {
        "env" | "genv" => "C",
        "sudo" | "doas" => "D",
        _ => "chdir",
    };
    option == short || option == "chdir"
}

impl Walk<'_> {
    /// What is not known of a program because of what runs it.
    pub(super) fn otherwise(&self, name: &str, rule: &Rule, span: Span) -> Option<Finding> {
        let reads = takes_anything(rule) && rule.check.is_none() && rule.does == Verdict::Read;
        let because = if self.own_forms && !reads && !is_builtin(name) && !matches!(name, "sh" | "ash") {
            format!("`busybox` and its like have a `{name}` of their own, whose options are not known")
        } else if self.dialect == Dialect::Foreign && is_builtin(name) && !ALIKE.contains(&name) {
            format!("`{name}` may do more in a shell that is not bash")
        } else {
            return None;
        };
        Some(Finding::new(Verdict::Unknown, because, span))
    }
}

impl Walk<'_> {
    /// Whether a word names a program of the table, by its bare name or in a system folder.
    pub(crate) fn knows(&self, field: &Field) -> bool {
        field.known().and_then(bare_name).is_some_and(|name| self.table.knows(name))
    }
}

/// The words that `xargs` and its like add: at the end, or in place of a mark.
fn append(fields: &mut Vec<Field>, scan: &Scan<'_>, span: Span) {
    let mark = scan.options.iter().rev().find_map(|given| match given.name.as_str() {
        "I" | "J" | "replace" | "i" => {
            Some(given.value.as_ref().map_or_else(|| "{}".to_owned(), |value| value.known().unwrap_or("").to_owned()))
        }
        _ => None,
    });
    match mark {
        Some(mark) if !mark.is_empty() => {
            for field in fields.iter_mut() {
                *field = field.with_mark(&mark, &Bit::Any);
            }
        }
        Some(_) => fields.iter_mut().for_each(|field| *field = Field { span: field.span, ..Field::any(span) }),
        None => fields.push(Field::any(span)),
    }
}
