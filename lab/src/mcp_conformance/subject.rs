//! What the suite is run against, and how it gets there.

use clap::ValueEnum;

/// A server that the suite is run against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Server {
    /// The project's own; it must pass every scenario.
    Test,
    /// The reference server of the protocol's makers, which was not made for the suite.
    Everything,
}

/// How the suite reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Way {
    /// Over the server's own HTTP, with nothing between.
    #[value(name = "alone")]
    Direct,
    /// Over the proxy's HTTP, with the server behind it on standard input and output.
    Proxy,
    /// Over the server's own HTTP, with the guard inside of it; the project's own server only.
    Inside,
}

impl Server {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Everything => "everything",
        }
    }
}

impl Way {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Direct => "alone",
            Self::Proxy => "proxy",
            Self::Inside => "inside",
        }
    }
}
