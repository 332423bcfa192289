//! Memory files in the form of the seed.

use super::run::TASK;

/// The verdict of a validation that found nothing.
pub(super) const PASSED: &str = "passed";
/// The agents that ship.
pub(super) const AGENTS: [&str; 7] =
    ["clarification", "research", "analysis", "synthesis", "generation", "validation", "memory"];

/// A memory file; two of different numbers are different.
pub(super) fn whole(agent: &str, number: usize, verdict: &str) -> String {
    let name = agent.get(..1).unwrap_or_default().to_uppercase() + agent.get(1..).unwrap_or_default();
    let text = format!(
        "# {name} Agent Output: work\n\n## Section 0: Context Loaded\n\nTask ID: {TASK}\nA task.\n\n\
         ## Section 1: Step Overview\n\nThis was done in it.\n\n## Section 2: Johari Summary\n\nAll is known by now.\n\n\
         ## Section 3: Downstream Directives\n\nGo on with it soon.\n"
    );
    mended(&text, agent, number, verdict)
}

/// The text of a case with what the original never asks for: the closing line and the verdict. So only what the case is
/// about decides. The number makes texts of different steps different.
pub(super) fn mended(text: &str, agent: &str, number: usize, verdict: &str) -> String {
    let is_bare = agent == "validation" && !text.starts_with("---");
    let matter = if is_bare { format!("---\nverdict: {verdict}\n---\n") } else { String::new() };
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let first = if first.starts_with("# ") { format!("{first} ({number})") } else { first.to_owned() };
    let closing = format!("**{}_COMPLETE**", agent.to_uppercase());
    let closing = if text.trim_end().ends_with("_COMPLETE**") { String::new() } else { format!("\n---\n{closing}\n") };
    format!("{matter}{first}\n{rest}{closing}")
}

/// The agent that a memory file names in its title.
pub(super) fn agent_of(text: &str) -> Option<&'static str> {
    let title = text.lines().find_map(|line| line.strip_prefix("# "))?.to_lowercase();
    AGENTS.into_iter().find(|agent| title.starts_with(&format!("{agent} agent")))
}
