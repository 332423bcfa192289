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
    /// The config in the compat form: lists only.
    pub compat: &'static str,
}

impl Shipped {
    /// The config in one form.
    #[must_use]
    pub fn text(&self, form: Form) -> &'static str {
        match form {
            Form::Strict => self.strict,
            Form::Compat => self.compat,
        }
    }

    /// The file that stands for it in diagnostics.
    #[must_use]
    pub fn path(&self, form: Form) -> String {
        match form {
            Form::Strict => format!("skills/{}.yaml", self.name),
            Form::Compat => format!("skills/compat/{}.yaml", self.name),
        }
    }

    pub(crate) fn source(&self, form: Form) -> SourceFile {
        SourceFile { path: self.path(form), text: self.text(form).into(), level: Level::Project, kind: Kind::Skill }
    }
}

macro_rules! shipped {
    ($($name:literal),*) => {
        &[$(Shipped {
            name: $name,
            strict: include_str!(concat!("../../../skills/", $name, ".yaml")),
            compat: include_str!(concat!("../../../skills/compat/", $name, ".yaml")),
        }),*]
    };
}

const SHIPPED: &[Shipped] = shipped!["lsp-refactor", "lsp-rename", "lsp-safe-edit", "lsp-verify"];

/// Every shipped skill, sorted by name.
#[must_use]
pub fn shipped() -> &'static [Shipped] {
    SHIPPED
}

/// Finds a shipped skill by `NAME`, `NAME@strict` or `NAME@compat`; without a form it is the strict one.
#[must_use]
pub fn find_shipped(name: &str) -> Option<(Shipped, Form)> {
    let (name, form) = match name.split_once('@') {
        None => (name, Form::Strict),
        Some((name, "strict")) => (name, Form::Strict),
        Some((name, "compat")) => (name, Form::Compat),
        Some(_) => return None,
    };
    SHIPPED.iter().copied().find(|shipped| shipped.name == name).map(|shipped| (shipped, form))
}
