//! Lists, pipelines, loops, conditions and functions.

use phasegate_core::calls::analysis::{Access, Status, Verdict};

use super::assignments::{changes_folder, moves};
use crate::expand::field::{Bit, Field, any};
use crate::finding::Finding;
use crate::judgement::Touch;
use crate::output::is_connection;
use crate::scope::Scope;
use crate::syntax::is_one_word;
use crate::tree::{Command, Compound, Item, List, Span, Word};
use crate::walk::Walk;

impl Walk<'_> {
    /// Judges commands one after another, of which the line's exit status says nothing.
    pub(crate) fn list(&mut self, list: &List) {
        let status = std::mem::take(&mut self.status);
        self.lasting(list);
        self.status = status;
    }

    /// Judges commands one after another; the last one ends what they are in.
    pub(crate) fn lasting(&mut self, list: &List) {
        let status = self.status;
        let last = list.items.len().saturating_sub(1);
        for (number, item) in list.items.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            self.status = if number == last && !item.background { status } else { Status::Lost };
            if item.background {
                self.leaves_running = true;
                let scope = self.scope.fork();
                self.item(item);
                self.scope = scope;
            } else {
                self.item(item);
            }
        }
        self.status = status;
    }

    fn item(&mut self, item: &Item) {
        let start = self.scope.folders.clone();
        let joined = match item.ands.as_slice() {
            [] => self.status,
            ands if ands.iter().all(|and| *and) => self.status.min(Status::Success),
            _ => Status::Lost,
        };
        for (number, pipeline) in item.pipelines.iter().enumerate() {
            if self.is_stopped() {
                break;
            }
            let and = number.checked_sub(1).and_then(|before| item.ands.get(before)).copied().unwrap_or(true);
            if !and {
                self.scope.or_folders(&start);
            }
            let after_first = usize::from(number > 0);
            self.conditional = self.conditional.saturating_add(after_first);
            self.status = if pipeline.negated { Status::Lost } else { joined };
            match pipeline.commands.as_slice() {
                [command] => self.command(command),
                commands => {
                    let fed = self.fed;
                    let (joined, outer) = (self.status, self.sources.fed.clone());
                    for (place, command) in commands.iter().enumerate() {
                        if self.is_stopped() {
                            break;
                        }
                        self.status = match place.saturating_add(1) == commands.len() {
                            _ if self.scope.pipefail => joined.min(Status::Success),
                            true => joined,
                            false => joined.min(Status::Piped),
                        };
                        let scope = self.scope.fork();
                        let start = self.parts().len();
                        self.command(command);
                        self.sources.fed.extend(&self.says_since(start));
                        self.scope = scope;
                        self.fed = !says_nothing(command, &self.scope);
                    }
                    self.fed = fed;
                    self.sources.fed = outer;
                }
            }
            self.conditional = self.conditional.saturating_sub(after_first);
        }
        self.scope.or_folders(&start);
    }

    fn command(&mut self, command: &Command) {
        match command {
            Command::Simple(simple) => self.simple(simple),
            Command::Compound(compound, redirections, span) => {
                let kept = self.redirections(redirections);
                if let Some(text) = super::redirect::said(redirections, &self.scope) {
                    self.say_text(text);
                }
                let fed = self.fed;
                self.fed = super::redirect::feeds(redirections).unwrap_or(fed);
                let outer = self.sources.fed.clone();
                self.sources.fed.extend(&self.says_of_inputs(redirections, &kept));
                self.compound(compound, *span);
                self.sources.fed = outer;
                self.fed = fed;
            }
        }
    }

    fn compound(&mut self, compound: &Compound, span: Span) {
        let conditional = usize::from(matches!(
            compound,
            Compound::Branches(_) | Compound::For { .. } | Compound::Case { .. } | Compound::ArithmeticFor { .. }
        ));
        let function = matches!(compound, Compound::Function { .. } | Compound::Coprocess(_));
        let repeats = usize::from(conditional > 0 || function);
        self.conditional = self.conditional.saturating_add(conditional);
        self.repeats = self.repeats.saturating_add(repeats);
        self.compound_inside(compound, span);
        self.conditional = self.conditional.saturating_sub(conditional);
        self.repeats = self.repeats.saturating_sub(repeats);
    }

    fn compound_inside(&mut self, compound: &Compound, span: Span) {
        let named =
            matches!(compound, Compound::Group(_) | Compound::Subshell(_) | Compound::Branches(_) | Compound::Test(_));
        self.unproven |= !named;
        match compound {
            Compound::Group(list) => self.lasting(list),
            Compound::Subshell(list) => {
                let scope = self.scope.fork();
                self.lasting(list);
                self.scope = scope;
            }
            Compound::Branches(lists) => {
                let start = self.scope.folders.clone();
                if lists.iter().any(changes_folder) {
                    self.scope.lose_folder();
                }
                for list in lists {
                    self.list(list);
                    self.scope.or_folders(&start);
                }
            }
            Compound::For { name, words, body, select } => {
                self.assignment_alone(name, None, span);
                self.for_loop(name, words.as_deref(), *select, body);
            }
            Compound::Case { subject, arms } => {
                self.single(subject);
                let start = self.scope.folders.clone();
                for (patterns, list) in arms {
                    for pattern in patterns {
                        self.single(pattern);
                    }
                    self.list(list);
                    self.scope.or_folders(&start);
                }
            }
            Compound::Arithmetic(word) => self.arithmetic(word),
            Compound::ArithmeticFor { header, body } => {
                self.arithmetic(header);
                self.repeated(body);
            }
            Compound::Test(words) => self.double_bracket(words),
            Compound::Function { name, body } => self.function(name, body, span),
            Compound::Coprocess(body) => {
                self.leaves_running = true;
                let scope = self.scope.fork();
                self.status = Status::Lost;
                self.command(body);
                self.scope = scope;
            }
        }
    }

    fn repeated(&mut self, body: &List) {
        if changes_folder(body) {
            self.scope.lose_folder();
        }
        self.list(body);
    }

    fn for_loop(&mut self, name: &str, words: Option<&[Word]>, select: bool, body: &List) {
        let mut fields = Vec::new();
        let start = self.parts().len();
        for word in words.unwrap_or(&[]) {
            fields.extend(self.fields(word));
        }
        self.tell_of_loop(name, words.unwrap_or(&[]), &fields, start);
        let open = [Field::any((0, 0))];
        let values = if words.is_none() { &open[..] } else { &fields };
        values.iter().for_each(|value| self.tell_git_place(name, value, false));
        let value = match fields.as_slice() {
            // What `select` gives may also be no text at all.
            _ if words.is_none() || select => any(),
            [only] if !only.many => only.bits.clone(),
            [only] if only.bits.contains(&Bit::Glob) && !only.may_be_option() => matched(only),
            [] => any(),
            several => common(several),
        };
        self.scope.assign(name, value);
        let before = self.touches().len();
        self.repeated(body);
        self.scope.assign(name, any());
        // What the body reads under a name that is made then, may be any of the words.
        let reads = |touch: &&Touch| touch.access == Access::Read && touch.path.text().is_none();
        let Some(part) = self.touches().iter().skip(before).find(reads).map(|touch| touch.part) else { return };
        fields.iter().filter(|field| field.bits != any()).for_each(|field| self.touch_by(field, Access::Read, part));
    }

    fn function(&mut self, name: &str, body: &Command, span: Span) {
        if self.conditional > 0 {
            self.scope.doubtful_functions.insert(name.to_owned());
        }
        if moves(body) {
            self.moving = true;
        }
        if self.scope.is_undone(name) {
            let because = format!("a program may run in place of the function `{name}`");
            self.note(Finding::new(Verdict::Unknown, because, span));
        }
        if !self.scope.functions.insert(name.to_owned()) {
            let because = format!("the function `{name}` is defined twice");
            self.note(Finding::new(Verdict::Unknown, because, span));
        }
        let scope = self.scope.fork();
        self.scope.forget_all();
        self.scope.lose_folder();
        self.defining.push(name.to_owned());
        let status = std::mem::take(&mut self.status);
        // A caller may supply its input.
        let fed = std::mem::replace(&mut self.fed, true);
        let start = self.parts().len();
        self.command(body);
        self.keep_body(name, start);
        self.fed = fed;
        self.defining.pop();
        self.status = status;
        self.scope = scope;
    }

    /// `[[ ]]`
    fn double_bracket(&mut self, words: &[Word]) {
        let fields: Vec<Field> = words.iter().map(|word| self.single(word)).collect();
        for (number, word) in words.iter().enumerate() {
            let Some(operator) = word.keyword() else { continue };
            let mut numbers = Vec::new();
            match operator {
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                    numbers.push(number.checked_sub(1).and_then(|before| fields.get(before)));
                    numbers.push(fields.get(number.saturating_add(1)));
                }
                "-v" | "-R" => {
                    let plain = |field: &&Field| field.known().is_some_and(|name| !name.contains('['));
                    if fields.get(number.saturating_add(1)).filter(plain).is_none() {
                        let because = format!("`{operator}` reads the index of its operand as arithmetic");
                        self.note(Finding::new(Verdict::Unknown, because, word.span));
                    }
                }
                _ => {}
            }
            for field in numbers.into_iter().flatten() {
                let name =
                    field.known().filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
                let number = field.is_number() || name.is_some_and(|name| self.unless_number(name).is_none());
                if !number {
                    let because = format!("`{operator}` reads its operands as arithmetic, which can run commands");
                    self.note(Finding::new(Verdict::Unknown, because, field.span));
                }
            }
        }
    }
}

