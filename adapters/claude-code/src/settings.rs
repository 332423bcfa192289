//! Settings files: how the client reads them, and the hooks in them.

pub(crate) mod entry;
pub(crate) mod odd_hooks;
pub(crate) mod trust;
pub(crate) mod hook_installation;
pub(crate) mod shell_setting;
pub(crate) mod install;
pub(crate) mod mods;
pub(crate) mod managed;
pub(crate) mod examine;
pub(crate) mod permissions;

use std::path::Path;

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstNode, CstObject, CstRootNode};
use phasegate_adapter::Problem;
use phasegate_core::Code;
use serde::de::IgnoredAny;
use serde_json::Value;

/// What is done with comments and trailing commas.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comments {
    /// They are a problem.
    Refused,
    /// They stay where they are.
    Kept,
}

/// Reads settings: their byte order mark, if there is one, and the rest.
pub(crate) fn parse<'a>(path: &Path, text: &'a str, comments: Comments) -> Result<(&'a str, CstRootNode), Problem> {
    let kept = comments == Comments::Kept;
    let options = ParseOptions {
        allow_comments: kept,
        allow_trailing_commas: kept,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let (mark, rest) = text.strip_prefix(MARK).map_or(("", text), |rest| (MARK, rest));
    let syntax = |what: String| {
        Problem::new(Code::ConfigSyntax, format!("the client ignores `{}` as it is: {what}", path.display()))
    };
    let root = CstRootNode::parse(rest, &options).map_err(|e| syntax(e.to_string()))?;
    if !kept && !rest.trim().is_empty() {
        // The options let some comments pass.
        let strict = serde_json::from_str::<IgnoredAny>(rest);
        strict.map_err(|e| syntax(format!("it is not JSON without comments: {e}")))?;
    }
    if let Some(name) = root.object_value().as_ref().and_then(repeated) {
        return Err(Problem::new(Code::ConfigKeyDuplicate, format!("`{}`: `{name}` is given twice", path.display())));
    }
    Ok((mark, root))
}

/// The byte order mark of a file in UTF-8.
const MARK: &str = "\u{feff}";

/// The first key that is given twice, in the settings or in their `hooks`.
fn repeated(object: &CstObject) -> Option<String> {
    let mut seen = Vec::new();
    for property in object.properties() {
        let name = property.decoded_name()?;
        if seen.contains(&name) {
            return Some(name);
        }
        seen.push(name);
    }
    object.object_value("hooks").as_ref().and_then(repeated)
}

/// Hooks in a project that has them switched off would be no guard at all. What cannot be read the client ignores as well.
pub(crate) fn reject_switched_off(path: &Path, text: &str) -> Result<(), Problem> {
    let value = parse(path, text, Comments::Refused).ok().and_then(|(_, root)| root.to_serde_value());
    if value.as_ref().and_then(|value| value.get("disableAllHooks")) == Some(&Value::Bool(true)) {
        let message = format!("`{}` has `disableAllHooks: true`, so no hook would run", path.display());
        return Err(Problem::new(Code::ConfigValue, message));
    }
    Ok(())
}

/// Whether a file may hold hooks in the form that is read here.
pub(crate) fn holds_hooks(path: &Path) -> bool {
    path.extension().is_none_or(|end| end != "toml")
}

/// Whether a group of hooks runs for everything that happens.
pub(crate) fn takes_all(group: &CstObject) -> bool {
    group.properties().iter().all(|property| match property.decoded_name().as_deref() {
        Some("hooks") => true,
        Some("matcher") => property.to_serde_value().is_some_and(|matcher| matcher == "" || matcher == "*"),
        _ => false,
    })
}

/// The group that a hook stands in.
pub(crate) fn group_of(hook: &CstNode) -> Option<CstObject> {
    hook.ancestors().find_map(|node| node.as_object())
}

/// All hooks of an event's groups.
pub(crate) fn hooks_of(groups: &CstArray) -> Vec<CstNode> {
    let hooks = |group: &CstNode| group.as_object().and_then(|group| group.array_value("hooks"));
    groups.elements().iter().filter_map(hooks).flat_map(|hooks| hooks.elements()).collect()
}
