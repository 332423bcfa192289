//! What the commands of a line say of its paths.

use crate::calls::analysis::{CallAnalysis, PathUse, Verdict, Word};
use crate::calls::tool::{EXECUTE, Labels, WRITE};

/// Programs that change of a file only its times, its rights, its owner or its attributes.
const KEEPS_CONTENT: [&str; 7] = ["chattr", "chgrp", "chmod", "chown", "setfacl", "setfattr", "touch"];

impl CallAnalysis {
    /// Whether what is in the file stays as it is, though the call changes the file.
    pub(super) fn keeps_content(&self, path: &PathUse) -> bool {
        let command = match self.commands.as_slice() {
            [command] => Some(command),
            commands => path.command.and_then(|number| commands.get(usize::try_from(number).ok()?)),
        };
        command.is_some_and(|command| {
            let redirected = command.redirections.iter().any(|(_, word)| *word == Word::Known(path.written.clone()));
            let Some(Word::Known(program)) = command.words.first() else { return false };
            let name = program.rsplit_once('/').map_or(program.as_str(), |(_, name)| name);
            KEEPS_CONTENT.contains(&name) && !redirected
        })
    }

    /// Whether the simple commands are all that the line does: no path and no effect belongs to none of them.
    pub(crate) fn is_its_commands(&self, labels: &Labels) -> bool {
        let worst = self.commands.iter().map(|command| command.verdict).max().unwrap_or(Verdict::Unknown);
        let harmless = !labels.contains(WRITE) && !labels.contains(EXECUTE);
        self.paths.iter().all(|path| path.command.is_some()) && (worst != Verdict::Read || harmless)
    }
}
