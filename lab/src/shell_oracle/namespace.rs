//! The outer sandbox: this command again, in its own user, mount and network namespaces.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use xtask::failure::{Failure, Result};

/// How many identities are mapped where the caller may map them; enough for one each worker.
const RANGE: u32 = 65_536;
/// How long the kernel may take to make a namespace.
const PATIENCE: Duration = Duration::from_secs(10);
/// Waits for the identities, then takes the rest of the namespaces as their root.
const WAIT: &str = "read -r _ && exec unshare --mount --net --propagation private \"$0\" \"$@\"";

/// Runs this command again inside; fails where the inside fails or cannot be made.
pub(super) fn enter() -> Result {
    let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    let mut child = Command::new("unshare")
        .args(["--user", "sh", "-c", WAIT])
        .arg(own)
        .args(std::env::args_os().skip(1))
        .arg("--inside")
        .stdin(Stdio::piped())
        .spawn()
        .map_err(|error| broken(&format!("`unshare`: {error}")))?;
    if let Err(failure) = map(&mut child) {
        let _ = child.kill();
        let _ = child.wait();
        return Err(failure);
    }
    drop(child.stdin.take());
    let status = child.wait().map_err(|error| Failure::new(error.to_string()))?;
    if status.success() { Ok(()) } else { Err(Failure::new("the shell oracle failed; see above")) }
}

/// A failure that says that the sandbox did not start.
pub(super) fn broken(why: &str) -> Failure {
    Failure::new(format!(
        "the sandbox cannot start: {why}; it needs Linux with user namespaces, overlayfs in them, and the programs \
         `unshare`, `setpriv`, `prlimit` (util-linux), `chroot`, `timeout` (coreutils), `strace` and `git`"
    ))
}

/// Whether many identities are mapped, so that each worker can run lines as a user of its own.
pub(super) fn wide() -> bool {
    let text = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    text.split_whitespace().nth(2).and_then(|count| count.parse::<u32>().ok()).is_some_and(|count| count >= RANGE)
}

/// Writes the identities of the namespace that the child is about to make, then lets it go on.
fn map(child: &mut Child) -> Result {
    let folder = format!("/proc/{}", child.id());
    let ours = fs::read_link("/proc/self/ns/user").map_err(|error| broken(&error.to_string()))?;
    let begin = Instant::now();
    while fs::read_link(format!("{folder}/ns/user")).ok().is_none_or(|theirs| theirs == ours) {
        let ended = child.try_wait().ok().flatten().is_some();
        if ended || begin.elapsed() > PATIENCE {
            return Err(broken("no user namespace could be made"));
        }
        sleep(Duration::from_millis(2));
    }
    let all = format!("0 0 {RANGE}\n");
    if fs::write(format!("{folder}/uid_map"), &all).is_ok() {
        fs::write(format!("{folder}/gid_map"), &all).map_err(|error| broken(&error.to_string()))?;
    } else {
        let (user, group) = identity()?;
        let put = |file: &str, text: String| {
            fs::write(format!("{folder}/{file}"), text).map_err(|error| broken(&format!("{file}: {error}")))
        };
        put("setgroups", "deny".into())?;
        put("uid_map", format!("0 {user} 1\n"))?;
        put("gid_map", format!("0 {group} 1\n"))?;
    }
    let mut input = child.stdin.take().ok_or_else(|| broken("no pipe"))?;
    std::io::Write::write_all(&mut input, b"go\n").map_err(|error| broken(&error.to_string()))
}

fn identity() -> Result<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    let own = fs::metadata("/proc/self").map_err(|error| broken(&error.to_string()))?;
    Ok((own.uid(), own.gid()))
}
