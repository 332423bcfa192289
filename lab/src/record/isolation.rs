//! Where client and model run: a network namespace that has only a loopback.

use std::process::Command;

use xtask::failure::{Failure, Result};

/// Brings the loopback up through a fresh view of the system's devices, then runs the rest.
const LOOPBACK: &str = "mount -t sysfs none /sys && echo 0x9 > /sys/class/net/lo/flags && exec \"$0\" \"$@\"";

/// Runs this command again where only the loopback exists, and says so if it fails there.
pub(crate) fn isolated(failing: &str) -> Result {
    let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    let mut command = Command::new("unshare");
    if !works(&["--net", "--mount"]) {
        command.arg("--map-root-user");
    }
    command.args(["--net", "--mount", "sh", "-c", LOOPBACK]).arg(own).args(std::env::args_os().skip(1)).arg("--inside");
    let status = command.status().map_err(|error| Failure::new(format!("`unshare`: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(failing)) }
}

fn works(flags: &[&str]) -> bool {
    Command::new("unshare").args(flags).arg("true").output().is_ok_and(|output| output.status.success())
}
