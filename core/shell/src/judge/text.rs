//! Texts that the line has the shell run as lines of their own.

use super::sites::{given, names};
use crate::field::Field;
use crate::guard;
use crate::parse;
use crate::scope::COMMAND_STEPS;
use crate::tree::Span;
use crate::walk::Walk;

/// How deep texts inside texts are read (`sh -c "sh -c '...'"`).
const MAX_TEXT_DEPTH: usize = 8;

impl Walk<'_> {
    /// Reads a text as a line of its own, where the line has the shell run it.
    pub(crate) fn text(&mut self, text: &str, span: Span) {
        if self.texts >= MAX_TEXT_DEPTH {
            return self.stop("texts inside texts go too deep", span);
        }
        if !self.spend(text.len(), span) {
            return;
        }
        let read = guard::check(text).and_then(|()| parse::parse_inner(text, Some(span), 0, self.dialect));
        match read {
            Ok(list) => {
                if self.conditional > 0 || !self.defining.is_empty() {
                    given(&list).for_each(|name| self.hide(&name));
                }
                self.scope.learn(names(&list));
                self.texts = self.texts.saturating_add(1);
                self.repeats = self.repeats.saturating_add(1);
                let base = self.base.replace(span);
                self.list(&list);
                self.base = base;
                self.texts = self.texts.saturating_sub(1);
                self.repeats = self.repeats.saturating_sub(1);
            }
            Err(problem) => {
                self.stop(&problem.what, span);
            }
        }
    }

    /// Reads a text that runs in a shell of its own, with its positional parameters from `$0` on.
    pub(crate) fn subshell_text(&mut self, text: &str, span: Span, parameters: &[&Field]) {
        if !self.spend(COMMAND_STEPS, span) {
            return;
        }
        let inner = self.scope.inner();
        let outer = std::mem::replace(&mut self.scope, inner);
        // A word that may be several moves those after it.
        for (number, field) in parameters.iter().take_while(|field| !field.many).enumerate() {
            self.scope.assign(&number.to_string(), field.bits.clone());
        }
        self.text(text, span);
        self.scope = outer;
    }

    /// Reads a text that runs in this shell at any time from now on.
    pub(crate) fn later_text(&mut self, text: &str, span: Span) {
        if let Ok(list) = parse::parse_inner(text, Some(span), 0, self.dialect) {
            given(&list).for_each(|name| self.hide(&name));
            if super::sites::changes_folder(&list) {
                self.scope.lose_folder();
            }
        }
        let outer = self.scope.fork();
        self.scope.forget_all();
        self.scope.lose_folder();
        // By then the input may be another one.
        let fed = std::mem::replace(&mut self.fed, true);
        self.text(text, span);
        self.fed = fed;
        self.scope = outer;
    }
}
