//! The skills that ship with phasegate. They are templates: they apply where a config names them under `use`.

use crate::input::{Kind, Level, SourceFile};
use crate::source::Form;

/// A skill that ships with phasegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name.
    pub name: &'static str,
    /// The config in the strict form, the default.
    pub strict: &'static str,
    /// The config in the compat form, for skills that were published before.
    pub compat: Option<&'static str>,
}

impl Shipped {
    /// The config in one form; `None` if the skill has no compat form.
    pub fn text(&self, form: Form) -> Option<&'static str> {
        match form {
            Form::Strict => Some(self.strict),
            Form::Compat => self.compat,
        }
    }

    /// The file that stands for it in diagnostics.
    pub fn path(&self, form: Form) -> String {
        match form {
            Form::Strict => format!("skills/{}.yaml", self.name),
            Form::Compat => format!("skills/compat/{}.yaml", self.name),
        }
    }

    pub(crate) fn source(&self, form: Form) -> Option<SourceFile> {
        let text = self.text(form)?.into();
        Some(SourceFile { path: self.path(form), text, level: Level::Project, kind: Kind::Skill })
    }
}

macro_rules! strict {
    ($name:literal) => {
        Shipped { name: $name, strict: include_str!(concat!("../../skills/", $name, ".yaml")), compat: None }
    };
}

macro_rules! both {
    ($name:literal) => {
        Shipped { compat: Some(include_str!(concat!("../../skills/compat/", $name, ".yaml"))), ..strict!($name) }
    };
}

const SHIPPED: &[Shipped] = &[
    strict!("careful-feature"),
    strict!("develop-command"),
    strict!("develop-learnings"),
    strict!("develop-skill"),
    both!("lsp-refactor"),
    both!("lsp-rename"),
    both!("lsp-safe-edit"),
    both!("lsp-verify"),
    strict!("migration"),
    strict!("orchestrate-analysis"),
    strict!("orchestrate-clarification"),
    strict!("orchestrate-generation"),
    strict!("orchestrate-memory"),
    strict!("orchestrate-research"),
    strict!("orchestrate-synthesis"),
    strict!("orchestrate-validation"),
    strict!("plan-mode"),
    both!("planned-feature"),
    strict!("planned-task"),
    strict!("release"),
    strict!("review"),
    strict!("review-only"),
    strict!("test-first"),
    strict!("test-first-beside"),
];

macro_rules! files {
    ($($path:literal),+ $(,)?) => {
        &[$(($path, include_str!(concat!("../../skills/", $path)))),+]
    };
}

/// The formats, schemas and texts that shipped skills name, by the path that they name them by.
pub(crate) const SHIPPED_FILES: &[(&str, &str)] = files![
    "formats/memory.yaml",
    "formats/validation.yaml",
    "prompts/analysis.md",
    "prompts/clarification.md",
    "prompts/generation.md",
    "prompts/memory.md",
    "prompts/research.md",
    "prompts/synthesis.md",
    "prompts/validation.md",
    "schemas/task-graph.schema.json",
];

/// The text of a format, a schema or a prompt that shipped skills name, by the path that they name it by.
pub fn shipped_file(path: &str) -> Option<&'static str> {
    SHIPPED_FILES.iter().find(|(known, _)| *known == path).map(|(_, text)| *text)
}

/// Every shipped skill, sorted by name.
pub fn shipped() -> &'static [Shipped] {
    SHIPPED
}

/// Finds a shipped skill by `NAME`, `NAME@strict` or `NAME@compat`; without a form it is the strict one.
pub fn find_shipped(name: &str) -> Option<(Shipped, Form)> {
    let (name, form) = match name.split_once('@') {
        None => (name, Form::Strict),
        Some((name, "strict")) => (name, Form::Strict),
        Some((name, "compat")) => (name, Form::Compat),
        Some(_) => return None,
    };
    let found = SHIPPED.iter().copied().find(|shipped| shipped.name == name && shipped.text(form).is_some());
    found.map(|shipped| (shipped, form))
}
