//! The client's own notifications, which reach the agent as prompts: a background task ended.

/// Whether a prompt begins with a tag, as the client's own notifications do.
pub(crate) fn begins_with_tag(prompt: &str) -> bool {
    prompt.trim_start().strip_prefix('<').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
}

/// The call whose background program or agent ended, as a notification says. Only the head of the notification counts:
/// the text after the status comes from the program or the agent.
pub(crate) fn ended(prompt: &str) -> Option<&str> {
    let (head, _) = prompt.strip_prefix("<task-notification>")?.split_once("</status>")?;
    let (before, status) = head.split_once("<status>")?;
    let over = matches!(status.trim(), "completed" | "failed" | "killed" | "stopped" | "cancelled");
    let (_, rest) = before.split_once("<tool-use-id>")?;
    let (id, _) = rest.split_once("</tool-use-id>")?;
    Some(id.trim()).filter(|id| over && !id.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{begins_with_tag, ended};

    #[test]
    fn a_note_names_the_call_that_is_over() {
        let note = |status: &str| {
            format!(
                "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>toolu_1</tool-use-id>\n\
                 <output-file>/o</output-file>\n<status>{status}</status>\n<summary>s</summary>\n</task-notification>"
            )
        };
        assert_eq!(ended(&note("completed")), Some("toolu_1"));
        assert_eq!(ended(&note("running")), None);
        assert!(begins_with_tag(&note("failed")));
        for other in [
            "hello",
            "see <task-notification>",
            "<task-notification><status>completed</status><tool-use-id>x</tool-use-id>",
        ] {
            assert_eq!(ended(other), None, "{other}");
        }
    }
}
