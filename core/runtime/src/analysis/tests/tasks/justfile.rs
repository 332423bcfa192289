//! The recipes of a justfile.

use super::task::{Said, Task};

/// Settings that leave what recipes do as it is.
const SETTINGS: [&str; 4] = ["quiet", "positional-arguments", "fallback", "ignore-comments"];
/// Attributes of the same kind.
const ATTRIBUTES: [&str; 4] = ["private", "group", "doc", "default"];

/// The recipes.
pub(super) fn read(text: &str) -> Said {
    let mut said = Said::default();
    let (mut name, mut marked) = (String::new(), false);
    for line in text.replace("\\\n", " ").lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with([' ', '\t']) {
            let task = said.all.entry(name.clone()).or_default();
            let text = line.trim_start().trim_start_matches('@');
            task.unsure |= text.starts_with(['-', '!']);
            task.add(text.trim_start_matches(['-', '!']));
            continue;
        }
        if let Some(attribute) = line.strip_prefix('[') {
            marked |= !ATTRIBUTES.iter().any(|known| attribute.starts_with(known));
            continue;
        }
        let first = line.split([' ', ':']).next().unwrap_or_default();
        if let Some(setting) = line.strip_prefix("set ") {
            said.unsure |= !SETTINGS.iter().any(|known| setting.starts_with(known));
        } else if ["import", "import?", "mod", "mod?", "export", "unexport"].contains(&first) {
            said.unsure = true;
        } else if !line.starts_with('#') && (!line.contains(":=") || line.find(':') < line.find(":=")) {
            let (head, others) = line.trim_start_matches('@').split_once(':').unwrap_or((line, ""));
            name = head.split_whitespace().next().unwrap_or_default().to_owned();
            let others = others.split('#').next().unwrap_or_default().split_whitespace().filter(|word| *word != "&&");
            let others = others.map(str::to_owned).collect();
            // One that is given words runs otherwise.
            let unsure = line.contains('(') || marked || said.all.contains_key(&name);
            said.first.get_or_insert_with(|| name.clone());
            said.all.insert(name.clone(), Task { others, unsure, ..Task::default() });
            marked = false;
        }
    }
    said
}
