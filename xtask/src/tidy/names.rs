//! Files and modules have the names that the field uses. These words were a language of this project alone.

use super::finding::Finding;
use super::tree::{TextFile, Tree};

/// A word that names no file and no module.
struct Word {
    /// The word, or words with `_` between them.
    word: &'static str,
    /// What to say.
    instead: &'static str,
}

const fn word(word: &'static str, instead: &'static str) -> Word {
    Word { word, instead }
}

const WORDS: &[Word] = &[
    word("resident", "say `session_cache`"),
    word("rooms", "say `project_router`"),
    word("desk", "say `dispatcher`"),
    word("keeper", "say `batch_processor`"),
    word("errand", "say `task`"),
    word("hand_in", "say `submit`"),
    word("slot", "say `oneshot`"),
    word("awaited", "say `oneshot`"),
    word("lease", "say `lock_linger`"),
    word("seal", "say `mtime_fingerprint`"),
    word("witness", "say `integrity`"),
    word("anchor", "say `checkpoint`"),
    word("stance", "say `failure_mode`"),
    word("ground", "say `protected_paths`"),
    word("place", "name what is there: `protected_paths`, `project`, `scratch`"),
    word("below", "say `descendants`"),
    word("watched", "say `directory_snapshot`"),
    word("reading", "say `analysis`"),
    word("spoken", "say `slash_command`"),
    word("commander", "say `attribution`"),
    word("joining", "say `lineage` or `inheritance`"),
    word("origin", "say `lineage`"),
    word("begun", "say `lineage`"),
    word("elsewhere", "say `other_projects`"),
    word("wiring", "say `hook_installation`"),
    word("told", "say `reported`"),
    word("shortened", "say `redacted`"),
    word("slip", "say `typo`"),
    word("nearest", "say `suggestion`"),
    word("way", "say `transition`"),
    word("way_back", "say `rollback`"),
    word("way_out", "say `remedy`"),
    word("opinion", "say `run_verdict`"),
    word("carry_out", "say `apply`"),
    word("seed", "say `compat`"),
    word("several", "say `multiplexed`"),
    word("alone", "say `local`"),
    word("gather", "say `fan_out`"),
    word("hello", "say `initialize`"),
    word("down", "say `client_to_server`"),
    word("up", "say `server_to_client`"),
    word("seat", "say `relay_endpoint`"),
    word("outbox", "say `sse_replay`"),
    word("tags", "say `id_rewriting`"),
    word("marks", "say `host_call_ids`"),
    word("lives", "say `recorded_sessions`"),
    word("double", "say `fake`"),
    word("kept", "say `snapshot`"),
    word("meant", "say whose: `target`"),
    word("said", "say what is said: `agent_message`, `made_lines`"),
    word("shown", "say what is shown: `pending_content`"),
    word("asked", "say what: `unfinished_calls`"),
    word("hindered", "say `deadlock`"),
    word("ruled", "say `objection`"),
    word("held", "say what holds it: `confined_line`"),
    word("awake", "say `live`"),
    word("seen", "say what was seen: `guarded_projects`"),
    word("given", "say what: `input`"),
    word("beside", "say what is beside: `made_words`"),
];

/// No source file is named by one of the words; a file of a module is its module.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.rust().filter_map(named).collect()
}

fn named(file: &TextFile) -> Option<Finding> {
    let stem = file.path.rsplit('/').next()?.strip_suffix(".rs")?;
    let word = WORDS.iter().find(|word| format!("_{stem}_").contains(&format!("_{}_", word.word)))?;
    let what = format!("the module `{stem}` is named by `{}`, a word of no field", word.word);
    Some(Finding { path: file.path.clone(), line: 0, what, instead: word.instead })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_private_word_is_found_and_a_word_that_holds_it_is_not() {
        let found = check(&tree(&[
            ("a/src/desk.rs", ""),
            ("a/src/way_back.rs", ""),
            ("a/tests/it/old_rooms.rs", ""),
            ("a/src/update.rs", ""),
            ("a/src/desktop.rs", ""),
            ("docs/desk.md", ""),
        ]));
        let found: Vec<_> = found.iter().map(|finding| (finding.path.as_str(), finding.instead)).collect();
        let expected = [
            ("a/src/desk.rs", "say `dispatcher`"),
            ("a/src/way_back.rs", "say `transition`"),
            ("a/tests/it/old_rooms.rs", "say `project_router`"),
        ];
        assert_eq!(found, expected);
    }
}
