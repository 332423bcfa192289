//! Simple commands.

use phasegate_core::calls::analysis::Word as EngineWord;
use phasegate_core::calls::analysis::{Access, CHANGED_BEFORE, SimpleCommand, Verdict};

use super::builtin::is_builtin;
use crate::check::run::{other_folder, program_text};
use crate::expand::field::{Bit, Field};
use crate::finding::{Finding, keep_worse};
use crate::judge::made_lines::is_stream;
use crate::judge::program::INTERPRETER;
use crate::judge::registered::Ruled;
use crate::judgement::engine_command;
use crate::obeyed::Readers;
use crate::scope::{COMMAND_STEPS, WORD_STEPS};
use crate::table::{Check, Rule};
use crate::tree::{Assignment, Simple, Span};
use crate::walk::Walk;

/// Of a command with more words than this the walk knows nothing.
const MAX_WORDS: usize = 4096;
/// How many programs may run one another (`timeout 5 nice env ls`).
const MAX_WRAPS: usize = 16;

/// Programs whose words are messages to people, which nothing runs. What they run is judged by their options.
const WRITERS_OF_MESSAGES: [&str; 4] = ["gh", "git", "glab", "jj"];

impl Walk<'_> {
    /// Judges a simple command.
    pub(crate) fn simple(&mut self, simple: &Simple) {
        if !self.spend(COMMAND_STEPS, simple.span) {
            return;
        }
        let (outer, touched) = (std::mem::take(&mut self.sources.own), self.touches().len());
        let ((fields, command, own), mut finding) = self.isolate(|walk| walk.simple_parts(simple));
        // What it redirects changes nothing about the shell.
        self.builtin(&fields, own.verdict);
        if finding.verdict == Verdict::Read {
            finding = own;
        }
        self.touch_told(simple, touched);
        self.tell_by_builtin(&fields);
        self.part(command, &fields, finding);
        self.sources.own = outer;
    }

    fn simple_parts(&mut self, simple: &Simple) -> (Vec<Field>, SimpleCommand, Finding) {
        let mut fields = Vec::new();
        let (start, mut beside) = (self.parts().len(), self.sources.fed.clone());
        for word in &simple.words {
            if !self.spend(WORD_STEPS, simple.span) {
                break;
            }
            let made = self.fields(word);
            beside.extend(&self.says(word, &made));
            fields.extend(made);
        }
        beside.extend(&self.says_since(start));
        let letters: usize = fields.iter().map(|field: &Field| field.letters().saturating_add(1)).sum();
        if !self.spend(letters, simple.span) || fields.len() > MAX_WORDS {
            fields = vec![Field::any(simple.span)];
        }
        let fields = self.with_git(fields);
        let alone = simple.words.is_empty();
        let mut assignments = Vec::new();
        for assignment in &simple.assignments {
            let value = self.assignment(assignment, alone);
            beside.extend(&self.says_of_assignment(assignment, &value, start));
            assignments.push((assignment.name.clone(), value.to_word()));
            if !alone {
                self.lend(assignment, &fields);
            }
        }
        let redirections = self.redirections(&simple.redirections);
        beside.extend(&self.says_of_inputs(&simple.redirections, &redirections));
        self.sources.own = beside;
        let command = engine_command(words(&fields), assignments, redirections, simple.span);
        let said = super::redirect::said(&simple.redirections, &self.scope);
        super::redirect::said_elsewhere(&simple.redirections, &self.scope)
            .into_iter()
            .for_each(|text| self.say_text(text));
        self.stdin.clone_from(&said);
        let outer = std::mem::replace(&mut self.input, said);
        let fed = self.fed;
        self.fed = super::redirect::feeds(&simple.redirections).unwrap_or(fed);
        let own = if alone {
            Finding::new(Verdict::Read, "it runs no program", simple.span)
        } else {
            self.run(&fields, simple.span)
        };
        self.note(own.clone());
        self.input = outer;
        if let Some(unread) = self.stdin.take() {
            self.say_text(unread);
        }
        // What `exec` redirects lasts.
        self.fed = fed
            || fields.first().is_some_and(|field| matches!(field.known(), Some("exec" | "command" | "builtin")))
                && self.fed;
        (fields, command, own)
    }

    /// An assignment that holds for one command: shells and functions that it starts see it.
    fn lend(&mut self, assignment: &Assignment, fields: &[Field]) {
        let program = fields.first().and_then(Field::known);
        if assignment.name != "IFS" {
            self.scope.forget(&assignment.name);
        } else if program.is_some_and(|name| {
            matches!(name, "eval" | "command" | "builtin" | "." | "source") || !self.scope.is_program(name)
        }) {
            self.scope.splits_oddly = true;
        }
    }

    /// Judges a command inside another one (`timeout 5 ls`), as a part of its own.
    pub(crate) fn wrapped(&mut self, fields: &[Field], whole: Span) -> Finding {
        let span = match (fields.first(), fields.last()) {
            (Some(first), Some(last)) if first.span.0 <= last.span.1 => (first.span.0, last.span.1),
            _ => whole,
        };
        if self.wraps >= MAX_WRAPS || !self.spend(COMMAND_STEPS.saturating_add(fields.len().saturating_mul(4)), span) {
            let because = "programs that run programs go too deep";
            self.stop(because, span);
            return Finding::new(Verdict::Unknown, because, span);
        }
        self.wraps = self.wraps.saturating_add(1);
        let repeats = usize::from(!std::mem::take(&mut self.once));
        self.repeats = self.repeats.saturating_add(repeats);
        let fields = &self.with_git(fields.to_vec());
        // A program that runs another one knows no functions of this shell.
        let functions = std::mem::take(&mut self.scope.functions);
        let launched = std::mem::replace(&mut self.launched, true);
        let (finding, inner) = self.isolate(|walk| walk.run(fields, span));
        self.scope.functions = functions;
        self.wraps = self.wraps.saturating_sub(1);
        let worst = if inner.verdict > finding.verdict { inner } else { finding };
        let command = engine_command(words(fields), Vec::new(), Vec::new(), span);
        self.part(command, fields, worst.clone());
        self.launched = launched;
        self.repeats = self.repeats.saturating_sub(repeats);
        worst
    }

    /// `git-push` is `git push`, as long as a folder of programs has it.
    fn with_git(&self, mut fields: Vec<Field>) -> Vec<Field> {
        let Some(program) = fields.first().and_then(Field::known) else { return fields };
        let (folder, name) = program.rsplit_once('/').unwrap_or(("", program));
        let of_git = folder.ends_with("/git-core") || bare_name(program).is_some();
        let Some(command) = name.strip_prefix("git-").filter(|_| of_git && !self.scope.functions.contains(program))
        else {
            return fields;
        };
        let own = |git: &Rule| git.own.split_whitespace().any(|own| own == command);
        if folder.ends_with("/git-core")
            || self.rule("git").is_some_and(|git| own(&git))
            || self.rule(&format!("git {command}")).is_some()
        {
            let span = fields.first().map_or((0, 0), |field| field.span);
            let two = ["git", command].map(|word| Field::text(word, span));
            fields.splice(..1, two);
        }
        fields
    }

    /// What a program with its arguments does.
    pub(crate) fn run(&mut self, fields: &[Field], span: Span) -> Finding {
        let Some((first, args)) = fields.split_first() else {
            return Finding::new(Verdict::Unknown, "the program's name is made at run time", span);
        };
        let Some(name) = first.known().filter(|name| !name.is_empty()) else {
            self.lines_in(args);
            self.split_program(first, args, span);
            return Finding::new(Verdict::Unknown, "the program's name is made at run time", first.span);
        };
        if self.scope.functions.contains(name) {
            self.call(name, args);
            if self.moving {
                self.scope.lose_folder();
            }
            return if self.defining.is_empty() && !self.scope.doubtful_functions.contains(name) {
                Finding::new(Verdict::Read, "a function of this line", first.span)
            } else {
                Finding::new(Verdict::Unknown, "a function that calls a function, or may not be defined", first.span)
            };
        }
        let Some(bare) = bare_name(name) else {
            other_folder::texts(self, args);
            self.touch(first, Access::Execute);
            return Finding::new(
                Verdict::Execute,
                format!("`{name}` is a program outside the system's folders"),
                first.span,
            );
        };
        let registered = self.registered_of(bare, args);
        let rule = self.rule(bare);
        if registered.is_none() && rule.is_none() {
            self.unheard = true;
            other_folder::texts(self, args);
            return Finding::new(Verdict::Unknown, self.not_known(bare, args), first.span);
        }
        self.say(bare, args);
        if bare == "git" {
            program_text::addresses(self, args);
        }
        let ruled = Ruled { name: bare, rule: rule.as_deref(), args, span: first.span };
        let mut worst = self.with_registered(&ruled, registered);
        let Some(rule) = rule else { return self.unless_lost(bare, worst, first.span) };
        if let Some(finding) = self.otherwise(bare, &rule, first.span) {
            keep_worse(&mut worst, finding);
        }
        let may_run = matches!(worst.verdict, Verdict::Execute | Verdict::Unknown) && rule.because != INTERPRETER;
        // These run their texts themselves.
        let runs_them = matches!(rule.check, Some(Check::Shell | Check::Eval | Check::Trap | Check::OtherFolder));
        if may_run && !runs_them && rule.wraps.is_none() && !WRITERS_OF_MESSAGES.contains(&bare) {
            self.say_texts(args);
            let input = self.input.clone();
            self.say_texts(input.as_slice());
            // A file that it is given may be what the line itself prints.
            self.listens |= args.iter().any(|field| field.known().is_some_and(is_stream));
        }
        self.unless_lost(bare, worst, first.span)
    }

    /// A word in the place of the program that may become several: what it says is judged as the words that it may be, and
    /// what it is made of as lines.
    fn split_program(&mut self, first: &Field, args: &[Field], span: Span) {
        self.listens |= first.many && first.bits.iter().any(Bit::is_made);
        let Some(words) = first.words() else { return };
        let known = words.iter().position(|word| word.known().is_some());
        for words in known.into_iter().filter_map(|at| words.get(at..)) {
            self.wrapped(&[words, args].concat(), span);
        }
    }

    fn unless_lost(&self, bare: &str, mut worst: Finding, span: Span) -> Finding {
        if self.is_lost(bare) {
            let because = format!("what `{bare}` runs {CHANGED_BEFORE}");
            keep_worse(&mut worst, Finding::new(Verdict::Execute, because, span));
        }
        worst
    }

    /// Whether calls have changed what a command of this name obeys.
    fn is_lost(&self, name: &str) -> bool {
        let lost = &self.trust.lost;
        lost.contains(&Readers::Commands) || (lost.contains(&Readers::Programs) && !is_builtin(name))
    }
}

