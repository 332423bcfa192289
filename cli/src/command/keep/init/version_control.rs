//! What git says about a file.

use std::path::Path;
use std::process::{Command, Stdio};

/// Whether git has the file under version control.
pub(crate) fn is_committed(path: &Path) -> bool {
    says(path, &["ls-files", "--error-unmatch"])
}

/// Whether git would offer the file, which need not exist, to be committed.
pub(crate) fn is_offered(path: &Path) -> bool {
    says(path, &["rev-parse"]) && !says(path, &["check-ignore", "--quiet"])
}

fn says(path: &Path, arguments: &[&str]) -> bool {
    let (Some(folder), Some(name)) = (path.ancestors().skip(1).find(|folder| folder.is_dir()), path.to_str()) else {
        return false;
    };
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).args(arguments).arg("--").arg(name);
    git.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    git.status().is_ok_and(|status| status.success())
}
