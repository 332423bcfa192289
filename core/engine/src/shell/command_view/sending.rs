//! Code in the words of a command that may talk to another machine.

use crate::calls::analysis::{SimpleCommand, Verdict, Word};

/// Modules, functions and programs that do, as words of code.
const NAMES: [&str; 30] = [
    "aiohttp",
    "axios",
    "boto3",
    "create_connection",
    "curl",
    "fetch",
    "ftp",
    "ftplib",
    "http",
    "https",
    "httpx",
    "nc",
    "ncat",
    "netcat",
    "paramiko",
    "requests",
    "rsync",
    "scp",
    "sftp",
    "smtplib",
    "socket",
    "ssh",
    "telnetlib",
    "urllib",
    "urllib2",
    "urllib3",
    "urlopen",
    "websocket",
    "websockets",
    "wget",
];

/// Whether a word of the command is code that names one of them, or the code stands in the line without being a word.
pub(super) fn may_send(command: &SimpleCommand) -> bool {
    if command.verdict == Verdict::Write {
        return command.words.iter().skip(1).any(|word| has_shell(word) && is_code_that_sends(word));
    }
    let fed = || command.redirections.iter().any(|(operator, _)| operator.trim_start_matches('0').starts_with("<<"));
    command.words.iter().skip(1).any(is_code_that_sends) || (interprets(command) && fed())
}

/// Whether a word runs a line of the shell, in a client of a database.
fn has_shell(word: &Word) -> bool {
    matches!(word, Word::Known(text) if [".shell ", ".system ", "\\!"].iter().any(|shell| text.contains(shell)))
}

fn is_code_that_sends(word: &Word) -> bool {
    let Word::Known(text) = word else { return false };
    let mut names = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    text.contains(['(', ' ']) && names.any(|name| NAMES.contains(&name))
}

fn interprets(command: &SimpleCommand) -> bool {
    let Some(Word::Known(program)) = command.words.first() else { return false };
    program.rsplit('/').next().is_some_and(|name| name.starts_with("python") || name.starts_with("pypy"))
}
