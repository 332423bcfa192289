//! `phasegate safety`: what is registered of the commands of programs.

mod approve;
mod explain;
mod import;
mod judge;
mod list;
mod register;
mod suggestions;

parts! {
    /// List what is registered, and the programs that agents may classify
    List(list);
    /// Register what commands of a program do, for every session of the project
    Register(register);
    /// Let agents classify the commands of a program
    Approve(approve);
    /// Show the patterns that skills suggest, and register them
    Import(import);
    /// Show what each command of a line does, and which pattern says so
    Explain(explain);
}
