//! Command lines whose operands hold a verb.

use phasegate_core::calls::analysis::Verdict;

use super::command::Command;
use crate::arguments::same;
use crate::expand::field::Field;
use crate::finding::Finding;

/// Verbs that read.
const READS: &str = "list ls describe get show info version help search read get-value get-iam-policy lookup tail print-access-token \
    print-identity-token whoami get-credentials-info list-defaults head scan query history";
/// Beginnings of verbs that read.
const READ_STARTS: [&str; 9] =
    ["list-", "describe-", "get-", "head-", "lookup-", "search-", "batch-get-", "filter-", "show-"];
/// Verbs that start like verbs that read and write all the same.
const WRITES_ALL_THE_SAME: &str = "get-object get-object-torrent get-sdk get-export get-credentials get-job-output get-thing-shadow \
    get-snapshot-block get-raw-message-content get-media get-media-for-fragment-list get-clip get-package-version-asset \
    get-configuration get-hosted-configuration-version get-latest-configuration get-dicom-instance get-image-frame \
    get-image-set-metadata get-work-unit-results get-map-glyphs get-map-sprites get-map-style-descriptor get-map-tile get-glyphs \
    get-sprites get-static-map get-style-descriptor get-tile get-read-set get-reference get-chunk get-object-metadata";

/// `gcloud`, `aws`, `az`
pub(super) fn verb(command: &Command<'_>) -> Option<Finding> {
    let options_known = |before: u32| {
        command
            .scan
            .options
            .iter()
            .filter(|given| given.span.0 < before)
            .all(|given| command.rule.options.split_ascii_whitespace().any(|option| same(option, &given.name)))
    };
    let file = |field: &&Field| field.start().contains("file://") || field.start().contains("fileb://");
    if let Some(field) = command.args.iter().find(file) {
        return Some(Finding::new(Verdict::Send, "what the file holds is sent", field.span));
    }
    if command.scan.operands.is_empty() && command.has(&["version", "help", "V", "h", "v"]) {
        return None;
    }
    for (number, field) in command.scan.operands.iter().enumerate() {
        let Some(word) = field.known() else { return command.doubt(field, "a word") };
        let reads = READS.split_ascii_whitespace().any(|verb| verb == word)
            || READ_STARTS.iter().any(|start| word.starts_with(start));
        if !reads {
            if writes(word) {
                return Some(Finding::new(Verdict::Write, format!("`{word}` is not a verb that reads"), field.span));
            }
            continue;
        }
        if number == 0 && !matches!(word, "version" | "help" | "info") || !options_known(field.span.0) {
            break;
        }
        let fetches =
            word == "get" && number > 0 && command.scan.operands.iter().any(|field| field.known() == Some("emr"));
        if fetches || WRITES_ALL_THE_SAME.split_ascii_whitespace().any(|verb| verb == word) {
            return Some(Finding::new(Verdict::Write, format!("`{word}` writes a file"), field.span));
        }
        return None;
    }
    Some(Finding::new(
        Verdict::Unknown,
        format!("`{}` without a verb that is known to read", command.name),
        command.span,
    ))
}

/// Beginnings of verbs that certainly write, so that a later word cannot excuse them.
const WRITES: &str = "create delete update set add remove deploy apply enable disable start stop reset ssh scp login logout \
    revoke activate import export submit cancel resize restart patch replace rollback move copy cp mv rm \
    sync mb rb put run- terminate reboot modify attach detach associate disassociate invoke publish send \
    upload download register deregister tag- untag install init purge restore rotate abandon promote \
    drain execute call build connect proxy write clone";

fn writes(word: &str) -> bool {
    WRITES.split_ascii_whitespace().any(|start| word.starts_with(start))
}

/// `sysctl`, `ip`
pub(super) fn setting(command: &Command<'_>) -> Option<Finding> {
    let operands = &command.scan.operands;
    if command.name == "sysctl" {
        let sets = operands.iter().find(|field| field.known().is_none_or(|word| word.contains('=')))?;
        return Some(Finding::new(Verdict::Write, "`sysctl` sets what is given a value", sets.span));
    }
    if command.name.starts_with("nft") {
        let ends = |word: &str| word.contains([';', '\n', '{']);
        let more = operands.iter().find(|field| field.known().is_none_or(ends))?;
        return Some(Finding::new(Verdict::Write, "a further command may follow", more.span));
    }
    let verb = operands.get(1)?;
    let reads = verb.known().is_some_and(|verb| matches!(verb, "show" | "list" | "ls" | "lst" | "sh" | "get" | "help"));
    (!reads).then(|| Finding::new(Verdict::Write, "the command is not one that shows", verb.span))
}
