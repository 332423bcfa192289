//! The rule that a permission becomes.
//!
//! What denies or asks may select more than the permission does, what permits never more: where a pattern cannot be said
//! as a rule, the one is widened and the other is left out.

use std::path::Path;

use phasegate_adapter::{FilePattern, PatternRoot, Permission, PermissionEffect, Selection};

/// Why a pattern of files cannot permit.
const TOO_WIDE: &str = "rules cannot say this pattern, and one that permits more would be wrong";

/// What a shell reads, and the words of a command no longer have.
const OF_SHELL: &[char] = &['|', '&', ';', '<', '>', '(', ')', '$', '`', '"', '\'', '\\', '\n'];

/// Where a permission is given.
pub(super) struct Given<'a> {
    /// The file and the entry, as a reason.
    pub(super) reason: &'a str,
    /// The skill while which is active it is given.
    pub(super) skill: Option<&'a str>,
    /// The project's folder.
    pub(super) root: &'a Path,
    /// The user's home folder.
    pub(super) home: &'a Path,
}

/// The text of the rule; or why there is none.
pub(super) fn rule(id: &str, permission: &Permission, given: &Given<'_>) -> Result<String, String> {
    let Given { reason, skill, .. } = *given;
    let permits = permission.effect == PermissionEffect::Allow;
    let (action, mut conditions) = match permission.selects.clone()? {
        Selection::Tool(tool) => match also(&tool).filter(|_| !permits) {
            Some(all) => {
                let names: Vec<String> = all.iter().map(|name| quoted(name)).collect();
                (
                    "action".to_owned(),
                    vec![format!("resource.server == \"\" && [{}].contains(resource.name)", names.join(", "))],
                )
            }
            None => (format!("action == Action::{}", quoted(&tool)), Vec::new()),
        },
        Selection::Server(server) => (format!("action in Action::{}", quoted(&format!("{server}/*"))), Vec::new()),
        Selection::ServerTool { server, tool } => {
            (format!("action == Action::{}", quoted(&format!("{server}/{tool}"))), Vec::new())
        }
        Selection::Commands(pattern) => ("action".to_owned(), vec![command(&pattern, permits)?]),
        Selection::Files { changes, files } => ("action".to_owned(), vec![file(changes, &files, permits, given)?]),
        Selection::Host(host) => ("action == Action::\"WebFetch\"".to_owned(), vec![of_host(&host, permits)?]),
        Selection::Agent(kind) => {
            let same = format!("context.input has subagent_type && context.input.subagent_type == {}", quoted(&kind));
            ("action == Action::\"Agent\"".to_owned(), vec![same])
        }
    };
    conditions.extend(skill.map(|skill| format!("context.skills.contains({})", quoted(skill))));
    let mut text = format!("@id({})\n", quoted(id));
    if !permits {
        text.push_str(&format!("@reason({})\n", quoted(reason)));
    }
    if permission.effect == PermissionEffect::Ask {
        text.push_str("@effect(\"ask\")\n");
    }
    let kind = if permits { "permit" } else { "forbid" };
    text.push_str(&format!("{kind}(principal, {action}, resource)"));
    conditions.iter().for_each(|condition| text.push_str(&format!("\nwhen {{ {condition} }}")));
    text.push_str(";\n");
    Ok(text)
}

/// The tools that a client denies with this one.
fn also(tool: &str) -> Option<&'static [&'static str]> {
    match tool {
        "Edit" => Some(&["Edit", "MultiEdit", "NotebookEdit", "Write"]),
        "Read" => Some(&["Grep", "NotebookRead", "Read"]),
        _ => None,
    }
}

/// A command whose text fits the pattern. What denies it also denies `git -C FOLDER push`.
fn command(pattern: &str, permits: bool) -> Result<String, String> {
    if pattern.contains(OF_SHELL) {
        return Err("rules see the words of each command, and not what joins or quotes them".to_owned());
    }
    let program = pattern.split_whitespace().next().unwrap_or_default();
    if program.contains('=') {
        return Err("rules see no assignments before a command".to_owned());
    }
    if !permits && program.contains('/') {
        return Err("a program in a system folder has no folder in rules: name the program alone".to_owned());
    }
    let prefix = pattern.strip_suffix(" *").filter(|prefix| !prefix.contains('*'));
    let words: Vec<&str> = prefix.into_iter().flat_map(str::split_whitespace).collect();
    let fits = match (words.as_slice(), prefix) {
        ([program], _) if !permits => format!("context.command.program == {}", quoted(program)),
        ([program, subcommand], _) if !permits && !subcommand.starts_with('-') => format!(
            "context.command.program == {} && context.command.subcommand == {}",
            quoted(program),
            quoted(subcommand)
        ),
        (words, Some(_)) => {
            let prefix = words.join(" ");
            format!(
                "(context.command.text == {} || context.command.text like \"{} *\")",
                quoted(&prefix),
                like(&prefix)
            )
        }
        _ if pattern.contains('*') => format!("context.command.text like \"{}\"", wild(pattern)),
        _ => format!("context.command.text == {}", quoted(pattern)),
    };
    Ok(format!("context has command && {fits}"))
}

