//! Calls of the kernel that neither mounts nor Landlock stop.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    apply_filter,
};

use crate::error::{Result, Step as _};
use crate::level::Level;
use crate::request::Request;

/// Keys of the session, files by number, and programs in the kernel: they reach what is outside.
const READ_ONLY: &[libc::c_long] = &[
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_open_by_handle_at,
];

/// What mounts and namespaces stop at the other levels.
const ALONE: &[libc::c_long] = &[
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_open_tree,
    libc::SYS_fsopen,
    libc::SYS_fsmount,
    libc::SYS_setns,
    libc::SYS_unshare,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_shmget,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_utimensat,
    SETXATTRAT,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

/// Newer calls, whose numbers are the same on every machine.
const FCHMODAT2: libc::c_long = 452;
const SETXATTRAT: libc::c_long = 463;
const REMOVEXATTRAT: libc::c_long = 466;
const FILE_SETATTR: libc::c_long = 469;

/// The same in an older form.
#[cfg(target_arch = "x86_64")]
const ALONE_OLD: &[libc::c_long] =
    &[libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown, libc::SYS_utime, libc::SYS_utimes, libc::SYS_futimesat];
#[cfg(not(target_arch = "x86_64"))]
const ALONE_OLD: &[libc::c_long] = &[];

/// `TIOCSTI` and `TIOCLINUX` type into the terminal.
const TYPING: [u64; 2] = [0x5412, 0x541c];
/// `FS_IOC_SETFLAGS` in both widths and `FS_IOC_FSSETXATTR` change a file that is open for reading.
const ATTRIBUTES: [u64; 3] = [0x4008_6602, 0x4004_6602, 0x401c_5820];
/// `F_SETLEASE` makes whoever opens the file wait.
const LEASE: u64 = 1024;
/// The kinds of a socket, and the bits that hold it.
const KIND: u64 = 0xf;
const DATAGRAM: u64 = 2;
const RAW: u64 = 3;
/// Unix sockets reach servers by their path.
const UNIX: u64 = 1;
const INTERNET: [u64; 2] = [2, 10];
/// Bluetooth, the kernel's ciphers and virtual machines: namespaces do not hold them.
const OTHERS: [u64; 3] = [31, 38, 40];
const NEW_USER: u64 = 0x1000_0000;
/// The bit of calls in the x32 form, which the library does not look at.
const X32: i64 = 0x4000_0000;
const X32_IOCTL: i64 = 514;

/// Calls, each with the conditions under which it is refused; none means always.
type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Restricts this process for good.
pub(in crate::linux) fn install(request: &Request) -> Result<()> {
    let rules = rules(request).step("make a filter of calls")?;
    apply(rules, libc::EPERM).step("filter calls")?;
    if request.level == Level::Landlock {
        // The C library then takes `clone`, whose flags can be seen.
        apply(Rules::from([(libc::SYS_clone3, Vec::new())]), libc::ENOSYS).step("filter calls")?;
    }
    Ok(())
}

fn apply(rules: Rules, errno: i32) -> std::result::Result<(), seccompiler::Error> {
    let mut doubled = rules.clone();
    if cfg!(target_arch = "x86_64") {
        for (call, rule) in rules {
            doubled.insert(if call == libc::SYS_ioctl { X32_IOCTL } else { call } | X32, rule);
        }
    }
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    let filter = SeccompFilter::new(doubled, SeccompAction::Allow, refuse, std::env::consts::ARCH.try_into()?)?;
    apply_filter(&BpfProgram::try_from(filter)?)
}

fn rules(request: &Request) -> std::result::Result<Rules, seccompiler::BackendError> {
    let mut rules = Rules::new();
    let mut controls = TYPING.to_vec();
    if request.level != Level::Protect {
        rules.extend(READ_ONLY.iter().map(|call| (*call, Vec::new())));
        rules.insert(libc::SYS_fcntl, vec![all(&[argument(1, SeccompCmpOp::Eq, LEASE)?])?]);
        if !request.network {
            rules.insert(libc::SYS_socket, families(&OTHERS)?);
        }
    }
    if request.level == Level::Landlock {
        controls.extend(ATTRIBUTES);
        rules.extend(ALONE.iter().chain(ALONE_OLD).map(|call| (*call, Vec::new())));
        rules.insert(libc::SYS_socket, sockets(request.network)?);
        // A pair of datagram sockets can send to any path.
        rules.insert(libc::SYS_socketpair, vec![all(&[argument(1, SeccompCmpOp::MaskedEq(KIND), DATAGRAM)?])?]);
        rules.insert(libc::SYS_clone, vec![all(&[argument(0, SeccompCmpOp::MaskedEq(NEW_USER), NEW_USER)?])?]);
    }
    let ioctl = controls.into_iter().map(|control| all(&[argument(1, SeccompCmpOp::Eq, control)?]));
    rules.insert(libc::SYS_ioctl, ioctl.collect::<std::result::Result<_, _>>()?);
    Ok(rules)
}

/// Unix sockets, and without the network those that Landlock does not see.
fn sockets(network: bool) -> std::result::Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let mut refused = families(&[UNIX])?;
    if !network {
        refused.extend(families(&OTHERS)?);
        for family in INTERNET {
            for kind in [DATAGRAM, RAW] {
                let kind = argument(1, SeccompCmpOp::MaskedEq(KIND), kind)?;
                refused.push(all(&[argument(0, SeccompCmpOp::Eq, family)?, kind])?);
            }
        }
    }
    Ok(refused)
}

fn families(families: &[u64]) -> std::result::Result<Vec<SeccompRule>, seccompiler::BackendError> {
    families.iter().map(|family| all(&[argument(0, SeccompCmpOp::Eq, *family)?])).collect()
}

/// A rule that holds where all of its conditions do.
fn all(conditions: &[SeccompCondition]) -> std::result::Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(conditions.to_vec())
}

fn argument(
    at: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> std::result::Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(at, SeccompCmpArgLen::Dword, operator, value)
}
