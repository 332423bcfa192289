//! New namespaces for this process and those that it starts.

use std::fs;

use nix::sched::{CloneFlags, unshare};

use super::capabilities;
use crate::error::{Error, Result, Step as _};
use crate::request::{Fake, Request};

/// Enters namespaces; with a user namespace unless this process may do without.
pub(in crate::linux) fn enter(request: &Request, flags: CloneFlags) -> Result<()> {
    if request.lacks(Fake::NoUserNamespaces) {
        return Err(Error::refused("enter a user namespace", "a test says that there are none"));
    }
    if capabilities::administrates() {
        return unshare(flags).step("enter namespaces");
    }
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    unshare(flags | CloneFlags::CLONE_NEWUSER).step("enter a user namespace")?;
    let map = |file: &str, text: String| fs::write(file, text).step(format!("write {file}"));
    map("/proc/self/setgroups", "deny".into())?;
    map("/proc/self/uid_map", format!("{user} {user} 1"))?;
    map("/proc/self/gid_map", format!("{group} {group} 1"))
}