/// A path that fits the pattern, read or changed. What permits it is about tools for files, not about commands that may do
/// more with the file.
fn file(changes: bool, files: &FilePattern, permits: bool, given: &Given<'_>) -> Result<String, String> {
    if files.pattern.split('/').any(|part| part == "..") {
        return Err("rules know files by names without `..`".to_owned());
    }
    if !permits && may_be_inside(files, given) {
        return Err(
            "it may be about files of the project, which rules know by names that begin in its folder".to_owned()
        );
    }
    let access = if changes { "writes" } else { "reads" };
    let names = if permits { exactly(files).ok_or(TOO_WIDE)? } else { widened(files) };
    let fits: Vec<String> = names.iter().map(|name| format!("context.path.name like \"{name}\"")).collect();
    let own = match (permits, files.from) {
        (false, _) => "",
        (true, PatternRoot::Root) => "!(context has command) && ",
        (true, _) => "!(context has command) && context.path.inside && ",
    };
    Ok(format!("context has path && {own}context.path.{access} && ({})", fits.join(" || ")))
}

/// Whether a pattern from the root or the home folder may select files of the project.
fn may_be_inside(files: &FilePattern, given: &Given<'_>) -> bool {
    let from = match files.from {
        PatternRoot::Root => Path::new("/"),
        PatternRoot::Home => given.home,
        PatternRoot::Project | PatternRoot::Anywhere => return false,
    };
    let begins = files.pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let begins = from.join(begins).display().to_string();
    let root = given.root.display().to_string();
    root.starts_with(&begins) || begins.starts_with(&root)
}

/// The names that a pattern selects, and more, as texts of `like`.
fn widened(files: &FilePattern) -> Vec<String> {
    let pattern = files.pattern.trim_end_matches('/');
    let one = |name: &str| wild(&opened(name));
    // `a/**/b` is also about `a/b`, and `a/**` about a search of `a`.
    let mut names = vec![one(pattern)];
    if pattern.contains("/**/") {
        names.push(one(&pattern.replace("/**/", "/")));
    }
    names.extend(
        pattern.strip_suffix("/**").or_else(|| pattern.strip_suffix("/*")).filter(|name| !name.is_empty()).map(one),
    );
    let mut all: Vec<String> = Vec::new();
    for name in names {
        let below = (!name.ends_with('*')).then(|| format!("{name}/*"));
        for name in [Some(name), below].into_iter().flatten() {
            let said = match files.from {
                PatternRoot::Root => vec![format!("/{name}")],
                PatternRoot::Home => vec![format!("*/{name}")],
                // A session may begin in a folder of the project.
                PatternRoot::Project | PatternRoot::Anywhere => vec![name.clone(), format!("*/{name}")],
            };
            for name in said {
                if !all.contains(&name) {
                    all.push(name);
                }
            }
        }
    }
    all
}

/// A pattern in which a star stands for everything that `like` cannot say: a letter, one of several, and folders.
fn opened(pattern: &str) -> String {
    let mut opened = String::new();
    let mut depth = 0_usize;
    for letter in pattern.chars() {
        depth = depth.saturating_add(usize::from(matches!(letter, '[' | '{')));
        let wild = depth > 0 || matches!(letter, '*' | '?');
        depth = depth.saturating_sub(usize::from(matches!(letter, ']' | '}')));
        if !wild {
            opened.push(letter);
        } else if !opened.ends_with('*') {
            opened.push('*');
        }
    }
    opened
}

/// The names that a pattern selects, where `like` can say them; `None` where it cannot.
fn exactly(files: &FilePattern) -> Option<Vec<String>> {
    if files.from == PatternRoot::Home {
        return None;
    }
    let pattern = files.pattern.as_str();
    let (name, below) = match pattern.strip_suffix("/**") {
        Some(name) => (name, true),
        None if pattern == "**" => return Some(vec!["*".to_owned()]),
        None => (pattern, false),
    };
    if name.contains(['*', '?', '[', ']', '{', '}']) || name.ends_with('/') {
        return None;
    }
    let name = if below { format!("{}/*", like(name)) } else { like(name) };
    match files.from {
        PatternRoot::Project => Some(vec![name]),
        PatternRoot::Anywhere => Some(vec![name.clone(), format!("*/{name}")]),
        PatternRoot::Root => Some(vec![format!("/{name}")]),
        PatternRoot::Home => None,
    }
}

/// A page of a host. Cedar compares letter by letter, so what denies a host denies it in the case that is written.
fn of_host(host: &str, permits: bool) -> Result<String, String> {
    if permits && host.contains('*') {
        return Err(TOO_WIDE.to_owned());
    }
    let fits = if permits {
        let urls = ["https", "http"].map(|scheme| format!("{scheme}://{host}"));
        let of = |url: &String| {
            format!("context.input.url == {} || context.input.url like \"{}/*\"", quoted(url), like(url))
        };
        urls.each_ref().map(of).join(" || ")
    } else {
        format!("context.input.url like \"*{}*\"", wild(host.trim_start_matches("*.")))
    };
    Ok(format!("context.input has url && ({fits})"))
}

/// A text in Cedar's quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text))
}

fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in text.chars() {
        match letter {
            '"' | '\\' => escaped.extend(['\\', letter]),
            letter if letter.is_control() => escaped.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A text within a pattern of `like`, in which nothing stands for any text.
fn like(text: &str) -> String {
    escaped(text).replace('*', "\\*")
}

/// A text within a pattern of `like`, in which `*` stands for any text.
fn wild(text: &str) -> String {
    escaped(text)
}