/// The name under which a program is known, if it is a bare name or in a system folder.
pub(super) fn bare_name(name: &str) -> Option<&str> {
    if !name.contains('/') {
        return Some(name);
    }
    let folders = ["/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/usr/local/bin/", "/opt/homebrew/bin/"];
    let rest = folders.iter().find_map(|folder| name.strip_prefix(folder))?;
    (!rest.is_empty() && !rest.contains('/')).then_some(rest)
}

/// The words of a command, as the engine keeps them.
fn words(fields: &[Field]) -> Vec<EngineWord> {
    // A variable without quotes may be a program with words of its own.
    let several = fields.first().filter(|first| first.many && first.bits.iter().all(Bit::is_made));
    several.map(Field::to_word).into_iter().chain(worded(fields)).collect()
}

/// Commands with options whose value is a text that an agent writes, with the words of a substitution often.
const MESSAGES: [(&str, &str, &[&str]); 4] = [
    ("git", "commit", &["-m", "-am", "-qm", "-sm", "-asm", "-F", "--message", "--file"]),
    ("git", "tag", &["-m", "-am", "-sm", "-F", "--message", "--file"]),
    ("gh", "pr", &["-t", "-b", "-F", "--title", "--body", "--body-file"]),
    ("gh", "release", &["-t", "-n", "-F", "--title", "--notes", "--notes-file"]),
];

/// The words of a command. A word in quotes that is the value of such an option is one, and no option.
fn worded(fields: &[Field]) -> Vec<EngineWord> {
    let known = |at: usize| fields.get(at).and_then(Field::known);
    let options = MESSAGES
        .iter()
        .find(|(program, command, _)| known(0) == Some(program) && known(1) == Some(command))
        .map_or(&[][..], |(_, _, options)| options);
    let is_value = |at: usize| at.checked_sub(1).and_then(known).is_some_and(|before| options.contains(&before));
    let word = |(at, field): (usize, &Field)| match field.known() {
        None if !field.many && is_value(at) => EngineWord::Value,
        _ => field.to_word(),
    };
    fields.iter().enumerate().map(word).collect()
}