/// Whether a command prints only what the line itself says.
fn says_nothing(command: &Command, scope: &Scope) -> bool {
    let Command::Simple(simple) = command else { return false };
    let Some((program, words)) = simple.words.split_first() else { return false };
    let literal =
        |word: &Word| word.literal().is_some_and(|(text, quoted)| quoted || !text.contains(['*', '?', '[', '~']));
    is_speaker(program, scope) && words.iter().all(literal)
}

/// Whether a word names a program that prints nothing but its arguments.
fn is_speaker(word: &Word, scope: &Scope) -> bool {
    word.literal().is_some_and(|(name, _)| {
        matches!(name.as_str(), "echo" | "printf" | "true" | ":" | "sleep") && scope.is_program(&name)
    })
}

/// What a file name pattern that begins with known text can give.
fn matched(pattern: &Field) -> Vec<Bit> {
    let open = |bit: &Bit| if *bit == Bit::Glob { Bit::Tame } else { bit.clone() };
    pattern.bits.iter().map(open).collect()
}

/// What all of several words have in common.
fn common(fields: &[Field]) -> Vec<Bit> {
    if fields.iter().all(Field::is_number) {
        return vec![Bit::Number];
    }
    let plain = |field: &Field| {
        field.bits == [Bit::Tame]
            || !field.may_be_option()
                && !field.bits.is_empty()
                && field.bits.iter().all(|bit| match bit {
                    Bit::Text(text) => !text.is_empty() && is_one_word(text) && !is_connection(text),
                    Bit::Number | Bit::Plain | Bit::Home | Bit::Here => true,
                    _ => false,
                })
    };
    if fields.iter().all(plain) { vec![Bit::Plain] } else { any() }
}
