//! Where output changes nothing.

/// Where output may go without changing anything.
const HARMLESS: [&str; 7] =
    ["/dev/null", "/dev/stdout", "/dev/stderr", "/dev/fd/1", "/dev/fd/2", "/dev/tty", "/dev/zero"];

/// Whether a path stands for a connection, or may begin as one.
pub(crate) fn is_connection(path: &str) -> bool {
    let path = path.replace("//", "/");
    ["/dev/tcp", "/dev/udp"].iter().any(|place| path.starts_with(place))
}

/// Whether output to a path changes nothing: it goes nowhere, or to where the command's own output goes.
pub(crate) fn is_harmless_output(path: &str) -> bool {
    HARMLESS.contains(&path)
}
