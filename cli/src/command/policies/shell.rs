//! `phasegate shell`: what a shell line would do, before it runs.

mod trust;
mod explain;
mod judge;

parts! {
    /// Show the parts of a command, the verdict of each, and the word that decides; exit with 1 unless the command only
    /// reads
    Explain(explain);
    /// Judge many commands: read JSON objects with `cmd`, print an object with `verdict`, `because` and `parts` for
    /// each
    Judge(judge);
}
