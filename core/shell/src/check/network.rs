//! Programs that fetch: what they send, and where they put what they get.

use phasegate_core::analysis::{Access, Verdict};

use super::command::Command;
use super::find::bounds::below;
use super::output::keeps;
use super::program_text;
use crate::field::{Bit, Field};
use crate::finding::Finding;
use crate::walk::Walk;

/// `curl`, `wget`: the file that an option names, the folder that one fills, and else the last name of an address. What the
/// server or a list names may be any.
pub(super) fn fetch(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let saves = command.name == "wget";
    let names = if saves { ["O", "output-document"] } else { ["o", "output"] };
    for file in command.values(&names).filter(|file| !matches!(file.known(), Some("-" | "/dev/null"))) {
        walk.touch(file, Access::Write);
        // `#1` stands for what braces or brackets of the address become.
        walk.unnamed |= file.start().contains('#');
    }
    let fills: &[&str] = if saves { &["P", "directory-prefix"] } else { &["output-dir"] };
    let folders: Vec<&Field> = command.values(fills).collect();
    folders.iter().for_each(|folder| walk.touch(&below(folder), Access::Write));
    let many = ["r", "recursive", "m", "mirror", "p", "page-requisites", "x", "force-directories", "i", "input-file"];
    let told = ["J", "remote-header-name", "K", "config", "content-disposition", "e", "execute"];
    walk.unnamed |= command.has(&told) || (saves && folders.is_empty() && command.has(&many));
    let asks = ["version", "V", "help", "h", "spider", "O", "output-document"];
    let by_address = if saves { !command.has(&asks) } else { command.has(&["O", "remote-name", "remote-name-all"]) };
    if by_address && folders.is_empty() {
        for address in command.scan.operands.iter().copied().chain(command.values(&["url"])) {
            match address.known().and_then(file_of) {
                Some(name) => walk.touch(&Field::text(name, address.span), Access::Write),
                None => walk.unnamed = true,
            }
        }
    }
    sent(walk, command);
    None
}

/// The last name of an address, where it is one of a file.
fn file_of(address: &str) -> Option<&str> {
    let path = address.split_once("://").map_or(address, |(_, rest)| rest);
    let (_, name) = path.split(['?', '#']).next()?.rsplit_once('/')?;
    (!name.is_empty() && !name.contains(['{', '['])).then_some(name)
}

/// Takes note of the files that options name, to send them or as a part of the request.
fn sent(walk: &mut Walk<'_>, command: &Command<'_>) {
    for given in &command.scan.options {
        let Some(value) = &given.value else { continue };
        let text = value.start();
        // Where the name of a file begins in the value.
        let file = match given.name.as_str() {
            "d" | "data" | "data-ascii" | "data-binary" | "json" | "H" | "header" | "proxy-header" => {
                text.starts_with('@').then_some(1)
            }
            "data-urlencode" => text.split_once('=').map_or(text, |(name, _)| name).find('@').map(|at| at + 1),
            "F" | "form" => text.find("=@").or_else(|| text.find("=<")).map(|at| at + 2),
            "T" | "upload-file" | "K" | "config" | "netrc-file" | "E" | "cert" | "key" => Some(0),
            "post-file" | "body-file" | "i" | "input-file" | "load-cookies" => Some(0),
            "b" | "cookie" => (!text.contains('=')).then_some(0),
            _ => None,
        };
        let Some(file) = file.map(|start| value.after(start)) else { continue };
        // `file;type=text/plain`
        let whole =
            file.known().and_then(|name| name.split([';', ',']).next()).map(|name| Field::text(name, file.span));
        let file = whole.unwrap_or(file);
        if file.known() != Some("-") {
            walk.touch(&file, Access::Read);
        }
    }
}

/// A program that sends its operands.
pub(super) fn known_operands(command: &Command<'_>) -> Option<Finding> {
    let bad = command.scan.operands.iter().find(|field| field.known().is_none())?;
    Some(Finding::new(Verdict::Send, "what is sent is made at run time", bad.span))
}

