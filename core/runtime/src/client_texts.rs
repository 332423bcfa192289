//! Texts that have a client start something: the head of a skill, an agent or a command may name hooks and servers, which the
//! client starts outside of every call once it loads the text. They are known by their content, as settings are (rules 4.12).

use std::collections::BTreeMap;
use std::path::Path;

use phasegate_store::digest::sha256_hex;

use crate::bounds::{self, MAX_SETTINGS_BYTES};
use crate::client_settings::BELOW_ROOT;
use crate::modules::files;
use crate::platforms::PlatformPlaces;

/// What stands before and behind the head of a text.
const FENCE: &str = "---";
/// How the names of the user's texts begin.
const BELOW_HOME: &str = "~/";

/// The texts whose head says more than a client only shows or asks the guard about, by their names, each with the digest of
/// that head. `from` is the folder that the client was started in.
pub(crate) fn definitions(
    platforms: &PlatformPlaces,
    home: &Path,
    root: &Path,
    from: &Path,
) -> BTreeMap<String, String> {
    let folders = || from.ancestors().take_while(|folder| folder.starts_with(root) && *folder != root).chain([root]);
    let places = platforms.text_folders.iter().flat_map(|name| match name.strip_prefix(BELOW_HOME) {
        Some(below) => vec![(home, BELOW_HOME, home.join(below))],
        None => folders().map(|folder| (root, BELOW_ROOT, folder.join(name))).collect(),
    });
    let mut found = BTreeMap::new();
    for (top, begin, place) in places {
        let texts = files(&place).0.into_iter().filter(|path| path.extension().is_some_and(|end| end == "md"));
        for path in texts {
            // What cannot be read may say anything.
            let text = bounds::bytes(&path, MAX_SETTINGS_BYTES).unwrap_or_else(|_| FENCE.into());
            let Some(head) = head(&String::from_utf8_lossy(&text), &platforms.text_keys) else { continue };
            let name = format!("{begin}{}", path.strip_prefix(top).unwrap_or(&path).display());
            found.insert(name, sha256_hex(head.as_bytes()));
        }
    }
    found
}

/// The head of a text, if it says anything but these keys. A line that is not surely one of them counts.
fn head(text: &str, known: &[String]) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let rest = text.trim_start_matches('\u{feff}').trim_start().strip_prefix(FENCE)?;
    let head = rest.split_once(&format!("\n{FENCE}")).map_or(rest, |(head, _)| head);
    let is_break = |sign: char| matches!(sign, '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut is_known = !head.contains(is_break);
    let mut within = false;
    for line in head.lines().map(str::trim_end).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let own = line.split_once(':').is_some_and(|(key, _)| known.iter().any(|known| known == key));
        within |= own;
        is_known &= own || within && line.starts_with([' ', '\t', '-']);
    }
    (!is_known).then(|| head.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_counts_that_says_more_than_known_keys() {
        let known = ["name".to_owned(), "description".to_owned(), "tools".to_owned()];
        for text in [
            "",
            "no head\n---\nhooks:\n---\n",
            "---\nname: a\ndescription: >\n  hooks: are not set here\n\n# hooks:\ntools:\n- Bash\n---\nhooks: x\n",
            "\u{feff}---\r\nname: a\r\n---\r\n",
        ] {
            assert_eq!(head(text, &known), None, "{text}");
        }
        for text in [
            "---\nname: a\nhooks:\n  PreToolUse: []\n---\n",
            "---\n name: a\n hooks: {}\n---\n",
            "---\n{name: a, hooks: {}}\n---\n",
            "---\n\"hooks\": {}\n---\n",
            "---\n\"\\x68ooks\": {}\n---\n",
            "---\n? hooks\n: {}\n---\n",
            "---\n<<: *a\n---\n",
            "---\nname: a\rhooks: {}\n---\n",
            "---\nname: a\u{2028}hooks: {}\n---\n",
            "---\nname : a\n---\n",
            "---\nhooks: {}\n",
            "\n\n---\nhooks: {}\n---\n",
        ] {
            assert!(head(text, &known).is_some(), "{text}");
        }
    }
}
