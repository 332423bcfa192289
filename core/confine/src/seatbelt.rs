//! The profile that would hold a command on macOS, for `sandbox-exec -p`. Written from documentation and never tried.

use std::path::Path;

use crate::level::Level;
use crate::request::Request;

/// The folders in which every command may write at the read-only levels.
const TEMPORARY: [&str; 3] = ["/private/tmp", "/private/var/folders", "/dev"];

/// The text of the profile. Rules further down win.
pub(crate) fn profile(request: &Request) -> String {
    let mut lines = vec!["(version 1)".to_owned(), "(allow default)".to_owned()];
    if request.level == Level::Protect {
        lines.extend(request.protected.iter().map(|folder| format!("(deny file-write* {})", subpath(folder))));
    } else {
        lines.push("(deny file-write*)".into());
        let temporary = TEMPORARY.iter().map(Path::new);
        let writable = temporary.chain(request.writable.iter().map(AsRef::as_ref));
        lines.extend(writable.map(|folder| format!("(allow file-write* {})", subpath(folder))));
        let files = request.returned.iter().map(|file| format!("(allow file-write* (literal {}))", quoted(file)));
        lines.extend(files);
        if !request.network {
            lines.push("(deny network*)".into());
            lines.push("(allow network* (local ip \"localhost:*\"))".into());
        }
    }
    lines.join("\n") + "\n"
}

fn subpath(folder: &Path) -> String {
    format!("(subpath {})", quoted(folder))
}

fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_denies_first_and_frees_folders_later() {
        let mut request = Request::new(Level::Binds, vec!["true".into()], "/w".into());
        request.writable = vec!["/a \"b\"".into()];
        let text = profile(&request);
        let at = |part: &str| text.find(part);
        assert!(at("(deny file-write*)") < at("(allow file-write* (subpath \"/a \\\"b\\\"\"))"), "{text}");
        assert!(at("(deny network*)").is_some(), "{text}");
        request.level = Level::Protect;
        request.protected = vec!["/p".into()];
        assert!(profile(&request).ends_with("(allow default)\n(deny file-write* (subpath \"/p\"))\n"));
    }
}
