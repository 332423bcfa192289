//! Discovery: every config text that applies to a project, in one order on every machine.

use std::io;
use std::path::{Path, PathBuf};

use phasegate_config::{
    Diagnostic, FORMATS_FOLDER, Kind, Level, PROMPTS_FOLDER, RULES_FOLDER, SCHEMAS_FOLDER, Severity, SourceFile,
    names_permissions,
};
use phasegate_core::Code;

use crate::bounds;
use crate::locations::{CONFIG_FOLDER, Locations};

/// The largest config file, in bytes.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;
/// The most entries of one folder that are looked at.
const MAX_FOLDER_ENTRIES: usize = 1000;

/// What discovery found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The config texts: the project's, the user's, the machine's, each level sorted by path.
    pub files: Vec<SourceFile>,
    /// Files and folders that exist and could not be read.
    pub problems: Vec<Diagnostic>,
    /// The level of each problem.
    levels: Vec<Level>,
}

impl Found {
    /// Whether anything found guards the project: a settings file, a skill config, a skill with phases, or something
    /// that could not be read and might be one of these.
    pub fn guards(&self) -> bool {
        !self.problems.is_empty() || self.files.iter().any(guards)
    }

    /// Whether something of the project, or of another level, exists and could not be read.
    pub(crate) fn problems_of(&self, project: bool) -> bool {
        self.levels.iter().any(|level| (*level == Level::Project) == project)
    }

    /// Leaves out what could not be read of the project, or of the other levels.
    pub(crate) fn forget_problems(&mut self, project: bool) {
        let keep: Vec<bool> = self.levels.iter().map(|level| (*level == Level::Project) != project).collect();
        let mut kept = keep.iter();
        self.problems.retain(|_| kept.next().copied().unwrap_or(true));
        self.levels.retain(|level| (*level == Level::Project) != project);
    }

    /// Whether something of the project's own guards it.
    pub fn project_guards(&self) -> bool {
        self.levels.contains(&Level::Project)
            || self.files.iter().any(|file| file.level == Level::Project && guards(file))
    }
}

fn guards(file: &SourceFile) -> bool {
    match file.kind {
        Kind::Settings | Kind::Skill | Kind::Rules | Kind::Facts => true,
        Kind::SkillMd => names_permissions(&file.text),
        Kind::Prompt | Kind::Format => false,
    }
}

/// Reads every config that applies to the project with this root. `skill_folders` are the platforms' own, as
/// adapters give them; those that begin with `~/` are the user's.
pub fn discover(locations: &Locations, root: &Path, skill_folders: &[&str]) -> Found {
    let mut search = Search { root, found: Found::default(), level: Level::Project };
    search.config_folder(&root.join(CONFIG_FOLDER));
    for folder in skill_folders.iter().filter(|folder| !folder.starts_with("~/")) {
        search.skill_mds(&root.join(folder));
    }
    search.level = Level::User;
    search.config_folder(&locations.user);
    if locations.home != root {
        for folder in skill_folders.iter().filter_map(|folder| folder.strip_prefix("~/")) {
            search.skill_mds(&locations.home.join(folder));
        }
    }
    search.level = Level::Machine;
    search.config_folder(&locations.machine);
    search.found
}

/// Whether the `.phasegate` folder of this root has a config that guards, or something that cannot be read and might.
pub fn guards_itself(root: &Path) -> bool {
    let folder = root.join(CONFIG_FOLDER);
    if folder.symlink_metadata().is_err_and(|error| absent(&error)) {
        return false;
    }
    let mut search = Search { root, found: Found::default(), level: Level::Project };
    search.config_folder(&folder);
    search.found.guards()
}

/// Reads one config file that a person names, as what its name says it is.
pub fn named(path: &Path, root: &Path) -> Found {
    let mut search = Search { root, found: Found::default(), level: Level::Project };
    search.file(path, kind_of(path), true);
    search.texts(&root.join(CONFIG_FOLDER));
    search.found
}

fn kind_of(path: &Path) -> Kind {
    match (path.file_name().and_then(|name| name.to_str()), path.file_stem().and_then(|stem| stem.to_str())) {
        (Some("SKILL.md"), _) => Kind::SkillMd,
        (_, Some("config")) => Kind::Settings,
        _ if path.extension().is_some_and(|end| end == "md") => Kind::SkillMd,
        _ if path.extension().is_some_and(|end| end == "cedar") => Kind::Rules,
        _ => Kind::Skill,
    }
}

