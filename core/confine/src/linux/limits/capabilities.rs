//! The rights of root, one by one.

use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set, configure_capability_in_ambient_set,
    remove_capability_from_bounding_set, set_capabilities,
};

use crate::error::{Result, Step as _};

/// What root keeps at the read-only levels: to use files of every owner, and to become another user.
pub(in crate::linux) const READ_ONLY: CapabilitySet = CapabilitySet::CHOWN
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::SYS_CHROOT);

/// What root keeps at the level of protection: all that cannot undo a mount, reach another process or load code.
pub(in crate::linux) const PROTECT: CapabilitySet = READ_ONLY
    .union(CapabilitySet::NET_ADMIN)
    .union(CapabilitySet::NET_BROADCAST)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::IPC_LOCK)
    .union(CapabilitySet::SYS_NICE)
    .union(CapabilitySet::SYS_RESOURCE)
    .union(CapabilitySet::SYS_TIME)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::LEASE)
    .union(CapabilitySet::AUDIT_WRITE);

/// Whether this process may mount where it is.
pub(in crate::linux) fn administrates() -> bool {
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

/// Lets the next program that this process starts have what this one has, although its user is not root.
pub(in crate::linux) fn pass_on() -> Result<()> {
    let sets = capabilities(None).step("read capabilities")?;
    let passed = CapabilitySets { inheritable: sets.permitted, ..sets };
    set_capabilities(None, passed).step("pass capabilities on")?;
    for capability in sets.permitted.iter() {
        configure_capability_in_ambient_set(capability, true).step("pass a capability on")?;
    }
    Ok(())
}

/// Gives up everything but these, for good. A user other than root keeps nothing.
pub(in crate::linux) fn give_up(keep: CapabilitySet) -> Result<()> {
    let root = rustix::process::geteuid().is_root();
    let keep = if root { keep } else { CapabilitySet::empty() };
    for capability in (CapabilitySet::all() & !keep).iter() {
        // A kernel that does not know it refuses, and a set without it is as wanted.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let _ = clear_ambient_capability_set();
    let permitted = capabilities(None).step("read capabilities")?.permitted & keep;
    let sets = CapabilitySets { effective: permitted, permitted, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).step("give up capabilities")?;
    rustix::thread::set_no_new_privs(true).step("give up new privileges")
}
