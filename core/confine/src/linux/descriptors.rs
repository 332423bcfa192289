//! No descriptor but the three standard ones reaches a confined command.

use std::fs;
use std::os::fd::RawFd;

/// Closes every descriptor above standard error. Only at the start of a process, before it has opened any itself.
pub(super) fn close_others() {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        (3..1024).for_each(close);
        return;
    };
    let open: Vec<RawFd> =
        entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(|fd| *fd > 2).collect();
    open.into_iter().for_each(close);
}

fn close(fd: RawFd) {
    // The one that listed them is closed already.
    let _ = nix::unistd::close(fd);
}
