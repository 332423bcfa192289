//! Which files hold secrets, as their names say it: the same as in the pack `protect-secrets`.

use alloc::vec::Vec;

use phasegate_rules::{Piece, Shape, Value};

/// Names of files.
const FILES: [&str; 9] =
    [".env", ".netrc", ".pgpass", ".git-credentials", ".pypirc", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];
/// What names of files begin with.
const STARTS: [&str; 1] = [".env."];
/// What they end with.
const ENDS: [&str; 8] = [".env", ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx"];
/// The ends of examples and of sources, which hold none.
const EXAMPLES: [&str; 24] = [
    ".example",
    ".sample",
    ".template",
    ".c",
    ".cc",
    ".cpp",
    ".cs",
    ".css",
    ".go",
    ".h",
    ".html",
    ".java",
    ".js",
    ".jsx",
    ".kt",
    ".md",
    ".php",
    ".py",
    ".rb",
    ".rs",
    ".swift",
    ".ts",
    ".tsx",
    ".vue",
];
/// What paths end with.
const PATHS: [&str; 3] = [".aws/credentials", ".kube/config", ".docker/config.json"];

/// Whether a path is one of a file with secrets.
#[must_use]
pub fn is_secret_path(path: &str) -> bool {
    has_file(path.rsplit('/').next().unwrap_or_default()) || ends(path, &PATHS)
}

/// Whether a path is one of a file with secrets, as far as it is known.
pub(super) fn is_secret<'a>(name: &Value<'_>, file: &Value<'_>) -> Value<'a> {
    match (name, file) {
        (Value::Text(name), Value::Text(file)) => Value::Bool(has_file(file) || ends(name, &PATHS)),
        (_, Value::Text(file)) if has_file(file) => Value::Bool(true),
        (Value::Shape(name), Value::Shape(file)) if !may_be(name, file) => Value::Bool(false),
        _ => Value::Unknown,
    }
}

fn has_file(file: &str) -> bool {
    let is_example = ends(file, &EXAMPLES);
    FILES.contains(&file) || ends(file, &ENDS) || (STARTS.iter().any(|start| file.starts_with(start)) && !is_example)
}

fn ends(text: &str, all: &[&str]) -> bool {
    all.iter().any(|end| text.ends_with(end))
}

/// Whether a path of which a part is known may be one.
fn may_be(name: &Shape<'_>, file: &Shape<'_>) -> bool {
    let any = || Piece::Any(());
    let may = |shape: &Shape<'_>, pattern: Vec<Piece>| shape.may_have(&pattern);
    let is_example = EXAMPLES.iter().any(|end| file.has(&[any(), Piece::Text((*end).into())]));
    FILES.iter().any(|text| file.may_be(text))
        || STARTS.iter().any(|start| !is_example && may(file, [Piece::Text((*start).into()), any()].into()))
        || ENDS.iter().any(|end| may(file, [any(), Piece::Text((*end).into())].into()))
        || PATHS.iter().any(|end| may(name, [any(), Piece::Text((*end).into())].into()))
}
