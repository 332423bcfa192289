//! Which files hold secrets, as their names say it.

use phasegate_rules::{Piece, Shape, Value};

use crate::prelude::*;

/// Names of files.
const FILES: [&str; 12] = [
    ".env",
    ".git-credentials",
    ".my.cnf",
    ".netrc",
    ".pgpass",
    ".pypirc",
    ".vault-token",
    "_netrc",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_rsa",
];
/// What names of files begin with.
const STARTS: [&str; 1] = [".env."];
/// What they end with.
const ENDS: [&str; 10] =
    [".env", ".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".tfstate", ".tfstate.backup"];
/// What is in the names of those of them that everybody may read: certificates and public keys.
const PUBLIC: [&str; 6] = ["public", "pub.", "cacert", "ca.pem", "ca-", "chain"];
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
const PATHS: [&str; 13] = [
    ".aws/credentials",
    ".azure/msal_token_cache.json",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".config/gcloud/application_default_credentials.json",
    ".config/gh/hosts.yml",
    ".config/glab-cli/config.yml",
    ".config/hub",
    ".docker/config.json",
    ".gem/credentials",
    ".kube/config",
    ".m2/settings.xml",
    ".terraform.d/credentials.tfrc.json",
];
/// Names of files outside of the project that hold tokens; within it they hold settings.
const OUTSIDE: [&str; 3] = [".npmrc", ".yarnrc.yml", "nuget.config"];
/// How much of a name that is known in part has to be known, in bytes, to take the file for one with secrets.
const KNOWN: usize = 2;

/// Whether a path is one of a file with secrets.
pub fn is_secret_path(path: &str) -> bool {
    is(path, path.rsplit('/').next().unwrap_or_default())
}

/// Whether a path is one of a file with secrets, as far as it is known.
pub(super) fn is_secret<'a>(name: &Value<'_>, file: &Value<'_>) -> Value<'a> {
    match (name, file) {
        (Value::Text(name), Value::Text(file)) => Value::Bool(is(name, file)),
        (_, Value::Text(file)) if has_file(file) => Value::Bool(true),
        (Value::Shape(name), Value::Shape(file)) if !may_be(name, file) => Value::Bool(false),
        _ => Value::Unknown,
    }
}

fn is(name: &str, file: &str) -> bool {
    has_file(file) || ends(name, &PATHS) || (name.starts_with(['/', '~']) && OUTSIDE.contains(&file))
}

fn has_file(file: &str) -> bool {
    let is_public = file.ends_with(".pem") && PUBLIC.iter().any(|public| file.contains(public));
    FILES.contains(&file)
        || (ends(file, &ENDS) && !is_public)
        || (STARTS.iter().any(|start| file.starts_with(start)) && !ends(file, &EXAMPLES))
}

fn ends(text: &str, all: &[&str]) -> bool {
    all.iter().any(|end| text.ends_with(end))
}

/// Whether a path of which a part is known may be one. What is known has to say something of it: `.e*`, and not `*x*`.
fn may_be(name: &Shape<'_>, file: &Shape<'_>) -> bool {
    let any = || Piece::Any(());
    let may = |shape: &Shape<'_>, pattern: Vec<Piece>| shape.may_have(&pattern);
    let end = |text: &str| Vec::from([any(), Piece::Text(text.into())]);
    let is_example = EXAMPLES.iter().any(|example| file.has(&end(example)));
    FILES.iter().any(|text| file.may_be(text) && ends_known(file, text) >= KNOWN)
        || STARTS.iter().any(|start| {
            !is_example && may(file, [Piece::Text((*start).into()), any()].into()) && ends_known(file, start) >= KNOWN
        })
        || ENDS.iter().any(|text| may(file, end(text)) && says(file, text))
        || PATHS.iter().any(|text| may(name, end(text)) && says_folder(name, text))
        || (matches!(name.pieces.first(), Some(Piece::Any(()))) && OUTSIDE.iter().any(|text| name.has(&end(text))))
}

/// How much of the beginning and of the end of a name is known.
fn ends_known(shape: &Shape<'_>, text: &str) -> usize {
    let same = |one: &mut dyn Iterator<Item = char>, other: &mut dyn Iterator<Item = char>| {
        one.zip(other).take_while(|(one, other)| one == other).count()
    };
    let known = |piece: Option<&Piece>| match piece {
        Some(Piece::Text(known)) => known.clone(),
        _ => String::new(),
    };
    let (first, last) = (known(shape.pieces.first()), known(shape.pieces.last()));
    let last = if shape.pieces.len() > 1 { last } else { String::new() };
    same(&mut first.chars(), &mut text.chars()).saturating_add(same(&mut last.chars().rev(), &mut text.chars().rev()))
}

/// Whether what is known of a name has an end in it, the beginning of one before something that is not known, or its end.
fn says(shape: &Shape<'_>, end: &str) -> bool {
    let Some((last, before)) = shape.pieces.split_last() else { return false };
    let tail = matches!(last, Piece::Text(text) if (1..=end.len().saturating_sub(KNOWN)).any(|at| end.get(at..).is_some_and(|rest| text == rest)));
    tail || says_folder(&Shape { pieces: before, ..*shape }, end)
        || matches!(last, Piece::Text(text) if text.contains(end))
}

/// Whether what is known of a path has this in it, or the beginning of it before something that is not known.
fn says_folder(shape: &Shape<'_>, end: &str) -> bool {
    let begins = |text: &str| (KNOWN..=end.len()).filter_map(|at| end.get(..at)).any(|start| text.ends_with(start));
    let folder = end.split_inclusive('/').next().unwrap_or(end);
    shape.pieces.iter().any(|piece| matches!(piece, Piece::Text(text) if text.contains(folder) || begins(text)))
}
