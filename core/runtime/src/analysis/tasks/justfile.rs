//! The recipes of a justfile.

use std::collections::BTreeMap;

use super::task::Task;

/// Settings that leave what recipes do as it is.
const SETTINGS: [&str; 4] = ["quiet", "positional-arguments", "fallback", "ignore-comments"];
/// Attributes of the same kind.
const ATTRIBUTES: [&str; 4] = ["private", "group", "doc", "default"];

/// The recipes by name; `None`: others are taken from elsewhere, or something changes how all of them run.
pub(super) fn read(text: &str) -> Option<BTreeMap<String, Task>> {
    let mut all: BTreeMap<String, Task> = BTreeMap::new();
    let (mut name, mut marked) = (None, false);
    for line in text.replace("\\\n", " ").lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with([' ', '\t']) {
            let task = name.as_ref().and_then(|name| all.get_mut(name))?;
            let text = line.trim_start().trim_start_matches('@');
            let readable = !text.starts_with(['-', '!']) && !text.starts_with("#!") && !text.contains("{{");
            match &mut task.lines {
                Some(lines) if readable => lines.push(text.to_owned()),
                lines => *lines = None,
            }
            continue;
        }
        if line.starts_with('#') {
            continue;
        }
        if let Some(attribute) = line.strip_prefix('[') {
            marked |= !ATTRIBUTES.iter().any(|known| attribute.starts_with(known));
            continue;
        }
        let first = line.split([' ', ':']).next()?;
        if let Some(setting) = line.strip_prefix("set ") {
            SETTINGS.iter().any(|known| setting.starts_with(known)).then_some(())?;
        } else if ["import", "import?", "mod", "mod?", "export", "unexport"].contains(&first) {
            return None;
        } else if !line.contains(":=") || line.find(':') < line.find(":=") {
            let (head, others) = line.trim_start_matches('@').split_once(':')?;
            let own = head.split_whitespace().next()?.to_owned();
            let others = others.split('#').next()?.split_whitespace().filter(|word| *word != "&&");
            // One that is given words runs otherwise.
            let plain = !line.contains('(') && !marked && !all.contains_key(&own);
            let others = others.map(str::to_owned).collect();
            all.insert(own.clone(), Task { lines: plain.then(Vec::new), others });
            (name, marked) = (Some(own), false);
        }
    }
    Some(all)
}
