//! The reading of a call (rules 3.3): what its paths mean on this machine, found before the decision.

use std::path::Path;

use phasegate_core::{Event, EventKind};

use crate::paths::{display, resolve};

/// Resolves the paths that the adapter found in a call, relative to the event's folder, else to the project's root.
pub fn complete(event: &mut Event, root: &Path) {
    let base = event.cwd.as_deref().map_or_else(|| root.to_path_buf(), |cwd| root.join(cwd));
    if let EventKind::ToolCall { reading, .. } = &mut event.kind {
        for path in &mut reading.paths {
            path.resolved = resolve(&base, Path::new(&path.written)).and_then(|found| display(root, &found));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phasegate_core::tool::{Access, PathUse, Reading};

    #[test]
    fn a_path_is_read_from_the_folder_that_the_session_is_in() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("sub")).unwrap();
        let mut event = Event::from_value(serde_json::json!({"event": "tool_call", "tool": "Edit"})).unwrap();
        event.cwd = Some(root.join("sub").to_str().unwrap().to_string());
        let EventKind::ToolCall { reading, .. } = &mut event.kind else { unreachable!() };
        *reading = Reading {
            paths: vec![PathUse { written: "../a.rs".into(), resolved: None, access: Access::Write }],
            ..Reading::default()
        };
        complete(&mut event, &root);
        assert_eq!(event.call().unwrap().reading.paths[0].resolved.as_deref(), Some("a.rs"));
    }
}
