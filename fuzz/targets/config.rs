//! The config compiler with arbitrary texts: never a panic, every diagnostic lies within its text, the same text means
//! the same, and what compiled without errors survives being stored.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use phasegate_config::{Kind, Level, SourceFile, compile};
use phasegate_core::Policy;

fuzz_target!(|data: &[u8]| -> Corpus {
    let Some((first, text)) = data.split_first() else { return Corpus::Reject };
    let Ok(text) = std::str::from_utf8(text) else { return Corpus::Reject };
    let kind = match first % 3 {
        0 => Kind::Settings,
        1 => Kind::Skill,
        _ => Kind::SkillMd,
    };
    let file = SourceFile { path: "it".into(), text: text.into(), level: Level::Project, kind };
    let files = [file];
    let compiled = compile(&files);
    for diagnostic in &compiled.diagnostics {
        let (start, length) = diagnostic.span;
        let end = start.checked_add(length).expect("a span has an end");
        assert!(diagnostic.path != "it" || text.get(start..end).is_some(), "{diagnostic:?} is not in the text");
        assert!(diagnostic.line >= 1 && diagnostic.column >= 1, "{diagnostic:?}");
        assert!(!diagnostic.message.is_empty(), "{diagnostic:?}");
    }
    assert_eq!(compile(&files), compiled, "compiling twice differs");
    if !compiled.has_errors() {
        let stored = serde_json::to_string(&compiled.policy).expect("a policy can be stored");
        let loaded: Policy = serde_json::from_str(&stored).expect("a stored policy can be loaded");
        assert_eq!(loaded, compiled.policy, "a stored policy is another one");
    }
    Corpus::Keep
});
