//! Programs that fetch: what they send, and where they put what they get.

use phasegate_core::calls::analysis::{Access, Verdict};

use super::command::Command;
use crate::check::files::output::keeps;
use crate::check::run::program_text;
use crate::expand::field::{Bit, Field};
use crate::finding::Finding;
use crate::walk::Walk;

/// `curl`
pub(super) fn curl(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    saved(walk, command, &["o", "output"], &["output-dir"], unnumbered);
    sent_by_curl(walk, command);
    if command.has(&["O", "remote-name", "remote-name-all"]) {
        let named = command.scan.operands.iter().copied().chain(command.values(&["url"]));
        fetched(walk, command, &named.collect::<Vec<_>>(), &["output-dir"]);
    }
    // A file of options can name any file; so can the server.
    walk.unnamed |= command.has(&["K", "config", "J", "remote-header-name"]);
    for given in &command.scan.options {
        let Some(value) = &given.value else { continue };
        let text = value.known();
        let bad = match given.name.as_str() {
            "X" | "request" => {
                let reads = |method: &str| matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS");
                (!text.is_some_and(reads)).then_some((Verdict::Send, "the method of the request is not one that reads"))
            }
            "o" | "output" => (!matches!(text, Some("-" | "/dev/null")))
                .then_some((Verdict::Write, "the answer is written to a file")),
            "w" | "write-out" => {
                let harmless = |format: &str| !format.contains("%output") && !format.starts_with('@');
                (!text.is_some_and(harmless)).then_some((Verdict::Write, "the format can write a file"))
            }
            "url" => (!text.is_some_and(is_fetched)).then_some((Verdict::Send, "the address may send data")),
            _ => {
                let harmless = |text: &str| !text.starts_with('@');
                (!text.is_some_and(harmless))
                    .then_some((Verdict::Send, "the request holds a value that is made at run time"))
            }
        };
        if let Some((verdict, because)) = bad {
            return Some(Finding::new(verdict, because, value.span));
        }
    }
    addresses(command)
}

/// A name with any text in place of each `#1`, which stands for what braces or brackets of the address become.
fn unnumbered(name: &Field) -> Field {
    let mut made = Field { bits: Vec::new(), ..name.clone() };
    for bit in &name.bits {
        let Bit::Text(text) = bit else {
            made.bits.push(bit.clone());
            continue;
        };
        let mut parts = text.split('#');
        made.push_text(parts.next().unwrap_or_default());
        for part in parts {
            let rest = part.trim_start_matches(|sign: char| sign.is_ascii_digit());
            if rest.len() == part.len() {
                made.push_text("#");
            } else {
                made.bits.push(Bit::Any);
            }
            made.push_text(rest);
        }
    }
    made
}

