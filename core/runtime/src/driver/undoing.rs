//! Calls that do nothing but put files back that a call might not change.

use std::path::Path;

use phasegate_core::calls::analysis::{Access, SimpleCommand, Word};
use phasegate_core::calls::forbidden_change::ForbiddenChange;
use phasegate_core::calls::tool::BASH;
use phasegate_core::{Effect, Event, EventKind, Outcome};

use super::Driver;

/// The commands of git that put files back.
const PUT_BACK: [&str; 2] = ["checkout", "restore"];

/// Whether the call changes these files alone, and no other way than by a file tool, by git, or by the guard's own command.
pub(super) fn undoes(event: &Event, open: &[ForbiddenChange]) -> bool {
    let EventKind::ToolCall { tool, server: None, analysis, .. } = &event.kind else { return false };
    if !analysis.guarded.is_empty() {
        return false;
    }
    let is_open = |path: &Option<String>| path.as_ref().is_some_and(|path| open.iter().any(|one| one.path == *path));
    let written = || analysis.paths.iter().filter(|path| matches!(path.access, Access::Write | Access::Remove));
    let only_open = || written().all(|path| is_open(&path.resolved) && path.below.is_empty());
    if tool != BASH {
        let acts = analysis.paths.iter().any(|path| path.access == Access::Write);
        return analysis.commands.is_empty() && acts && only_open();
    }
    match analysis.commands.as_slice() {
        [command] if is_own(command) => true,
        commands => {
            let writes = analysis.paths.iter().any(|path| path.access == Access::Write);
            !commands.is_empty() && commands.iter().all(puts_back) && writes && only_open()
        }
    }
}

impl Driver<'_> {
    /// Says first what has to be put back, where an agent is kept from the end of its turn: until then nothing else passes.
    pub(super) fn tell_what_to_put_back(&self, event: &Event, outcome: &mut Outcome) {
        let ends = matches!(event.kind, EventKind::Stop { .. } | EventKind::SubagentStop { .. });
        let Some(decision) = outcome.decision.as_mut().filter(|decision| ends && decision.effect == Effect::Deny)
        else {
            return;
        };
        let open = self.open_changes(&self.state);
        let Some((first, rest)) = open.split_first() else { return };
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        decision.reason = format!(
            "Put `{}`{more} back first (`phasegate restore`): until then only calls pass that read. {}",
            first.path, decision.reason
        );
    }
}

fn words(command: &SimpleCommand) -> impl Iterator<Item = &str> {
    command.words.iter().map(|word| match word {
        Word::Known(text) => text.as_str(),
        Word::Unknown | Word::Value => "",
    })
}

/// Whether it is `phasegate restore`, which an agent may run too: the one option that is a person's the program refuses.
fn is_own(command: &SimpleCommand) -> bool {
    let mut words = words(command);
    let program = words.next().unwrap_or_default();
    let plain = command.assignments.is_empty() && command.redirections.is_empty();
    let own = || {
        // By its own path or by that of the link that hooks start.
        let called =
            Some(Path::new(program)).filter(|path| path.is_absolute()).and_then(|path| path.canonicalize().ok());
        called.is_some() && called == std::env::current_exe().ok().and_then(|own| own.canonicalize().ok())
    };
    plain && (program == "phasegate" || own()) && words.next() == Some("restore")
}

fn puts_back(command: &SimpleCommand) -> bool {
    let mut words = words(command);
    let is_git = words.next() == Some("git");
    is_git && words.next().is_some_and(|name| PUT_BACK.contains(&name)) && command.assignments.is_empty()
}
