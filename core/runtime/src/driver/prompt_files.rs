//! Prompts that the client may have made itself: one of a scheduled task looks like a person's.

use std::path::PathBuf;

use phasegate_core::{Event, EventKind};

use crate::bounds;
use crate::driver::Driver;
use crate::project::repository::folders_read;

impl Driver<'_> {
    /// Takes a command for one that no person typed where the client may have made the prompt of it: a file that it takes
    /// prompts from speaks of the guard.
    pub(crate) fn attribute(&mut self, event: &mut Event) {
        let EventKind::Prompt { text, interactive } = &mut event.kind else { return };
        if *interactive == Some(false) || !text.trim_start().starts_with('/') {
            return;
        }
        let folders = folders_read(&self.start, &self.project.root);
        let names = &self.runtime.platforms.places().prompt_files;
        let mut files = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
        let speaks = |path: &PathBuf| match bounds::settings(path) {
            Ok(text) => text.to_ascii_lowercase().contains("phasegate") || text.contains("\\u"),
            Err(_) => path.symlink_metadata().is_ok(),
        };
        if let Some(file) = files.find(speaks) {
            *interactive = Some(false);
            self.add_notice(&format!(
                "phasegate: a task in `{}` may have given this command, so it does not count as yours: give it in a terminal.",
                file.display()
            ));
        }
    }
}
