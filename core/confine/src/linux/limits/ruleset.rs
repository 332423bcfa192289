//! Landlock: which files may be written, whatever the mounts say.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd, Ruleset,
    RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
};
use rustix::fs::{FileType, OFlags};

use crate::error::{Error, Result, Step as _};
use crate::level::Level;
use crate::request::{Fake, Request};

/// The newest version that the rules were tried with. An older kernel gets what it knows.
const NEWEST: ABI = ABI::V6;
/// The oldest version that holds without mounts: earlier ones let a file be cut short.
const OLDEST_ALONE: ABI = ABI::V3;

/// Devices that every program may use.
const DEVICES: [&str; 8] =
    ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"];

/// Restricts this process for good. Where mounts hold already, a kernel without Landlock is enough.
pub(in crate::linux) fn restrict(request: &Request, writable: &[PathBuf]) -> Result<()> {
    let alone = request.level == Level::Landlock;
    let root = rustix::process::geteuid().is_root();
    if request.lacks(Fake::NoLandlock) {
        let refused = Error::refused("restrict by Landlock", "a test says that there is none");
        return if alone || root { Err(refused) } else { Ok(()) };
    }
    let status = rules(request, alone, writable).step("restrict by Landlock")?;
    // Root may write to devices, which no mount hinders.
    if status == RulesetStatus::NotEnforced && (alone || root) {
        return Err(Error::refused("restrict by Landlock", "this kernel has none"));
    }
    Ok(())
}

fn rules(
    request: &Request,
    alone: bool,
    writable: &[PathBuf],
) -> std::result::Result<RulesetStatus, landlock::RulesetError> {
    let needed = if alone { CompatLevel::HardRequirement } else { CompatLevel::BestEffort };
    let ruleset = Ruleset::default().set_compatibility(needed).handle_access(AccessFs::from_all(OLDEST_ALONE))?;
    let ruleset = ruleset.set_compatibility(CompatLevel::BestEffort).handle_access(AccessFs::from_all(NEWEST))?;
    let ruleset = ruleset.scope(Scope::from_all(NEWEST))?;
    let ruleset = if alone && !request.network { ruleset.handle_access(AccessNet::from_all(NEWEST))? } else { ruleset };
    let mut created = allow(ruleset.create()?, "/".as_ref(), AccessFs::from_read(NEWEST))?;
    for folder in writable {
        created = allow(created, folder, AccessFs::from_all(NEWEST))?;
    }
    for device in DEVICES {
        created = allow(created, device.as_ref(), AccessFs::from_file(NEWEST) | AccessFs::ReadDir)?;
    }
    Ok(standard_streams(created)?.restrict_self()?.ruleset)
}

/// Allows something in a folder, or what of it a file can have. What does not exist needs no right.
fn allow(
    created: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> std::result::Result<RulesetCreated, landlock::RulesetError> {
    let Ok(descriptor) = PathFd::new(path) else { return Ok(created) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    created.add_rule(PathBeneath::new(descriptor, access))
}

/// `/dev/stdout` may be opened where the stream itself may be used.
fn standard_streams(mut created: RulesetCreated) -> std::result::Result<RulesetCreated, landlock::RulesetError> {
    let (input, output, errors) = (rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr());
    for stream in [input.as_fd(), output.as_fd(), errors.as_fd()] {
        let kind = rustix::fs::fstat(stream).map(|stat| FileType::from_raw_mode(stat.st_mode));
        if !matches!(kind, Ok(FileType::RegularFile | FileType::CharacterDevice)) {
            continue;
        }
        let mode = rustix::fs::fcntl_getfl(stream).unwrap_or(OFlags::empty()) & OFlags::RWMODE;
        let read: BitFlags<AccessFs> = AccessFs::ReadFile.into();
        let write = AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev;
        let access = if mode == OFlags::RDONLY { read } else { read | write };
        created = created.add_rule(PathBeneath::new(stream, access))?;
    }
    Ok(created)
}
