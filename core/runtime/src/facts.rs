//! Facts: what the engine asks about the world. A source is one file below and one line of [`SOURCES`].

pub(crate) mod named_files;
pub(crate) mod budget;
mod source;
mod tracked;
mod content;
mod count;
mod file;
mod files;
mod listing;
mod contents;
mod counts;
pub(crate) mod elements;
pub(crate) mod steps;
pub(crate) mod pointer;
pub(crate) mod format;
pub(crate) mod says;
mod session;

use phasegate_core::{FactKey, FactValue, Facts};

pub(crate) use self::files::is_ignored;
pub use self::source::{FactSource, Registered, Trial, World};

/// Every source of facts.
pub const SOURCES: &[Registered] = &[
    Registered::of::<file::File>(),
    Registered::of::<count::Count>(),
    Registered::of::<files::Files>(),
    Registered::of::<contents::Contents>(),
    Registered::of::<counts::Counts>(),
    Registered::of::<elements::Elements>(),
    Registered::of::<steps::Steps>(),
    Registered::of::<session::Session>(),
    Registered::of::<pointer::Pointer>(),
    Registered::of::<format::Format>(),
];

/// The source with this name.
pub fn source(name: &str) -> Option<&'static Registered> {
    SOURCES.iter().find(|source| source.name == name)
}

