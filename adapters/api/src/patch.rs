//! The paths that a patch text names.

use phasegate_core::calls::analysis::{Access, PathUse};

/// The prefixes of lines that name a file, and what happens to that file.
const HEADS: [(&str, Access); 4] = [
    ("*** Add File:", Access::Write),
    ("*** Update File:", Access::Write),
    ("*** Delete File:", Access::Remove),
    ("*** Move to:", Access::Write),
];

/// The paths in the order of the patch. Blanks before a line count for nothing: a client may be more forgiving than the
/// form.
#[must_use]
pub fn paths(patch: &str) -> Vec<PathUse> {
    let mut found: Vec<PathUse> = Vec::new();
    for line in patch.lines().map(str::trim) {
        let Some((path, access)) = HEADS.iter().find_map(|(head, access)| Some((line.strip_prefix(head)?, *access)))
        else {
            continue;
        };
        // A file that is moved is gone from where it was.
        if line.starts_with("*** Move to:")
            && let Some(moved) = found.last_mut()
        {
            moved.access = Access::Remove;
        }
        found.push(PathUse::new(path.trim().to_owned(), access));
    }
    found
}

#[cfg(test)]
mod tests {
    use phasegate_core::calls::analysis::Access;

    #[test]
    fn every_file_of_a_patch_is_named() {
        let patch = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** Update File: b.txt\n*** Move to: c.txt\n@@\n-x\n+y\n*** Delete File: d.txt\n*** End Patch";
        let paths: Vec<_> = super::paths(patch).into_iter().map(|path| (path.written, path.access)).collect();
        let wanted =
            [("a.txt", Access::Write), ("b.txt", Access::Remove), ("c.txt", Access::Write), ("d.txt", Access::Remove)];
        assert_eq!(paths, wanted.map(|(path, access)| (path.to_owned(), access)));
        assert!(super::paths("no patch").is_empty());
    }
}
