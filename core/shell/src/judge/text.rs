//! Texts that the line has the shell run as lines of their own.

use std::collections::BTreeSet;

use phasegate_core::analysis::Verdict;

use super::sites::unsure_names;
use crate::finding::Finding;
use crate::guard;
use crate::judgement::Problem;
use crate::parse;
use crate::scope::Scope;
use crate::tree::Span;
use crate::walk::Walk;

/// How deep texts inside texts are read (`sh -c "sh -c '...'"`).
const MAX_TEXT_DEPTH: usize = 8;

impl Walk<'_> {
    /// Reads a text as a line of its own, where the line has the shell run it.
    pub(crate) fn text(&mut self, text: &str, span: Span) {
        if self.texts >= MAX_TEXT_DEPTH {
            return self.note(Finding::new(Verdict::Unknown, "texts inside texts go too deep", span));
        }
        let read = guard::check(text).and_then(|()| parse::parse_inner(text, Some(span), 0));
        match read {
            Ok(list) => {
                for name in unsure_names(&list) {
                    self.scope.forget(&name);
                }
                self.texts = self.texts.saturating_add(1);
                let base = self.base.replace(span);
                self.list(&list);
                self.base = base;
                self.texts = self.texts.saturating_sub(1);
            }
            Err(problem) => {
                self.note(Finding::new(Verdict::Unknown, problem.what.clone(), span));
                self.problem.get_or_insert(Problem { what: problem.what, span });
            }
        }
    }

    /// Reads a text that runs in a shell of its own.
    pub(crate) fn subshell_text(&mut self, text: &str, span: Span) {
        let mut scope = Scope::new(BTreeSet::new());
        scope.folders.clone_from(&self.scope.folders);
        let outer = std::mem::replace(&mut self.scope, scope);
        self.text(text, span);
        self.scope = outer;
    }
}