struct Search<'a> {
    root: &'a Path,
    found: Found,
    level: Level,
}

impl Search<'_> {
    fn config_folder(&mut self, folder: &Path) {
        if folder.as_os_str().is_empty() {
            return;
        }
        let mut seen: Option<PathBuf> = None;
        for name in ["config.yaml", "config.yml", "config.json"] {
            let path = folder.join(name);
            if self.file(&path, Kind::Settings, false) {
                if let Some(first) = &seen {
                    let message = format!("`{}` is the settings file here already", first.display());
                    self.problem(&path, Code::ConfigKeyDuplicate, message);
                }
                seen.get_or_insert(path);
            }
        }
        let skills = folder.join("skills");
        for path in self.entries(&skills) {
            if path.extension().is_some_and(|end| end == "yaml" || end == "yml" || end == "json") {
                self.file(&path, Kind::Skill, true);
            }
        }
        self.skill_mds(&skills);
        self.named(&folder.join(RULES_FOLDER), Kind::Rules, &["cedar"]);
        self.named(&folder.join(RULES_FOLDER), Kind::Facts, &["yaml", "yml", "json"]);
        self.texts(folder);
    }

    /// The texts, formats and JSON Schemas that configs of this level may name.
    fn texts(&mut self, folder: &Path) {
        self.named(&folder.join(PROMPTS_FOLDER), Kind::Prompt, &["md", "txt"]);
        for name in [FORMATS_FOLDER, SCHEMAS_FOLDER] {
            self.named(&folder.join(name), Kind::Format, &["yaml", "yml", "json"]);
        }
    }

    /// The files of a folder whose names end so.
    fn named(&mut self, folder: &Path, kind: Kind, ends: &[&str]) {
        for path in self.entries(folder) {
            if path.extension().and_then(|end| end.to_str()).is_some_and(|end| ends.contains(&end)) {
                self.file(&path, kind, true);
            }
        }
    }

    fn skill_mds(&mut self, folder: &Path) {
        for path in self.entries(folder) {
            self.file(&path.join("SKILL.md"), Kind::SkillMd, false);
        }
    }

    /// Reads a file; whether it is there.
    fn file(&mut self, path: &Path, kind: Kind, must_exist: bool) -> bool {
        match bounds::read(path, MAX_CONFIG_BYTES) {
            Ok(text) => {
                let path = self.shown(path);
                self.found.files.push(SourceFile { path, text, level: self.level, kind });
                true
            }
            Err(error) if !must_exist && absent(&error) => false,
            Err(error) => {
                self.problem(path, Code::ConfigUnreadable, format!("the file cannot be read: {error}"));
                true
            }
        }
    }

    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let listed: io::Result<Vec<_>> = std::fs::read_dir(folder).and_then(|entries| {
            entries.take(MAX_FOLDER_ENTRIES + 1).map(|entry| entry.map(|entry| entry.path())).collect()
        });
        match listed {
            Ok(paths) if paths.len() > MAX_FOLDER_ENTRIES => {
                let message = format!("the folder has more than {MAX_FOLDER_ENTRIES} entries");
                self.problem(folder, Code::ConfigUnreadable, message);
                Vec::new()
            }
            Ok(mut paths) => {
                paths.sort();
                paths
            }
            Err(error) => {
                if !absent(&error) {
                    self.problem(folder, Code::ConfigUnreadable, format!("the folder cannot be read: {error}"));
                }
                Vec::new()
            }
        }
    }

    fn problem(&mut self, path: &Path, code: Code, message: String) {
        self.found.levels.push(self.level);
        self.found.problems.push(Diagnostic {
            code,
            severity: Severity::Error,
            path: self.shown(path),
            line: 1,
            column: 1,
            span: (0, 0),
            message,
            cause: None,
            suggestion: Some(code.remedy().to_string()),
        });
    }

    fn shown(&self, path: &Path) -> String {
        path.strip_prefix(self.root).unwrap_or(path).display().to_string()
    }
}

fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn locations(top: &Path) -> Locations {
        Locations { state: top.join("s"), user: top.join("u"), machine: top.join("m"), home: top.join("h") }
    }

    #[test]
    fn every_place_is_read_in_one_order() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let root = top.join("p");
        for path in [
            "p/.phasegate/config.yaml",
            "p/.phasegate/skills/b.yml",
            "p/.phasegate/skills/a.json",
            "p/.phasegate/skills/c/SKILL.md",
            "p/.phasegate/prompts/plan.md",
            "p/.phasegate/prompts/deep/plan.md",
            "p/.phasegate/prompts/plan.pdf",
            "p/.phasegate/rules/a.cedar",
            "p/.phasegate/rules/a.md",
            "p/.phasegate/formats/memory.yaml",
            "p/.phasegate/formats/notes.md",
            "p/.phasegate/schemas/tasks.json",
            "p/.tool/skills/x/SKILL.md",
            "p/.tool/skills/x/notes.md",
            "h/.tool/skills/y/SKILL.md",
            "u/config.yaml",
            "m/skills/z.yaml",
        ] {
            write(&top.join(path), path);
        }
        let found = discover(&locations(top), &root, &[".tool/skills", "~/.tool/skills"]);
        let shown: Vec<_> = found.files.iter().map(|file| (file.level, file.kind, file.text.as_str())).collect();
        let (skill, md) = (Kind::Skill, Kind::SkillMd);
        assert_eq!(
            shown,
            [
                (Level::Project, Kind::Settings, "p/.phasegate/config.yaml"),
                (Level::Project, skill, "p/.phasegate/skills/a.json"),
                (Level::Project, skill, "p/.phasegate/skills/b.yml"),
                (Level::Project, md, "p/.phasegate/skills/c/SKILL.md"),
                (Level::Project, Kind::Rules, "p/.phasegate/rules/a.cedar"),
                (Level::Project, Kind::Prompt, "p/.phasegate/prompts/plan.md"),
                (Level::Project, Kind::Format, "p/.phasegate/formats/memory.yaml"),
                (Level::Project, Kind::Format, "p/.phasegate/schemas/tasks.json"),
                (Level::Project, md, "p/.tool/skills/x/SKILL.md"),
                (Level::User, Kind::Settings, "u/config.yaml"),
                (Level::User, md, "h/.tool/skills/y/SKILL.md"),
                (Level::Machine, skill, "m/skills/z.yaml"),
            ]
        );
        assert_eq!(found.files[0].path, ".phasegate/config.yaml");
        assert!(found.problems.is_empty() && found.guards() && found.project_guards());
    }

    #[test]
    fn what_cannot_be_read_is_a_problem_and_guards() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        write(&top.join("p/.phasegate/skills/bytes.yaml"), [0xff, 0xfe]);
        write(&top.join("p/.phasegate/skills/large.yaml"), "x".repeat(MAX_CONFIG_BYTES as usize + 1));
        std::fs::create_dir_all(top.join("p/.phasegate/config.yaml")).unwrap();
        let found = discover(&locations(top), &top.join("p"), &[]);
        let paths: Vec<_> = found.problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, [".phasegate/config.yaml", ".phasegate/skills/bytes.yaml", ".phasegate/skills/large.yaml"]);
        assert!(found.guards() && found.project_guards() && found.files.is_empty());
    }

    #[test]
    fn a_skill_without_phases_guards_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        write(&top.join("p/.tool/skills/x/SKILL.md"), "---\nname: x\n---\n");
        assert!(!discover(&locations(top), &top.join("p"), &[".tool/skills"]).guards());
    }

    #[test]
    fn a_skill_with_phases_guards_and_so_does_one_whose_key_is_misspelt() {
        for key in ["tool_permissions", "tool_permisions", "tool-permissions", "metadata: {toolPermissions"] {
            let folder = tempfile::tempdir().unwrap();
            let top = folder.path();
            write(&top.join("p/.tool/skills/x/SKILL.md"), format!("---\nname: x\n{key}: broken\n---\n"));
            let found = discover(&locations(top), &top.join("p"), &[".tool/skills"]);
            assert!(found.guards() && found.project_guards(), "{key}");
        }
    }

    #[test]
    fn two_settings_files_in_one_folder_are_a_problem() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        write(&top.join("p/.phasegate/config.yaml"), "");
        write(&top.join("p/.phasegate/config.json"), "{}");
        let found = discover(&locations(top), &top.join("p"), &[]);
        assert_eq!(found.problems[0].code, Code::ConfigKeyDuplicate);
    }
}
