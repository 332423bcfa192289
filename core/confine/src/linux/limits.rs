//! What the kernel takes from a command: namespaces, rights, system calls, files.

pub(in crate::linux) mod descriptors;
pub(in crate::linux) mod namespaces;
pub(in crate::linux) mod capabilities;
pub(in crate::linux) mod loopback;
pub(in crate::linux) mod seccomp;
pub(in crate::linux) mod ruleset;
pub(in crate::linux) mod mounts;
