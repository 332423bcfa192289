//! Builtin commands that decide what the rest of a line means: which program a name runs, and how the line ends.

use phasegate_core::calls::analysis::Verdict;

use crate::expand::field::Field;
use crate::walk::Walk;

/// Builtins that change nothing of it.
const SAFE: &str = ": [ cd dirs echo false help popd printf pushd pwd test times true type";
/// All other builtins of bash.
const OTHERS: &str = ". alias bg bind break builtin caller command compgen complete compopt continue declare disown \
    enable eval exec exit export fc fg getopts hash history jobs kill let local logout mapfile read readarray readonly \
    return set shift shopt source suspend trap typeset ulimit umask unalias unset wait";
/// The options of `set` that cannot turn a failure into a success.
const STRICT: [&str; 4] = ["errexit", "nounset", "pipefail", "xtrace"];

impl Walk<'_> {
    /// Takes note of a command of the shell itself after which the exit status of the line proves nothing, and of
    /// `set -o pipefail`.
    pub(crate) fn builtin(&mut self, fields: &[Field], verdict: Verdict) {
        let Some((first, arguments)) = fields.split_first() else {
            self.unproven = true;
            return;
        };
        let Some(name) = first.known() else { return };
        let is_option = |field: &Field| field.known().is_none_or(|word| word.starts_with('-') && word.contains('p'));
        self.renames |= name == "hash" && arguments.iter().any(is_option);
        let among = |list: &str| list.split_ascii_whitespace().any(|builtin| builtin == name);
        if name == "set" && arguments.iter().all(is_strict) {
            let sets = arguments.iter().any(|field| field.known() == Some("pipefail"));
            self.scope.pipefail |= sets && self.conditional == 0;
        } else if among(OTHERS) || (among(SAFE) && (verdict != Verdict::Read || assigns(name, arguments))) {
            self.unproven = true;
        }
    }
}

/// Whether the shell itself has a command of this name.
pub(super) fn is_builtin(name: &str) -> bool {
    [SAFE, OTHERS].iter().any(|list| list.split_ascii_whitespace().any(|builtin| builtin == name))
}

fn is_strict(field: &Field) -> bool {
    let flags =
        |word: &str| word.strip_prefix('-').is_some_and(|flags| flags.bytes().all(|flag| b"euxo".contains(&flag)));
    field.known().is_some_and(|word| flags(word) || STRICT.contains(&word))
}

/// `printf -v NAME`
fn assigns(name: &str, arguments: &[Field]) -> bool {
    name == "printf" && arguments.first().is_none_or(|field| field.start().starts_with('-') || field.known().is_none())
}
