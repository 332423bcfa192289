//! The packs of rules that `init` writes into a config.

use std::path::Path;

use crate::command::policies::rules::find_pack;
use crate::output::Failure;

/// The text of a config with these packs of rules.
pub(super) fn with_packs(path: &Path, text: String, packs: &[String]) -> Result<String, Failure> {
    for name in packs {
        find_pack(name)?;
    }
    let missing: Vec<&str> = packs.iter().map(String::as_str).filter(|name| !names(&text, name)).collect();
    if missing.is_empty() {
        return Ok(text);
    }
    let is_json = path.extension().is_some_and(|end| end == "json");
    let edited = if is_json { add_json(&text, &missing) } else { add_yaml(&text, &missing) };
    edited.ok_or_else(|| {
        Failure::new(format!("`{}` says something of rules already", path.display()))
            .with_help(format!("add under `rules`, in the list `packs`: {}", missing.join(", ")))
    })
}

/// Whether a line that is no comment has the name as a word.
fn names(text: &str, name: &str) -> bool {
    let has = |line: &str| line.split([' ', ',', '[', ']', '"', '\'', '{', '}']).any(|word| word == name);
    text.lines()
        .map(|line| line.split(" #").next().unwrap_or(line))
        .any(|line| !line.trim_start().starts_with('#') && has(line))
}

/// `None`: the text says something of rules.
fn add_yaml(text: &str, packs: &[&str]) -> Option<String> {
    if text.lines().any(|line| line.starts_with("rules:") || line.starts_with("\"rules\"")) {
        return None;
    }
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    Some(format!("{text}{end}rules:\n  packs: [{}]\n", packs.join(", ")))
}

fn add_json(text: &str, packs: &[&str]) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let fields = value.as_object().filter(|fields| !fields.contains_key("rules"))?;
    let (open, rest) = text.split_once('{')?;
    let comma = if fields.is_empty() { "" } else { "," };
    let quoted = packs.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
    Some(format!("{open}{{\n  \"rules\": {{\"packs\": [{quoted}]}}{comma}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(name: &str, text: &str) -> Option<String> {
        with_packs(Path::new(name), text.into(), &["no-force-push".to_string()]).ok()
    }

    #[test]
    fn packs_are_added_once_where_nothing_is_said_of_rules() {
        let yaml = "mode: warn\nrules:\n  packs: [no-force-push]\n";
        assert_eq!(added("c.yaml", "mode: warn\n").as_deref(), Some(yaml));
        assert_eq!(added("c.yaml", yaml).as_deref(), Some(yaml));
        assert_eq!(added("c.yaml", "rules: {default: deny}\n"), None);
        assert!(added("c.yaml", "# rules: no-force-push\n").unwrap().ends_with("packs: [no-force-push]\n"));
        let json = added("c.json", "{\"mode\": \"warn\"}").unwrap();
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(value["rules"]["packs"][0], "no-force-push");
        assert_eq!(added("c.json", &json), Some(json.clone()));
    }

    #[test]
    fn a_pack_that_does_not_exist_is_refused() {
        assert!(with_packs(Path::new("c.yaml"), String::new(), &["no-force-posh".to_string()]).is_err());
    }
}
