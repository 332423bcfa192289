//! A skill that a shell line reads, or that a prompt names: the client has no tool for skills.

use phasegate_core::EventKind;
use phasegate_core::events::event::By;
use serde_json::Value;

/// What a skill's file is called.
const FILE: &str = "/SKILL.md";
/// The programs that print a file.
const PRINTS: [&str; 8] = ["cat", "sed", "head", "tail", "nl", "bat", "less", "more"];
/// What has a line do more than print one file.
const JOINS: [char; 10] = ['|', '&', ';', '>', '<', '`', '$', '(', '\n', '\\'];

/// The skill whose text a shell line prints, and nothing else.
pub(crate) fn of_line(input: &Value) -> Option<EventKind> {
    let line = input.get("command")?.as_str()?.trim();
    let mut words = line.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    let program = words.next().filter(|program| PRINTS.contains(program))?;
    let mut files = words.filter(|word| !program.is_empty() && word.contains('/'));
    let (file, more) = (files.next()?, files.next());
    let folder = file.strip_suffix(FILE).filter(|_| more.is_none() && !line.contains(JOINS))?;
    let name = folder.rsplit('/').next().filter(|name| !name.is_empty())?;
    Some(EventKind::Skill { name: name.to_owned(), args: None, by: By::Agent })
}

/// The skills that a prompt names, as `$NAME`, each once. A name that is no skill's starts nothing. What follows a name with
/// which the prompt begins are the values of that skill's inputs.
pub(crate) fn of_prompt(prompt: &str, by: By) -> Vec<EventKind> {
    let mut names: Vec<&str> = Vec::new();
    for word in prompt.split_whitespace() {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | ':');
        let name = word.strip_prefix('$').map(|rest| rest.split(|letter| !is_part(letter)).next().unwrap_or_default());
        if let Some(name) = name.filter(|name| !name.is_empty() && !names.contains(name)) {
            names.push(name);
        }
    }
    let args = |name: &str| {
        let rest = prompt.trim().strip_prefix('$')?.strip_prefix(name)?;
        let args = rest.strip_prefix(char::is_whitespace)?.trim();
        (!args.is_empty()).then(|| Value::from(args))
    };
    names.into_iter().map(|name| EventKind::Skill { name: name.to_owned(), args: args(name), by }).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn name(event: EventKind) -> String {
        match event {
            EventKind::Skill { name, .. } => name,
            _ => panic!("a skill"),
        }
    }

    #[test]
    fn a_line_that_prints_one_skill_reads_it() {
        let read = |line: &str| of_line(&json!({"command": line})).map(name);
        for line in [
            "cat .agents/skills/alpha/SKILL.md",
            "sed -n '1,200p' ~/.codex/skills/alpha/SKILL.md",
            "head -n 40 \"/p/.agents/skills/alpha/SKILL.md\"",
        ] {
            assert_eq!(read(line).as_deref(), Some("alpha"), "{line}");
        }
        for line in [
            "cat a/SKILL.md b/SKILL.md",
            "cat .agents/skills/alpha/SKILL.md; make",
            "rm .agents/skills/alpha/SKILL.md",
            "cat SKILL.md",
            "cat $X/SKILL.md",
            "",
        ] {
            assert_eq!(read(line), None, "{line}");
        }
    }

    #[test]
    fn a_prompt_names_skills_with_a_dollar_sign() {
        let named = |text: &str| of_prompt(text, By::Human).into_iter().map(name).collect::<Vec<_>>();
        assert_eq!(named("Use $alpha, then $beta-2. $alpha again"), ["alpha", "beta-2"]);
        assert_eq!(named("it costs 5$ or $ 7 and US$9"), [""; 0]);
        let args = |text: &str| match of_prompt(text, By::Human).remove(0) {
            EventKind::Skill { args, .. } => args,
            _ => None,
        };
        assert_eq!((args("$alpha id=1"), args("do $alpha id=1"), args("$alpha")), (Some(json!("id=1")), None, None));
    }
}
