//! What a line says of words that it makes when it runs: the texts in them, the values that it gives to their variables, and
//! the commands whose output they are.

use phasegate_core::calls::analysis::{Access, Word as EngineWord};

use crate::expand;
use crate::expand::field::{Bit, Field};
use crate::expand::sources::{Beside, Told};
use crate::judgement::{Part, Pattern, Piece, Touch};
use crate::tree::{Assignment, Operation, Parameter, Piece as Written, Redirection, Simple, Value, Word};
use crate::walk::Walk;

/// Programs of which only the files say what they print: other words of theirs are what they look for.
const FILTERS: [&str; 12] = ["awk", "cut", "egrep", "fgrep", "gawk", "grep", "jq", "mawk", "rg", "sed", "tr", "yq"];
/// The name under which all positional parameters are kept.
const ARGUMENTS: &str = "@";

impl Walk<'_> {
    /// What the line says of a word that became these.
    pub(crate) fn says(&self, word: &Word, fields: &[Field]) -> Beside {
        let mut says = Beside::default();
        if fields.iter().all(|field| field.known().is_some()) {
            return says;
        }
        fields.iter().for_each(|field| says.add(field.to_pattern()));
        for parameter in parameters(word) {
            if self.scope.is_outside(&parameter.name) {
                says.add(Pattern::known(&parameter.name));
            }
            if let Some(told) = self.told_of(parameter) {
                says.extend(&told.beside);
            }
            if let Operation::Default(operand)
            | Operation::Edit(operand)
            | Operation::Trim { word: operand, .. }
            | Operation::Assign(operand) = &parameter.operation
            {
                says.add(expand::single(operand, &self.scope).to_pattern());
            }
        }
        says
    }

    /// What the line says of a value that it gives to a variable; keeps it with the variable.
    pub(crate) fn says_of_assignment(&mut self, assignment: &Assignment, value: &Field, start: usize) -> Beside {
        let Value::Scalar(word) = &assignment.value else { return Beside::default() };
        let says = self.says(word, std::slice::from_ref(value));
        let mut beside = self.says_since(start);
        beside.extend(&says);
        self.tell(&assignment.name, std::slice::from_ref(value), &beside);
        says
    }

    /// What the files and texts say that redirections put on the standard input.
    pub(crate) fn says_of_inputs(&self, redirections: &[Redirection], kept: &[(String, EngineWord)]) -> Beside {
        let mut says = Beside::default();
        let inputs =
            redirections.iter().zip(kept).filter(|(redirection, _)| matches!(redirection.operator, "<" | "<<<"));
        for (redirection, (_, word)) in inputs {
            match word {
                EngineWord::Known(text) => says.add(Pattern::known(text)),
                EngineWord::Unknown | EngineWord::Value => {
                    let field = expand::single(&redirection.target, &self.scope);
                    says.extend(&self.says(&redirection.target, &[field]));
                }
            }
        }
        says
    }

    /// What the parts from this one on print, as far as their words say it.
    pub(crate) fn says_since(&self, start: usize) -> Beside {
        let mut says = Beside::default();
        for (number, part) in self.parts().iter().enumerate().skip(start) {
            let is_filter =
                matches!(part.command.words.first(), Some(EngineWord::Known(name)) if FILTERS.contains(&name.as_str()));
            if is_filter {
                let reads = |touch: &&Touch| {
                    touch.access == Access::Read && touch.part.is_some_and(|part| usize::try_from(part) == Ok(number))
                };
                self.touches().iter().filter(reads).for_each(|touch| says.add(touch.path.clone()));
            } else {
                part.words.iter().skip(1).for_each(|word| says.add(word.clone()));
            }
            says.extend(&Beside::of(part.beside.clone()));
        }
        says
    }

    /// Takes note of values that the line gives to a variable, and of what it says of them beside.
    pub(crate) fn tell(&mut self, name: &str, values: &[Field], beside: &Beside) {
        let told = self.sources.told.entry(name.to_owned()).or_default();
        values.iter().for_each(|field| told.add(field));
        told.beside.extend(beside);
    }

    /// Takes note of what a builtin gives to variables: `read`, `printf -v`, `set`.
    pub(crate) fn tell_by_builtin(&mut self, fields: &[Field]) {
        let Some((first, arguments)) = fields.split_first() else { return };
        let own = self.sources.own.clone();
        match first.known() {
            Some("read" | "mapfile" | "readarray") => {
                for name in arguments.iter().filter_map(Field::known).filter(|word| !word.starts_with('-')) {
                    self.tell(name, &[], &own);
                }
            }
            Some("printf") => {
                if let [option, name, values @ ..] = arguments
                    && option.known() == Some("-v")
                    && let Some(name) = name.known()
                {
                    self.tell(name, values, &own);
                }
            }
            Some("set") => self.tell(ARGUMENTS, arguments, &own),
            _ => {}
        }
    }

    /// Takes note that a word gives a variable each of its values in turn.
    pub(crate) fn tell_of_loop(&mut self, name: &str, words: &[Word], fields: &[Field], start: usize) {
        let mut beside = self.says_of_values(fields, start);
        // What the words find is judged at the loop; what they take from an array is not.
        let mut values = Vec::new();
        for told in words.iter().flat_map(parameters).filter_map(|parameter| self.told_of(parameter)) {
            beside.extend(&told.beside);
            values.extend(told.values.iter().cloned());
        }
        self.tell(name, &values, &beside);
    }

    /// Takes note that a variable is given a list of words.
    pub(crate) fn tell_of_list(&mut self, name: &str, fields: &[Field], start: usize) {
        let beside = self.says_of_values(fields, start);
        self.tell(name, fields, &beside);
    }

    fn says_of_values(&self, fields: &[Field], start: usize) -> Beside {
        let mut beside = self.says_since(start);
        fields.iter().for_each(|field| beside.add(field.to_pattern()));
        beside
    }

    /// Takes note that what a command does at a path that is made then, it does at what the line gives to the variables
    /// that the path is made of.
    pub(crate) fn touch_told(&mut self, simple: &Simple, start: usize) {
        let open = |touch: &&Touch| touch.path.text().is_none() && touch.path.0.contains(&Piece::Any);
        let open: Vec<Access> = self.touches().iter().skip(start).filter(open).map(|touch| touch.access).collect();
        let all = [Access::Read, Access::Write, Access::Remove, Access::Execute];
        let done: Vec<Access> = all.into_iter().filter(|access| open.contains(access)).collect();
        if done.is_empty() {
            return;
        }
        let targets = simple.redirections.iter().map(|redirection| &redirection.target);
        let all: Vec<&Parameter> = simple.words.iter().chain(targets).flat_map(parameters).collect();
        let told = all.iter().filter_map(|one| self.told_of(one)).flat_map(|told| told.values.iter().cloned());
        // What stands in for a variable without a value.
        let others = all.iter().filter_map(|one| match &one.operation {
            Operation::Default(operand) => Some(expand::single(operand, &self.scope)),
            _ => None,
        });
        let values: Vec<Field> = told.chain(others).collect();
        for field in values.iter().filter(|field| !field.bits.iter().all(Bit::is_open)) {
            // What a pattern finds is followed where it is read: a loop over it is judged by the pattern itself.
            let told = |access: &&Access| **access == Access::Read || field.known().is_some();
            done.iter().filter(told).for_each(|access| self.touch(field, *access));
        }
    }

    /// Takes note that a function's body is the parts from this one on.
    pub(crate) fn keep_body(&mut self, name: &str, start: usize) {
        let end = self.parts().len();
        self.sources.bodies.insert(name.to_owned(), start..end);
    }

    /// Takes note that a function is called: what its body does may be about the arguments.
    pub(crate) fn call(&mut self, name: &str, arguments: &[Field]) {
        let Some(body) = self.sources.bodies.get(name).cloned() else { return };
        let mut says = self.sources.own.clone();
        arguments.iter().for_each(|field| says.add(field.to_pattern()));
        let add = |part: &mut Part| {
            let mut beside = Beside::of(std::mem::take(&mut part.beside));
            beside.extend(&says);
            part.beside = beside.texts();
        };
        self.parts_mut().get_mut(body).into_iter().flatten().for_each(add);
    }

    fn told_of(&self, parameter: &Parameter) -> Option<&Told> {
        let argument = parameter.name == "*" || parameter.name.bytes().all(|byte| byte.is_ascii_digit());
        self.sources.told.get(if argument { ARGUMENTS } else { &parameter.name })
    }
}

/// The parameters in a word.
fn parameters(word: &Word) -> impl Iterator<Item = &Parameter> {
    word.pieces
        .iter()
        .filter_map(|piece| if let Written::Parameter(parameter) = piece { Some(&**parameter) } else { None })
}