/// Takes note of the files that options of curl name, to send them or as a part of the request.
fn sent_by_curl(walk: &mut Walk<'_>, command: &Command<'_>) {
    for given in &command.scan.options {
        let Some(value) = &given.value else { continue };
        let text = value.start();
        let marked = |marks: &[char]| text.starts_with(marks).then_some(1);
        // Where the name of a file begins in the value.
        let file = match given.name.as_str() {
            "d" | "data" | "data-ascii" | "data-binary" | "json" | "H" | "header" | "proxy-header" => marked(&['@']),
            "data-urlencode" => text.split_once('=').map_or(text, |(name, _)| name).find('@').map(|at| at + 1),
            "F" | "form" => text.find("=@").or_else(|| text.find("=<")).map(|at| at + 2),
            "T" | "upload-file" | "K" | "config" | "netrc-file" | "E" | "cert" | "key" => Some(0),
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

/// Takes note of the files in which options of these names put what is fetched, below the folder of one of `folders`.
/// `read` tells how the program reads a name.
fn saved(walk: &mut Walk<'_>, command: &Command<'_>, names: &[&str], folders: &[&str], read: fn(&Field) -> Field) {
    let folder = command.values(folders).last().map(read);
    for file in command.values(names).filter(|value| !matches!(value.known(), Some("-" | "/dev/null"))) {
        walk.touch(&placed(folder.as_ref(), &read(file)), Access::Write);
    }
}

/// A path, seen from the folder, if there is one.
fn placed(folder: Option<&Field>, path: &Field) -> Field {
    folder.map_or_else(|| path.clone(), |folder| path.below(folder))
}

/// Takes note of the files that have the last names of addresses, or of the folder in which options of these names put them.
fn fetched(walk: &mut Walk<'_>, command: &Command<'_>, addresses: &[&Field], folders: &[&str]) {
    let folder = command.values(folders).last();
    for address in addresses {
        let path = address.known().map(|text| text.split_once("://").map_or(text, |(_, rest)| rest));
        let name = path.and_then(|path| path.split(['?', '#']).next()?.rsplit_once('/')).map(|(_, name)| name);
        match name.filter(|name| !name.is_empty() && !name.contains(['{', '['])) {
            Some(name) => walk.touch(&placed(folder, &Field::text(name, address.span)), Access::Write),
            None => match folder {
                Some(folder) => walk.touch(folder, Access::Write),
                None => walk.unnamed = true,
            },
        }
    }
}

fn addresses(command: &Command<'_>) -> Option<Finding> {
    let bad = command.scan.operands.iter().find(|field| !field.known().is_some_and(is_fetched))?;
    Some(Finding::new(Verdict::Send, "the address may send data", bad.span))
}

/// An address whose protocol only fetches.
fn is_fetched(address: &str) -> bool {
    match address.split_once("://") {
        Some((scheme, _)) => matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https" | "ftp" | "ftps" | "file"),
        None => true,
    }
}

/// `wget`
pub(super) fn wget(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    saved(walk, command, &["O", "output-document"], &[], Field::clone);
    for file in command.values(&["post-file", "body-file", "i", "input-file", "load-cookies"]) {
        walk.touch(file, Access::Read);
    }
    if command.has(&["version", "V", "help", "h"]) {
        return None;
    }
    let many = ["r", "recursive", "m", "mirror", "p", "page-requisites", "i", "input-file", "x", "force-directories"];
    if command.has(&many) || command.has(&["content-disposition", "e", "execute", "config"]) {
        let named = command.values(&["P", "directory-prefix"]).last().filter(|_| command.has(&many)).cloned();
        walk.unnamed |= named.is_none();
        named.iter().for_each(|folder| walk.touch(folder, Access::Write));
    } else if !command.has(&["O", "output-document", "spider"]) {
        fetched(walk, command, &command.scan.operands, &["P", "directory-prefix"]);
    }
    let prints =
        command.values(&["O", "output-document"]).any(|value| matches!(value.known(), Some("-" | "/dev/null")));
    let all = command.values(&["O", "output-document"]).all(|value| matches!(value.known(), Some("-" | "/dev/null")));
    let saves = !prints || !all;
    if saves && !command.has(&["spider"]) {
        return Some(Finding::new(Verdict::Write, "`wget` saves what it fetches", command.span));
    }
    if let Some(value) = command.values(&["header", "U", "user-agent"]).find(|value| value.known().is_none()) {
        return Some(Finding::new(Verdict::Send, "the request holds a value that is made at run time", value.span));
    }
    addresses(command)
}

/// `http`
pub(super) fn httpie(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    // `@file`, `name@file`, `name=@file`, `name:=@file`
    for item in command.scan.operands.iter().filter(|item| !item.start().contains("://")) {
        if let Some(at) = item.start().find('@') {
            walk.touch(&item.after(at + 1), Access::Read);
        }
    }
    None
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

/// A program that takes a file of code in place of a name (`brew info ./x.rb`).
pub(super) fn names_only(command: &Command<'_>) -> Option<Finding> {
    let path = |text: &str| text.starts_with(['.', '/', '~']) || text.contains("://") || text.ends_with(".rb");
    let code = |field: &&&Field| {
        let text = field.bits.iter().any(|bit| matches!(bit, Bit::Text(text) if path(text)));
        text || matches!(field.bits.first(), Some(Bit::Any | Bit::Home | Bit::Here))
    };
    let file = command.scan.operands.iter().find(code)?;
    Some(Finding::new(Verdict::Execute, "what names a file is run", file.span))
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
        (walk.network, walk.asking) = (true, true);
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
