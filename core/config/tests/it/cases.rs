//! Configs by file: those in `valid/` have no mistakes, those in `invalid/` have the mistakes that a golden file lists.
//!
//! A new case is a new file. What it is follows from its name: `*.md` is a SKILL.md, `*settings.yaml` are settings,
//! `*.cedar` are rules, anything else is a skill config. An invalid one begins with the code that it is about.
//! `PHASEGATE_BLESS=1 cargo test -p phasegate-config` writes the golden file anew.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use phasegate_config::{Compiled, Kind, Level, Severity, SourceFile, compile};
use phasegate_core::Code;
use phasegate_core::answers::code::Area;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name)
}

fn names(name: &str) -> Vec<String> {
    let entries = fs::read_dir(folder(name)).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(!names.is_empty(), "no cases in {name}");
    names
}

/// The files that configs may name: a text, a format, a JSON Schema, and a skill that others run.
pub(crate) fn beside() -> Vec<SourceFile> {
    let file = |path: &str, text: &str, kind| {
        let path = format!(".phasegate/{path}");
        SourceFile { path, text: text.into(), level: Level::Project, kind }
    };
    let memory = "title: {matches: '.+ Agent Output: .+'}\nsections: [Findings, Verdict]\nmin_words: 3\n\
                  last_line: '**${id}_COMPLETE**'\n";
    vec![
        file("prompts/plan.md", "Read the code.\nWrite the plan.\n", Kind::Prompt),
        file("prompts/by-whom.md", "${agent} does ${what}.\n", Kind::Prompt),
        file(
            "formats/memory.yaml",
            "title: {matches: '.+ Agent Output: .+'}\nsections: [Findings, Verdict]\n",
            Kind::Format,
        ),
        file("formats/of-task.yaml", memory, Kind::Format),
        file("formats/damaged.yaml", "titel: Plan\nsections: [Findings, '## Verdict']\n", Kind::Format),
        file("schemas/report.json", r#"{"type": "object", "required": ["result"]}"#, Kind::Format),
        file("schemas/damaged.json", r#"{"type": "objekt"}"#, Kind::Format),
        scan(),
        scan_branch(),
        note(),
        study(),
    ]
}

/// A skill that a subagent does.
fn study() -> SourceFile {
    let text = "skill: study\ndescription: Study.\nartifacts: {found: {path: [found.md]}}\nphases:\n  \
                work: {done_by: student, produces: [found]}\n"
        .into();
    SourceFile { path: ".phasegate/skills/study.yaml".into(), text, level: Level::Project, kind: Kind::Skill }
}

/// A skill that others run.
fn scan() -> SourceFile {
    let text = "skill: scan\ndescription: Look.\nphases:\n  look: {allowed: [Read], done_when: {ok: Read}}\n".into();
    SourceFile { path: ".phasegate/skills/scan.yaml".into(), text, level: Level::Project, kind: Kind::Skill }
}

/// A skill that makes a file.
fn note() -> SourceFile {
    let text = "skill: note\ndescription: Note.\nartifacts: {notes: {path: [notes.md]}}\nphases:\n  \
                write: {allowed: [Read], produces: [notes]}\n"
        .into();
    SourceFile { path: ".phasegate/skills/note.yaml".into(), text, level: Level::Project, kind: Kind::Skill }
}

/// A skill that uses the name of its branch.
fn scan_branch() -> SourceFile {
    let text = "skill: scan-branch\ndescription: Look.\nphases:\n  look: {allowed: [{writes: 'notes/${branch}.md'}], \
                done_when: {ok: {writes: 'notes/${branch}.md'}}}\n"
        .into();
    let path = ".phasegate/skills/scan-branch.yaml".into();
    SourceFile { path, text, level: Level::Project, kind: Kind::Skill }
}

fn compiled(name: &str, file: &str) -> (Compiled, String) {
    let text = fs::read_to_string(folder(name).join(file)).unwrap();
    let kind = match file {
        file if file.ends_with(".md") => Kind::SkillMd,
        file if file.ends_with("settings.yaml") => Kind::Settings,
        file if file.ends_with(".cedar") => Kind::Rules,
        _ => Kind::Skill,
    };
    let source = SourceFile { path: file.into(), text: text.clone(), level: Level::Project, kind };
    (compile(&[vec![source], beside()].concat()), text)
}

#[test]
fn valid_configs_have_no_mistakes() {
    for file in names("valid") {
        let (compiled, _) = compiled("valid", &file);
        assert_eq!(compiled.diagnostics, [], "{file}");
        assert_eq!(compiled.policy.version.len(), 64, "{file}");
    }
}

#[test]
fn golden_invalid_configs_have_the_listed_mistakes() {
    let mut listing = String::new();
    for file in names("invalid") {
        let (compiled, text) = compiled("invalid", &file);
        writeln!(listing, "{file}").unwrap();
        for mistake in &compiled.diagnostics {
            let severity = if mistake.severity == Severity::Error { "error" } else { "warning" };
            let (start, length) = mistake.span;
            let marked = text.get(start..start + length).unwrap_or("(not at a character)").lines().next().unwrap_or("");
            writeln!(
                listing,
                "  {}:{} {severity} [{}] {}",
                mistake.line, mistake.column, mistake.code, mistake.message
            )
            .unwrap();
            writeln!(listing, "    at: {marked}").unwrap();
            if let Some(cause) = &mistake.cause {
                writeln!(listing, "    cause: {cause}").unwrap();
            }
            writeln!(listing, "    help: {}", mistake.suggestion.as_deref().unwrap()).unwrap();
        }
    }
    let golden = folder("invalid.golden");
    if std::env::var_os("PHASEGATE_BLESS").is_some() {
        fs::write(&golden, &listing).unwrap();
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    for (number, (now, then)) in listing.lines().zip(expected.lines()).enumerate() {
        assert_eq!(now, then, "line {} of invalid.golden; PHASEGATE_BLESS=1 writes it anew", number + 1);
    }
    assert_eq!(listing.lines().count(), expected.lines().count(), "PHASEGATE_BLESS=1 writes invalid.golden anew");
}

#[test]
fn each_invalid_config_shows_the_code_it_is_named_after() {
    let mut shown = BTreeSet::new();
    for file in names("invalid") {
        let (compiled, _) = compiled("invalid", &file);
        shown.extend(compiled.diagnostics.iter().map(|mistake| mistake.code));
        let code = file.split('.').next().unwrap();
        if code == "eight-mistakes" {
            continue;
        }
        assert!(compiled.diagnostics.iter().any(|mistake| mistake.code.id() == code), "{file}");
        for mistake in &compiled.diagnostics {
            assert!(mistake.line >= 1 && mistake.column >= 1, "{file}: {mistake:?}");
        }
    }
    // That a file cannot be read, or lies where nothing is read, is found by who reads.
    let elsewhere = [Code::ConfigUnreadable, Code::ConfigUnread];
    let here = |code: &Code| code.area() == Area::Config && !elsewhere.contains(code);
    let all: BTreeSet<Code> = Code::ALL.iter().copied().filter(here).collect();
    assert_eq!(shown, all, "every config code has a case");
}

#[test]
fn eight_different_mistakes_are_reported_at_once() {
    let (compiled, _) = compiled("invalid", "eight-mistakes.yaml");
    let codes: Vec<&str> = compiled.diagnostics.iter().map(|mistake| mistake.code.id()).collect();
    let expected = [
        "config-value",
        "config-key-unknown",
        "matcher-empty",
        "phase-never-done",
        "config-key-duplicate",
        "tool-allowed-and-forbidden",
        "matcher-never-matches",
        "phase-unknown",
    ];
    assert_eq!(codes, expected);
    assert!(compiled.diagnostics.iter().all(|mistake| mistake.suggestion.is_some()));
    assert!(compiled.has_errors());
}
