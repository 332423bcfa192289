//! No descriptor but the three standard ones reaches a confined command.

use std::fs;
use std::os::fd::{AsRawFd as _, BorrowedFd, RawFd};

/// Closes every descriptor above standard error but one. Only at the start of a process, before it has opened more.
pub(in crate::linux) fn close_others(kept: Option<BorrowedFd<'_>>) {
    let kept = kept.map(|descriptor| descriptor.as_raw_fd());
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        (3..1024).filter(|fd| Some(*fd) != kept).for_each(close);
        return;
    };
    let open: Vec<RawFd> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|fd| *fd > 2 && Some(*fd) != kept)
        .collect();
    open.into_iter().for_each(close);
}

fn close(fd: RawFd) {
    // The one that listed them is closed already.
    let _ = nix::unistd::close(fd);
}
