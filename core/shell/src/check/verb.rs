//! Command lines of clouds, whose operands hold a verb.

use phasegate_core::analysis::Verdict;

use super::command::Command;
use crate::arguments::lists;
use crate::finding::Finding;

/// Verbs that read, whatever they are about.
const READS: &str = "list ls describe info version help show get-value get-iam-policy get-caller-identity whoami";
/// Beginnings of verbs that read. What `get-` begins may write what it gets into a file.
const READ_STARTS: [&str; 5] = ["list-", "describe-", "head-", "lookup-", "search-"];
/// Beginnings of verbs that certainly write, so that a later word cannot excuse them.
const WRITES: &str = "create delete update set add remove deploy apply enable disable start stop reset ssh scp login logout \
    revoke activate import export submit cancel resize restart patch replace rollback move copy cp mv rm \
    sync mb rb put run- terminate reboot modify attach detach associate disassociate invoke publish send \
    upload download register deregister tag- untag install init purge restore rotate abandon promote \
    drain execute call build connect proxy write clone get";

/// `gcloud`, `aws`, `az`: it reads where the first verb does, and every option before it is known.
pub(super) fn check(command: &Command<'_>) -> Option<Finding> {
    if let Some(file) =
        command.args.iter().find(|field| field.start().contains("file://") || field.start().contains("fileb://"))
    {
        return Some(Finding::new(Verdict::Send, "what the file holds is sent", file.span));
    }
    for (number, field) in command.scan.operands.iter().enumerate() {
        let Some(word) = field.known() else { return command.doubt(field, "a word") };
        if READS.split(' ').any(|verb| verb == word) || READ_STARTS.iter().any(|start| word.starts_with(start)) {
            let before = || command.scan.options.iter().filter(|given| given.span.0 < field.span.0);
            let reads = number > 0 && before().all(|given| lists(command.rule, &given.name));
            return (!reads)
                .then(|| Finding::new(Verdict::Unknown, "the verb may be the value of an option", field.span));
        }
        if WRITES.split_ascii_whitespace().any(|start| word.starts_with(start)) {
            return Some(Finding::new(Verdict::Write, format!("`{word}` is not a verb that reads"), field.span));
        }
    }
    let because = format!("`{}` without a verb that is known to read", command.name);
    (!command.has(&["version", "help"])).then(|| Finding::new(Verdict::Unknown, because, command.span))
}