/// Answers the keys that `facts` does not answer yet. What cannot be found out is `unknown`.
pub fn gather(world: World<'_>, keys: &[FactKey], facts: &mut Facts) {
    for key in keys {
        if !facts.contains_key(key) {
            let gather = |source: &Registered| source.gather(world, &key.args());
            let value = source(key.source()).map_or(FactValue::Unknown, gather);
            facts.insert(key.clone(), value.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use phasegate_core::Policy;
    use phasegate_store::digest::sha256_hex;

    fn ask(root: &Path, key: FactKey) -> FactValue {
        let mut facts = Facts::new();
        gather(
            World { root, project: None, policy: &Policy::default(), trial: None },
            std::slice::from_ref(&key),
            &mut facts,
        );
        facts.remove(&key).unwrap().value
    }

    fn file(path: &str) -> FactKey {
        FactKey::new("file", &json!(path))
    }

    fn occurrences(path: &str, text: &str) -> FactKey {
        FactKey::new("count", &json!([path, text]))
    }

    #[test]
    fn files_inside_the_project_answer_and_others_stay_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("plan.md"), "- [x] a\n- [x] b\naaaa").unwrap();
        let digest = sha256_hex(b"- [x] a\n- [x] b\naaaa");
        assert_eq!(ask(&root, file("plan.md")), FactValue::Known(digest.into()));
        assert_eq!(ask(&root, file("none.md")), FactValue::Absent);
        assert_eq!(ask(&root, file("../x")), FactValue::Unknown);
        assert_eq!(ask(&root, file("/etc/passwd")), FactValue::Unknown);
        assert_eq!(ask(&root, file(".")), FactValue::Unknown);
        assert_eq!(ask(&root, occurrences("plan.md", "- [x]")), FactValue::Known(2.into()));
        assert_eq!(ask(&root, occurrences("plan.md", "aa")), FactValue::Known(2.into()));
        assert_eq!(ask(&root, occurrences("plan.md", "")), FactValue::Unknown);
        assert_eq!(ask(&root, occurrences("none.md", "x")), FactValue::Absent);
    }

    #[test]
    fn patterns_select_files_and_no_links() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(root.join("docs/plans/old")).unwrap();
        std::fs::write(root.join("docs/plans/a.md"), "TODO TODO").unwrap();
        std::fs::write(root.join("docs/plans/old/b.md"), "").unwrap();
        std::fs::write(root.join("docs/plans/c.txt"), "TODO").unwrap();
        std::os::unix::fs::symlink("../../docs/plans/a.md", root.join("docs/plans/link.md")).unwrap();
        let patterns = json!(["docs/plans/**/*.md", "docs/plans/a.md", "none/*.md"]);
        let (a, b) = (sha256_hex(b"TODO TODO"), sha256_hex(b""));
        let digests = json!({"docs/plans/a.md": a, "docs/plans/old/b.md": b});
        assert_eq!(ask(&root, FactKey::new("contents", &patterns)), FactValue::Known(digests));
        let counts = json!({"docs/plans/a.md": 2, "docs/plans/old/b.md": 0});
        assert_eq!(ask(&root, FactKey::new("counts", &json!([patterns, "TODO"]))), FactValue::Known(counts));
        std::os::unix::fs::symlink("/etc", root.join("out")).unwrap();
        assert_eq!(ask(&root, FactKey::new("contents", &json!(["out/*.md"]))), FactValue::Unknown);
    }

    #[test]
    fn a_file_counts_only_where_it_lies_itself() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in [".opencode/specs/a.md", "docs/b.md", ".Opencode/specs/c.md", ".opencode/Specs/d.md"] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), "text").unwrap();
        }
        let listed = |pattern: &str| match ask(&root, FactKey::new("contents", &json!([pattern]))) {
            FactValue::Known(files) => Some(files.as_object().unwrap().keys().cloned().collect::<Vec<_>>()),
            _ => None,
        };
        let specs = ".opencode/specs/**/*.md";
        assert_eq!(
            listed(specs),
            Some(vec![".opencode/specs/a.md".to_owned()]),
            "case counts where it does on the disk"
        );
        let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, root.join(at)).unwrap();
        link("../../docs/b.md", ".opencode/specs/link.md");
        link("../../docs", ".opencode/specs/deep");
        link("/etc", ".opencode/specs/out");
        assert_eq!(listed(specs), Some(vec![".opencode/specs/a.md".to_owned()]), "a link is no file");
        link("docs", "linked");
        assert_eq!(listed("linked/*.md"), None, "other files lie behind a link than its path says");
        assert_eq!(listed("docs/../docs/*.md"), None);
        assert_eq!(listed("docs/*.md"), Some(vec!["docs/b.md".to_owned()]));
    }

    #[test]
    fn what_is_said_of_a_file_is_said_of_the_bytes_that_the_question_names() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let text = r#"{"result": "passed"}"#;
        std::fs::write(root.join("a.json"), text).unwrap();
        std::fs::write(root.join("large.json"), format!("{text}{}", " ".repeat(1024 * 1024))).unwrap();
        let large = sha256_hex(&std::fs::read(root.join("large.json")).unwrap());
        let asked = |path: &str, digest: &str| {
            let is = json!({"equal": "passed"});
            let key = FactKey::new("pointer", &json!({"at": "/result", "is": is, "files": {path: digest}}));
            match ask(&root, key) {
                FactValue::Known(answer) => answer[path].clone(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(asked("a.json", &sha256_hex(text.as_bytes())), json!(true));
        for unknown in [asked("a.json", "other"), asked("none.json", "other"), asked("../a.json", "other")] {
            assert_eq!(unknown, json!({"unknown": "it cannot be read, or changes"}));
        }
        assert!(asked("large.json", &large)["unknown"].as_str().unwrap().contains("larger than 1 MiB"));
        let format = json!({"skill": "s", "version": "v", "artifact": "a", "files": {}});
        assert_eq!(ask(&root, FactKey::new("format", &format)), FactValue::Unknown, "no policy has it");
    }

    #[test]
    fn a_source_says_what_it_does_not_understand() {
        let count = source("count").unwrap();
        assert_eq!(count.check(&json!({"path": "a", "text": "b"})), Ok(()));
        assert!(count.check(&json!({"path": "a"})).unwrap_err().contains("text"));
        assert_eq!(
            count.gather(
                World { root: Path::new("/"), project: None, policy: &Policy::default(), trial: None },
                &json!({"file": "a"})
            ),
            FactValue::Unknown
        );
        assert!(source("none").is_none());
    }
}
