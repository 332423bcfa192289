//! The client's own program as an agent may run it: which commands change what the client obeys, and how it may be started
//! so that it surely starts the guard.

/// A program of a platform. The runtime denies the command lines that the rows name, and those that start it in another way
/// than they allow.
#[derive(Clone, Copy, Debug)]
pub struct ClientProgram {
    /// The names of the program, and of the packages that hold it.
    pub names: &'static [&'static str],
    /// Commands that change what the client obeys or loads, or that call its tools without a session: words separated by
    /// blanks.
    pub changes: &'static [&'static str],
    /// How it may be started; `None` for one that starts no guard of its own, so that nothing is lost.
    pub start: Option<&'static ClientStart>,
    /// Whether it finds the settings of a project also from a folder below the root.
    pub searches: bool,
}

/// How a client may be started: everything that is not listed may leave the guard out, also what a later version brings.
#[derive(Clone, Copy, Debug)]
pub struct ClientStart {
    /// The options that it may get.
    pub options: &'static [ClientOption],
    /// The environment variables that it may get; a star at the end stands for the rest of the name.
    pub variables: &'static [&'static str],
    /// Options and variables that few other programs have: a program that the line does not name, or that is not there yet,
    /// and that gets one of them is taken for this client.
    pub marks: &'static [&'static str],
    /// Such as other programs have too. They count beside a word of `beside`.
    pub weak_marks: &'static [&'static str],
    /// The words with which the client takes a prompt.
    pub beside: &'static [&'static str],
    /// The variable in which the client tells the programs that it starts where its own file is; empty if it does not.
    pub file_variable: &'static str,
}

/// An option that a client may get.
#[derive(Clone, Copy, Debug)]
pub struct ClientOption {
    /// Its names, as they are written.
    pub names: &'static [&'static str],
    /// What follows it.
    pub takes: Takes,
}

/// What follows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// A value, which may be anything.
    Value,
    /// A value, if the next word is no option.
    Optional,
    /// One of these values, and no other.
    OneOf(&'static [&'static str]),
    /// A value with this word in it.
    With(&'static str),
    /// The folder in which the client works.
    Folder,
}

/// An option that takes nothing.
#[must_use]
pub const fn flag(names: &'static [&'static str]) -> ClientOption {
    ClientOption { names, takes: Takes::Nothing }
}

/// An option that takes a value.
#[must_use]
pub const fn value(names: &'static [&'static str]) -> ClientOption {
    ClientOption { names, takes: Takes::Value }
}

/// An option that takes a value in this way.
#[must_use]
pub const fn option(names: &'static [&'static str], takes: Takes) -> ClientOption {
    ClientOption { names, takes }
}
