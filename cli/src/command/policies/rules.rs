//! `phasegate rules`: rules over calls.

mod check;
mod explain;
mod import;
mod packs;
mod schema;
mod test;
mod why;

pub(crate) use packs::find as find_pack;

parts! {
    /// Find errors in the rules of the project
    Check(check);
    /// Play the transcripts in `.phasegate/tests`, and name the rules that none of them shows
    Test(test);
    /// Print what rules can read, in Cedar's language
    Schema(schema);
    /// List the packs of rules that ship with phasegate, or print one
    Packs(packs);
    /// List the rules of the project, or print one
    Explain(explain);
    /// Make rules of the permissions that the clients' settings give
    Import(import);
    /// Show which rules are about a call, and what they see of it
    Why(why);
}
