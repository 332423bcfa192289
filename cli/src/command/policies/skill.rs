//! `phasegate skill`: skills as files.

mod list;
mod new;
mod show;

parts! {
    /// List the skills: those of the project, and the shipped ones
    List(list);
    /// Print the file of a skill, or a file that a skill names
    Show(show);
    /// Write a new skill, with comments that explain it
    New(new);
}