/// A program that sends what it reads from its standard input, and its operands and values.
pub(super) fn known_input(walk: &Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if walk.fed {
        return Some(Finding::new(Verdict::Send, "what it reads from its input is sent", command.span));
    }
    let values = command.scan.options.iter().filter_map(|given| given.value.as_ref());
    let bad = values.chain(command.scan.operands.iter().copied()).find(|field| field.known().is_none())?;
    Some(Finding::new(Verdict::Send, "what is sent is made at run time", bad.span))
}

/// A program that fetches operands, and values of options, that are addresses.
pub(super) fn local_operands(command: &Command<'_>) -> Option<Finding> {
    let asks = command.rule.network && matches!(command.name.split(' ').next(), Some("npm" | "pnpm" | "yarn"));
    let far = |field: &&Field| is_far(field) || (asks && is_shorthand(field));
    if let Some(far) = command.args.iter().find(far) {
        return Some(Finding::new(Verdict::Send, "what has an address is fetched", far.span));
    }
    let values = command.scan.options.iter().filter_map(|given| given.value.as_ref());
    let open = values.chain(command.scan.operands.iter().copied()).find(|field| {
        let mut bits = field.bits.iter().filter(|bit| !matches!(bit, Bit::Text(text) if text.is_empty()));
        bits.next().is_some_and(Bit::is_open)
    })?;
    Some(Finding::new(Verdict::Send, "a word that is made at run time may be an address", open.span))
}

/// Whether a word has an address, or the sign of another place that holds a repository.
fn is_far(field: &Field) -> bool {
    let places = ["git@", "git+", "git::", "github:", "github.com", "gh:", "gitlab:", "bitbucket:", "gist:", "oci:"];
    let far = |bit: &Bit| matches!(bit, Bit::Text(text) if text.contains("://"));
    field.bits.iter().any(far) || places.iter().any(|place| field.start().starts_with(place))
}

/// Whether a package's name names a repository of GitHub: `owner/name`, without a scope or a folder before it.
fn is_shorthand(field: &Field) -> bool {
    field
        .start()
        .split_once('/')
        .is_some_and(|(owner, _)| !owner.is_empty() && !owner.starts_with(['@', '.', '~', '-']))
}

/// Settings of ssh whose value is a command of this machine.
const SSH_COMMANDS: [&str; 3] = ["proxycommand", "localcommand", "knownhostscommand"];

/// `ssh -o`
pub(super) fn ssh(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    // What connects, and the settings that can name it: an unknown word may be any path of a copy, so no list of options has them.
    let mut found = command.runs_by(if command.name == "scp" { &["S", "D", "F"] } else { &[] });
    for setting in command.values(&["o"]) {
        let text = setting.start();
        let name = text.split(['=', ' ', '\t']).next().unwrap_or_default();
        let value = text.get(name.len()..).unwrap_or_default().trim_start_matches(['=', ' ', '\t']);
        if SSH_COMMANDS.contains(&name.to_ascii_lowercase().as_str()) {
            program_text::value_of(walk, &setting.after(text.len().saturating_sub(value.len())));
            found = Some(Finding::new(Verdict::Execute, "`-o` names a command that is run here", setting.span));
        }
    }
    found
}

/// `rsync`
pub(super) fn mirror(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    // The remote shell, which is `ssh` as a rule.
    for shell in command.values(&["e", "rsh"]).filter(|shell| !shell.start().starts_with("ssh")) {
        program_text::value_of(walk, shell);
    }
    let (target, sources) = command.scan.operands.split_last()?;
    // `HOST:PATH` is on another machine; so may be a word that is made at run time.
    let remote = |field: &&Field| {
        let host = field.start().split('/').next().unwrap_or_default();
        host.contains(':') || (host.is_empty() && field.known().is_none())
    };
    if command.scan.operands.iter().any(remote) {
        (walk.network, walk.own.network) = (true, true);
    }
    if command.scan.options.iter().any(|given| given.name.starts_with("del")) {
        walk.touch(target, Access::Remove);
    }
    if command.has(&["remove-source-files"]) {
        sources.iter().for_each(|source| walk.touch(source, Access::Remove));
    }
    walk.unnamed |= keeps(command);
    // Beside a batch it writes a script that applies it.
    for batch in command.values(&["write-batch", "only-write-batch"]) {
        let mut script = batch.clone();
        script.push_text(".sh");
        walk.touch(&script, Access::Write);
    }
    command.runs_by(&["daemon", "rsync-path", "M", "remote-option"])
}
