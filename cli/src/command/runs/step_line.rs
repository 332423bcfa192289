//! A step of a plan, as a line for people.

use phasegate_core::values::one_line::one_line;

/// What is shown of a step.
pub(crate) struct Line<'a> {
    pub(crate) id: &'a str,
    pub(crate) after: Vec<&'a str>,
    /// The calls that it permits one of; `None`: it is prose.
    pub(crate) calls: Option<&'a str>,
    pub(crate) text: &'a str,
}

impl Line<'_> {
    /// The line. What the agent wrote stands last, so that it cannot be taken for what is said of it.
    pub(crate) fn shown(&self, state: &str) -> String {
        let after: Vec<String> = self.after.iter().map(|id| name(id)).collect();
        let after = if after.is_empty() { String::new() } else { format!(", after {}", after.join(", ")) };
        let permits = match self.calls {
            Some(calls) => format!("permits one call: {}", one_line(calls)),
            None => "prose: permits nothing".to_owned(),
        };
        let text = if self.text.is_empty() { String::new() } else { format!("; it says: {}", one_line(self.text)) };
        format!("  {}. [{state}{after}] {permits}{text}", name(self.id))
    }
}

/// The name of a step as it is shown: in quotes where it is more than a word.
fn name(id: &str) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "-_.".contains(letter);
    if id.chars().all(plain) { id.to_owned() } else { format!("\"{}\"", one_line(id)) }
}
