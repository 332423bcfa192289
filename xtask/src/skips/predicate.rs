//! Whether a condition of `cfg` holds on this system while tests are built.

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
        _ => named(condition, "target_os").is_some_and(|name| name == std::env::consts::OS),
    }
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
