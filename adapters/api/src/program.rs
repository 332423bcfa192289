//! The client's own program as an agent may run it: which commands change what the client obeys, and how it is started
//! without the guard.

/// A program of a platform. The runtime denies the command lines that the rows name.
#[derive(Clone, Copy, Debug)]
pub struct ClientProgram {
    /// The names of the program, and of the packages that hold it.
    pub names: &'static [&'static str],
    /// Commands that change what the client obeys or loads, or that call its tools without a session: words separated by
    /// blanks.
    pub changes: &'static [&'static str],
    /// Options with which it loads no guard, or another one.
    pub unhooks: &'static [Unhook],
    /// Environment variables with which it loads no guard, or another one.
    pub variables: &'static [&'static str],
    /// Options with which it works in another folder than the one it is started in.
    pub elsewhere: &'static [&'static str],
    /// Whether it finds the settings of a project also from a folder below the root.
    pub searches: bool,
}

/// An option with which a client loads no guard.
#[derive(Clone, Copy, Debug)]
pub struct Unhook {
    /// The option as it is written.
    pub option: &'static str,
    /// A word that leaves the guard in force where the option's value contains it; empty if there is none.
    pub unless: &'static str,
}

/// An option with which a client loads no guard, whatever its value.
#[must_use]
pub const fn unhook(option: &'static str) -> Unhook {
    Unhook { option, unless: "" }
}
