//! The client's own program, as a line may start it.

/// A program of a platform.
#[derive(Clone, Copy, Debug)]
pub struct ClientProgram {
    /// The names of the program, and of the packages that hold it.
    pub names: &'static [&'static str],
    /// Of a client that starts no guard of its own: the commands that change what it obeys or loads, words separated by
    /// blanks. Such a client may be started otherwise.
    pub changes: &'static [&'static str],
    /// Whether it starts a guard of its own. Then no line of a session starts it.
    pub guarded: bool,
    /// The variable in which the client tells the programs that it starts where its own file is; empty if it does not.
    pub file_variable: &'static str,
}

impl ClientProgram {
    /// A client that starts the guard.
    #[must_use]
    pub const fn guarded(names: &'static [&'static str], file_variable: &'static str) -> Self {
        Self { names, changes: &[], guarded: true, file_variable }
    }

    /// A client that starts no guard, and the commands that change what it obeys.
    #[must_use]
    pub const fn unguarded(names: &'static [&'static str], changes: &'static [&'static str]) -> Self {
        Self { names, changes, guarded: false, file_variable: "" }
    }
}
