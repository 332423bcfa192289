//! Texts that the line has the shell run as lines of their own.

use phasegate_core::calls::analysis::{Status, Verdict};

use super::assignments::{given, names};
use crate::expand::field::Field;
use crate::finding::{Finding, keep_worse};
use crate::judge::guard;
use crate::parse::{self, Dialect};
use crate::scope::COMMAND_STEPS;
use crate::script::{Doubt, Script};
use crate::tree::Span;
use crate::walk::Walk;

/// How deep texts inside texts are read (`sh -c "sh -c '...'"`).
const MAX_TEXT_DEPTH: usize = 8;

/// Where a text runs.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Runs<'f> {
    /// In this shell, now.
    Here,
    /// In this shell, at any time from now on.
    Later,
    /// In a shell of its own, with these positional parameters from `$0` on.
    Apart(&'f [&'f Field]),
}

impl Walk<'_> {
    /// What a text does that a shell runs: what it says beside its holes as that is written, and what its holes may be.
    pub(crate) fn script(&mut self, script: &Script, runs: Runs<'_>, dialect: Dialect) -> Finding {
        let status = self.status;
        if script.doubt > Doubt::Nothing {
            self.status = Status::Lost;
        }
        let outer = std::mem::replace(&mut self.dialect, dialect);
        let fed = self.sources.fed.clone();
        if script.doubt > Doubt::Nothing {
            self.sources.fed.extend(&self.sources.own.clone());
        }
        let (_, mut finding) = self.isolate(|walk| match runs {
            Runs::Here => walk.text(script),
            Runs::Later => walk.later_text(script),
            Runs::Apart(parameters) => walk.subshell_text(script, parameters),
        });
        self.sources.fed = fed;
        self.dialect = outer;
        if script.doubt == Doubt::Commands {
            keep_worse(&mut finding, self.any_command(script.span));
        }
        if script.doubt > Doubt::Nothing {
            let because = "a part of the text that is run is made at run time";
            let made = Finding::new(Verdict::Unknown, because, script.span);
            self.note(made.clone());
            keep_worse(&mut finding, made);
        }
        self.status = status;
        finding
    }

    /// What runs where a text of the line, which nobody reads here, says what: any command, and all that the line says.
    pub(crate) fn any_command(&mut self, span: Span) -> Finding {
        self.listens = true;
        self.wrapped(&[Field::any(span), Field::any(span)], span)
    }

    /// Reads a text as a line of its own, where the line has the shell run it.
    fn text(&mut self, script: &Script) {
        let Script { text, span, .. } = script;
        if self.texts >= MAX_TEXT_DEPTH {
            return self.stop("texts inside texts go too deep", *span);
        }
        if !self.spend(text.len(), *span) {
            return;
        }
        let read = guard::check_script(text).and_then(|()| parse::parse_inner(text, Some(*span), 0, self.dialect));
        match read {
            Ok(list) => {
                if self.conditional > 0 || !self.defining.is_empty() {
                    given(&list).for_each(|name| self.hide(&name));
                }
                self.scope.learn(names(&list));
                self.texts = self.texts.saturating_add(1);
                self.repeats = self.repeats.saturating_add(1);
                let (base, launched) = (self.base.replace(*span), std::mem::replace(&mut self.launched, true));
                self.list(&list);
                (self.base, self.launched) = (base, launched);
                self.texts = self.texts.saturating_sub(1);
                self.repeats = self.repeats.saturating_sub(1);
            }
            Err(problem) => {
                self.stop(&problem.what, *span);
            }
        }
    }

    /// Reads a text that runs in a shell of its own, with its positional parameters from `$0` on.
    fn subshell_text(&mut self, script: &Script, parameters: &[&Field]) {
        if !self.spend(COMMAND_STEPS, script.span) {
            return;
        }
        let inner = self.scope.inner();
        let outer = std::mem::replace(&mut self.scope, inner);
        parameters.iter().for_each(|parameter| self.sources.fed.add(parameter.to_pattern()));
        // A word that may be several moves those after it.
        for (number, field) in parameters.iter().take_while(|field| !field.many).enumerate() {
            self.scope.assign(&number.to_string(), field.bits.clone());
        }
        self.text(script);
        self.scope = outer;
    }

    /// Reads a text that runs in this shell at any time from now on.
    fn later_text(&mut self, script: &Script) {
        if let Ok(list) = parse::parse_inner(&script.text, Some(script.span), 0, self.dialect) {
            given(&list).for_each(|name| self.hide(&name));
            if super::assignments::changes_folder(&list) {
                self.scope.lose_folder();
            }
        }
        let outer = self.scope.fork();
        self.scope.forget_all();
        self.scope.lose_folder();
        // By then the input may be another one.
        let fed = std::mem::replace(&mut self.fed, true);
        self.text(script);
        self.fed = fed;
        self.scope = outer;
    }
}
