//! Commands of `npm`, which takes the beginning of a name for the one that begins so.

/// The commands, and the names that stand for them, as npm 11 has them.
const COMMANDS: &str = "access add-user adduser audit author bugs cache ci cit clean-install clean-install-test completion \
    config create ddp dedupe deprecate diff dist-tag dist-tags docs doctor edit exec explain explore find find-dupes fund get \
    help help-search home hook info init innit install install-ci-test install-clean install-test issues link list ll login \
    logout ls org outdated owner pack ping pkg prefix profile prune publish query rebuild remove repo restart rm root run \
    run-script sbom search set show shrinkwrap stage star stars start stop team test token trust undeprecate uninstall unlink \
    unpublish unstar update upgrade version view whoami why";

/// The command of `npm` that a word means.
pub(crate) fn meant(word: &str) -> &str {
    let mut meant = COMMANDS.split_ascii_whitespace().filter(|command| command.starts_with(word));
    let first = meant.next().filter(|first| *first != word);
    match (first, meant.next()) {
        (Some(only), None) => only,
        _ => word,
    }
}
