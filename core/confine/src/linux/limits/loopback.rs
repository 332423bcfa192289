//! `localhost` in a network namespace of its own.

use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, SendFlags, SocketType, sendto, socket};

use crate::error::{Result, Step as _};

/// `RTM_NEWLINK`, `NLM_F_REQUEST` and `IFF_UP` of the kernel's headers.
const NEW_LINK: u16 = 16;
const REQUEST: u16 = 1;
const UP: u32 = 1;
/// The loopback device is the first of each namespace.
const LOOPBACK: u32 = 1;

/// Takes the loopback device up.
pub(in crate::linux) fn up() -> Result<()> {
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None).step("open a route socket")?;
    // struct nlmsghdr: length, type, flags, sequence, port; struct ifinfomsg: family, type, index, flags, mask.
    let mut message = Vec::with_capacity(32);
    message.extend(32_u32.to_ne_bytes());
    message.extend(NEW_LINK.to_ne_bytes());
    message.extend(REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    message.extend([0; 4]);
    [LOOPBACK, UP, UP].iter().for_each(|word| message.extend(word.to_ne_bytes()));
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)).step("take localhost up")?;
    Ok(())
}
