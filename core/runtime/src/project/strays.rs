//! Files that look like configs and lie where no config is read.

use std::path::{Path, PathBuf};

use phasegate_config::{Diagnostic, FORMATS_FOLDER, RULES_FOLDER, SCHEMAS_FOLDER, Severity};
use phasegate_core::Code;

use crate::locations::CONFIG_FOLDER;

/// The folder of transcripts that say what they expect.
const TESTS: &str = "tests";
/// The most entries of one folder that are looked at.
const MAX_FOLDER_ENTRIES: usize = 1000;

/// A warning for each config-like file of the project that nothing reads.
pub fn strays(root: &Path) -> Vec<Diagnostic> {
    let folder = root.join(CONFIG_FOLDER);
    let mut found = Vec::new();
    let mut add = |path: &Path, help: &str| {
        found.push(stray(path.strip_prefix(root).unwrap_or(path), help));
    };
    for path in entries(root).iter().filter(|path| stem(path) == CONFIG_FOLDER && is_config(path)) {
        add(path, "settings are read from `.phasegate/config.yaml`");
    }
    for path in entries(&folder) {
        let name = name(&path);
        let is_read = ["skills", RULES_FOLDER, FORMATS_FOLDER, SCHEMAS_FOLDER].contains(&&*name);
        if path.is_dir() && name == TESTS {
            let is_claims = |path: &Path| path.extension().is_some_and(|end| end == "yaml");
            for inner in entries(&path).iter().filter(|inner| is_config(inner) && !is_claims(inner)) {
                add(
                    inner,
                    "`phasegate check --tests` plays transcripts named `.phasegate/tests/NAME.jsonl`, with an event on each line",
                );
            }
        } else if path.is_dir() && !is_read && has_configs(&path) {
            add(&path, "skills are read from the folder `.phasegate/skills`");
        } else if is_config(&path) && !matches!(&*name, "config.yaml" | "config.yml" | "config.json") {
            add(&path, "settings are read from `.phasegate/config.yaml`, skills from `.phasegate/skills/NAME.yaml`");
        }
    }
    for path in entries(&folder.join("skills")) {
        if path.is_dir() {
            for inner in entries(&path).iter().filter(|inner| is_config(inner)) {
                add(
                    inner,
                    "a skill is read from `.phasegate/skills/NAME.yaml`, or from `.phasegate/skills/NAME/SKILL.md`",
                );
            }
        } else if !is_config(&path) && resembles_config(&path) {
            add(&path, "the name of a skill's config ends with `.yaml`, `.yml` or `.json`");
        }
    }
    for path in entries(&folder).iter().chain(&entries(&folder.join("skills"))).filter(|path| is_rules(path)) {
        add(path, RULES_ARE_READ);
    }
    for path in entries(&folder.join(RULES_FOLDER)) {
        let told = ["md", "txt", "cedar", "yaml", "yml", "json"]
            .iter()
            .any(|end| path.extension().is_some_and(|own| own == *end));
        if path.is_dir() || !told {
            add(&path, RULES_ARE_READ);
        }
    }
    found
}

/// Where rules are read.
const RULES_ARE_READ: &str = "rules are read from `.phasegate/rules/NAME.cedar`";

fn is_rules(path: &Path) -> bool {
    path.is_file() && name(path).to_lowercase().ends_with(".cedar")
}

fn stray(path: &Path, help: &str) -> Diagnostic {
    Diagnostic {
        code: Code::ConfigUnread,
        severity: Severity::Warning,
        path: path.display().to_string(),
        line: 1,
        column: 1,
        span: (0, 0),
        message: "nothing reads this, so it has no effect".into(),
        cause: None,
        suggestion: Some(help.into()),
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = std::fs::read_dir(folder).into_iter().flatten().flatten().take(MAX_FOLDER_ENTRIES);
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn has_configs(folder: &Path) -> bool {
    entries(folder).iter().any(|path| is_config(path) || path.join("SKILL.md").exists())
}

fn is_config(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json")
}

/// Whether a file of the folder of skills was probably meant as one: by its ending in another case or with more behind it,
/// or as a `SKILL.md` without its folder.
fn resembles_config(path: &Path) -> bool {
    let name = name(path).to_lowercase();
    [".yaml", ".yml", ".json", ".md"].iter().any(|end| name.contains(end)) || !name.contains('.')
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
