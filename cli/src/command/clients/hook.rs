//! `phasegate hook PLATFORM`: one message in, one reply out.
//!
//! Nothing but the reply goes to standard output. Whatever happens, the answer is one the platform understands; only a
//! platform that is not known gets a plain exit status 2, which is a denial to those that have one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use phasegate_adapter::{Adapter, Frame, Output, Problem, Reply};
use phasegate_runtime::Locations;
use phasegate_runtime::deadline::{answer_within, limit_from_environment};
use phasegate_runtime::driver::hook::{Hook, MAX_FRAME_BYTES};
use phasegate_runtime::driver::open_frame::Opened;

use crate::exit::{CONFIRMED, Exit};
use crate::logging;
use crate::shell_probe::SHELL_PROBE;

/// The arguments of `phasegate hook`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The platform, as `phasegate adapters` lists it
    pub platform: String,
    /// Also write audit events to this file, besides `audit_log` in a config; relative to the project
    #[arg(long, value_name = "PATH")]
    pub audit_log: Option<PathBuf>,
    /// Exit with 10, not 0, if nothing is denied, so that a shell can tell an answer from a program that did nothing
    #[arg(long)]
    pub confirm: bool,
}

/// The platform, if these are the arguments of a hook; empty if none is named. Asking for help is not a hook.
pub fn platform(args: &[OsString]) -> Option<String> {
    let mut given = args.iter().skip(1);
    if given.next()? != "hook" {
        return None;
    }
    let platform = given.next().map(|text| text.to_string_lossy().into_owned()).unwrap_or_default();
    (platform != "--help" && platform != "-h").then_some(platform)
}

/// The file that the arguments of a hook name for audit events.
pub fn audit_log(args: &[OsString]) -> Option<PathBuf> {
    let mut given = args.iter();
    let joined = given.clone().find_map(|text| text.to_str()?.strip_prefix("--audit-log=").map(PathBuf::from));
    given.by_ref().find(|text| *text == "--audit-log");
    given.next().map(PathBuf::from).or(joined).filter(|path| !path.as_os_str().is_empty())
}

/// Whether the arguments of a hook ask it to confirm.
pub fn confirms(args: &[OsString]) -> bool {
    args.iter().any(|text| text == "--confirm")
}

/// Reads the message from standard input, answers it and ends the process.
pub fn run(platform: &str, audit_log: Option<PathBuf>, confirm: bool) -> ExitCode {
    logging::start(logging::Quiet::Yes);
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    let adapters = phasegate_adapters::all();
    let Some(adapter) = adapters.iter().copied().find(|adapter| adapter.id() == platform) else {
        let known: Vec<_> = adapters.iter().map(|adapter| adapter.id()).collect();
        send(
            failed(&format!("phasegate knows no platform `{platform}`; this build has: {}", known.join(", "))),
            confirm,
        );
    };
    match Locations::from_environment() {
        Ok(locations) => {
            let (environment, limit) = (environment(), limit_from_environment());
            let hook = Hook { locations, environment, audit_log, shell_probe: SHELL_PROBE, limit, ends: true };
            hook.answer(adapter, adapters, std::io::stdin(), move |reply| send(reply, confirm));
        }
        Err(problem) => refuse(adapter, &problem, confirm),
    }
    Exit::Failed.into()
}

/// The environment of this process, as frames carry it.
pub(crate) fn environment() -> BTreeMap<String, String> {
    let variables = std::env::vars_os();
    variables
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().unwrap_or_default())))
        .collect()
}

/// Refuses the message, whatever it is, in the form of its event: to some, a denial would do harm.
fn refuse(adapter: &'static dyn Adapter, problem: &Problem, confirm: bool) {
    let refuse = || {
        let mut bytes = Vec::new();
        // A message that cannot be read is refused as far as it came.
        let _ = std::io::stdin().take(MAX_FRAME_BYTES).read_to_end(&mut bytes);
        refused(adapter, &Opened::new(Frame::new(bytes)), problem)
    };
    let late = move |problem: Problem| refused(adapter, &Opened::new(Frame::default()), &problem);
    answer_within(limit_from_environment(), refuse, late, move |reply| send(reply, confirm));
}

/// The denial of a frame, in the form of its event as far as that can be read.
fn refused(adapter: &dyn Adapter, opened: &Opened, problem: &Problem) -> Reply {
    let _ = opened.open(adapter);
    adapter.codec().refuse(opened.received(), problem)
}

/// Sends the reply and ends the process, from whichever thread has it.
fn send(reply: Reply, confirm: bool) -> ! {
    let reply = reply.into_output();
    let written = std::io::stdout().write_all(&reply.stdout).and_then(|()| std::io::stdout().flush());
    let _ = std::io::stderr().write_all(&reply.stderr);
    let status = if confirm && reply.status == 0 { CONFIRMED } else { reply.status };
    std::process::exit(if written.is_ok() { i32::from(status) } else { 2 })
}

fn failed(text: &str) -> Reply {
    Reply::Output(Output { stdout: Vec::new(), stderr: format!("{text}\n").into_bytes(), status: 2 })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(args: &[&str]) -> Option<String> {
        platform(&args.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn odd_arguments_are_still_a_hook() {
        assert_eq!(named(&["phasegate", "hook", "x", "--no-such", "\u{0}"]), Some("x".into()));
        assert_eq!(named(&["phasegate", "hook"]), Some(String::new()));
        assert_eq!(named(&["phasegate", "hook", "--help"]), None);
        assert_eq!(named(&["phasegate", "check", "hook"]), None);
        assert_eq!(named(&["phasegate"]), None);
    }

    #[test]
    fn a_hook_confirms_where_it_is_asked_to() {
        let asked = |args: &[&str]| confirms(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(asked(&["phasegate", "hook", "x", "--audit-log=b", "--confirm"]));
        assert!(!asked(&["phasegate", "hook", "x"]));
    }

    #[test]
    fn the_audit_log_is_found_in_both_forms_and_a_name_that_is_missing_is_none() {
        let named = |args: &[&str]| audit_log(&args.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(named(&["phasegate", "hook", "x", "--audit-log", "a.jsonl"]), Some("a.jsonl".into()));
        assert_eq!(named(&["phasegate", "hook", "x", "--audit-log=b.jsonl"]), Some("b.jsonl".into()));
        assert_eq!(named(&["phasegate", "hook", "x", "--audit-log"]), None);
        assert_eq!(named(&["phasegate", "hook", "x"]), None);
    }
}
