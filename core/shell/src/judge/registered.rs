//! What is registered of a command, as one more source of the judgement.

use phasegate_core::calls::analysis::{CHANGED_BEFORE, NOT_HEARD_OF, Registered, Verdict, Word};
use phasegate_core::shell::safety::is_runner;

use crate::expand::field::Field;
use crate::finding::{Finding, keep_worse};
use crate::obeyed::Readers;
use crate::table::{Operands, Rule};
use crate::tree::Span;
use crate::walk::Walk;

/// A program with its arguments, and what the table knows of it.
pub(super) struct Ruled<'a> {
    pub(super) name: &'a str,
    pub(super) rule: Option<&'a Rule>,
    pub(super) args: &'a [Field],
    pub(super) span: Span,
}

impl Walk<'_> {
    /// What is registered of a command.
    pub(super) fn registered_of(&self, name: &str, args: &[Field]) -> Option<Registered> {
        let classifier = self.table.classifier();
        if classifier.is_empty() {
            return None;
        }
        let counts = |found: &Registered| !(self.raised && found.reads());
        classifier.judge(&words(name, args)).filter(counts)
    }

    /// What is said of a command of which neither the table nor what is registered says anything.
    pub(super) fn not_known(&self, name: &str, args: &[Field]) -> String {
        match self.table.classifier().not_read(&words(name, args)) {
            Some(why) => format!("`{name}` is registered, {}", why.in_words()),
            None => format!("`{name}` {NOT_HEARD_OF}"),
        }
    }

    /// What a command does by its rule and by what is registered of it.
    ///
    /// What a pattern says to write is never `read`. A READ settles what the table does not know, and nothing that the table
    /// knows to be more than reading; a default only what the table does not know.
    pub(super) fn with_registered(&mut self, ruled: &Ruled<'_>, registered: Option<Registered>) -> Finding {
        let Ruled { name, rule, args, span } = *ruled;
        let Some(registered) = registered else { return self.by_table(ruled) };
        if registered.reads() {
            return self.read_as(ruled, registered);
        }
        let known = rule.is_some() && !self.runs_other(ruled);
        let mut finding = self.by_table(ruled);
        if registered.pattern.is_none() && known && finding.verdict != Verdict::Unknown {
            return finding;
        }
        if finding.verdict <= Verdict::Write || finding.verdict == Verdict::Unknown || self.runs_other(ruled) {
            let verdict = finding.verdict.max(Verdict::Write);
            finding = Finding::new(verdict, registered.because(), span);
            self.unnamed |= verdict == Verdict::Write && !rule.is_some_and(|rule| rule.elsewhere);
            self.registered = Some(registered);
        }
        if rule.is_none() {
            self.touch_unknown(name, args);
        }
        finding
    }

    /// A command that a READ pattern selects.
    fn read_as(&mut self, ruled: &Ruled<'_>, registered: Registered) -> Finding {
        let Ruled { name, rule, args, span } = *ruled;
        let runs_other = self.runs_other(ruled);
        let overrides = self.table.classifier().overrides(&registered.tool);
        if let Some(rule) = rule.filter(|_| !runs_other && !overrides) {
            let before = self.mark();
            let finding = self.apply(name, rule, args, span);
            // What the command runs is judged by itself.
            let runs = rule.wraps.is_some() || self.has_parts_since(&before);
            if finding.verdict != Verdict::Unknown || runs {
                return finding;
            }
            self.back_to_mark(&before);
        }
        let mut reads = reader(rule.filter(|_| !runs_other));
        if runs_other {
            // The checkout may have a program of that name.
            reads.hardened_with = Some("-".to_owned());
        }
        let mut finding = self.apply(name, &reads, args, span);
        if runs_other && self.trust.lost.contains(&Readers::Packages) {
            let because = format!("what `{name}` runs {CHANGED_BEFORE}");
            keep_worse(&mut finding, Finding::new(Verdict::Execute, because, span));
        }
        if finding.verdict == Verdict::Read {
            self.registered = Some(registered);
        }
        finding
    }

    fn by_table(&mut self, ruled: &Ruled<'_>) -> Finding {
        let Ruled { name, rule, args, span } = *ruled;
        let Some(rule) = rule else { return Finding::new(Verdict::Unknown, self.not_known(name, args), span) };
        let mut finding = self.apply(name, rule, args, span);
        // That it runs a program says less than which one it is.
        if let Some(program) = args.first().and_then(Field::known).filter(|_| self.runs_other(ruled)) {
            finding.because = format!("`{program}` {NOT_HEARD_OF}");
        }
        finding
    }

    /// Whether the command runs a program that its next word names and that the table does not know.
    fn runs_other(&self, ruled: &Ruled<'_>) -> bool {
        let named = ruled.args.first().and_then(Field::known);
        is_runner(ruled.name) && named.is_some_and(|program| !program.starts_with('-') && !self.table.knows(program))
    }
}

fn words(name: &str, args: &[Field]) -> Vec<Word> {
    std::iter::once(Word::Known(name.to_owned())).chain(args.iter().map(Field::to_word)).collect()
}

/// The rule of a command that reads by what is registered: any option but those that the program's own rule says to be
/// harmful. It asks a service.
fn reader(rule: Option<&Rule>) -> Rule {
    let known = rule.cloned().unwrap_or_default();
    Rule {
        style: known.style,
        options: known.options,
        hurts: known.hurts,
        hardened_with: known.hardened_with,
        any_option: true,
        touches: Operands::None,
        network: true,
        ..Rule::default()
    }
}
