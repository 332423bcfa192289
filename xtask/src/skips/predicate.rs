//! Whether a condition of `cfg` holds on this system while tests are built.

use xtask::root::{read, root};

/// Whether it holds. What is not known here does not.
pub(super) fn holds(condition: &str) -> bool {
    let condition = condition.trim();
    let inside = |name: &str| condition.strip_prefix(name)?.trim().strip_prefix('(')?.strip_suffix(')');
    if let Some(all) = inside("all") {
        return parts(all).into_iter().all(holds);
    }
    if let Some(any) = inside("any") {
        return parts(any).into_iter().any(holds);
    }
    if let Some(not) = inside("not") {
        return !holds(not);
    }
    match condition {
        "test" | "debug_assertions" => true,
        "unix" => cfg!(unix),
        "windows" => cfg!(windows),
        _ => match named(condition, "feature") {
            Some(feature) => is_on(feature),
            None => named(condition, "target_os").is_some_and(|name| name == std::env::consts::OS),
        },
    }
}

/// Whether a member of the workspace asks for this feature: tests are built with the features that any of them asks for.
fn is_on(feature: &str) -> bool {
    let quoted = format!("\"{feature}\"");
    let asks = |line: &str| line.split_once("features = [").is_some_and(|(_, rest)| rest.contains(&quoted));
    let skipped = |entry: &walkdir::DirEntry| ["target", "fuzz"].iter().any(|name| entry.file_name() == *name);
    let files = walkdir::WalkDir::new(root()).into_iter().filter_entry(|entry| !skipped(entry)).flatten();
    let mut manifests = files.filter(|entry| entry.file_name() == "Cargo.toml");
    manifests.any(|entry| read(entry.path()).is_ok_and(|text| text.lines().any(asks)))
}

fn named<'a>(condition: &'a str, key: &str) -> Option<&'a str> {
    let value = condition.strip_prefix(key)?.trim().strip_prefix('=')?.trim();
    value.strip_prefix('"')?.strip_suffix('"')
}

/// The parts between the commas that are not within parentheses.
fn parts(list: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let separates = |letter: char| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    };
    list.split(separates).filter(|part| !part.trim().is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn conditions_are_taken_apart() {
        let here = std::env::consts::OS;
        assert!(holds("all(test, any(windows, unix))"));
        assert!(holds(&format!("all(test, target_os = \"{here}\")")));
        assert!(!holds("all(test, target_os = \"plan9\")"));
        assert!(!holds("not(any(unix, windows))"));
        assert!(!holds("all(any(unix, windows), not(test))"));
        assert!(!holds("feature = \"odd\""));
    }
}
