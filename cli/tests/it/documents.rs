//! What the pages for users show is true: the files of a page are written where it says, and its commands print what
//! stands below them. `PHASEGATE_BLESS=1` writes today's output into the pages.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::{Reply, World, reply};

/// The pages whose fences are played, each in an empty folder.
const PAGES: [&str; 6] = [
    "docs/write-a-skill.md",
    "docs/stuck.md",
    "docs/transcripts.md",
    "docs/workflows.md",
    "docs/skills/planned-feature.md",
    "docs/skills/language-server.md",
];

#[test]
fn golden_pages_show_what_the_program_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for page in PAGES {
        let path: PathBuf = root.join(page);
        let text = std::fs::read_to_string(&path).unwrap();
        let played = played(&text);
        if std::env::var_os("PHASEGATE_BLESS").is_some() {
            std::fs::write(&path, &played).unwrap();
        } else {
            assert_eq!(text, played, "{page} shows something else than the program prints");
        }
    }
}

/// The page with the output of today. A fence after a line that ends with a path in back-quotes and a colon is that
/// file; in a fence `console`, a line that begins with `$ phasegate` is run.
fn played(text: &str) -> String {
    let world = World::unguarded();
    let mut out = String::new();
    let mut lines = text.lines().peekable();
    let mut named = None;
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        let Some(kind) = line.strip_prefix("```").filter(|kind| !kind.is_empty()) else {
            if !line.is_empty() {
                named = line.strip_suffix("`:").and_then(|line| line.rsplit('`').next()).map(ToString::to_string);
            }
            continue;
        };
        let mut fence = Vec::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            fence.push(line);
        }
        if let Some(path) = named.take() {
            world.write(&path, &format!("{}\n", fence.join("\n")));
        }
        if kind == "console" {
            fence.iter().filter(|line| line.starts_with("$ ")).for_each(|line| out.push_str(&shown(&world, line)));
        } else {
            fence.iter().for_each(|line| out.extend([line, "\n"]));
        }
        out.push_str("```\n");
    }
    out
}

/// A command, and what it prints on both outputs.
fn shown(world: &World, line: &str) -> String {
    let words: Vec<&str> = line.trim_start_matches("$ ").split(' ').collect();
    assert_eq!(words.first(), Some(&"phasegate"), "{line}");
    let output = world.phasegate(&words[1..]).output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    // The time is another one each time.
    let timed = |line: &str| line.trim_start().starts_with("\"updated_at\"");
    let text: String = text
        .split_inclusive('\n')
        .map(|line| if timed(line) { "  \"updated_at\": \"2025-02-03T10:00:00Z\",\n" } else { line })
        .collect();
    let text = text.replace(&world.root().display().to_string(), "~/project");
    format!("{line}\n{}", text.replace(&world.home().display().to_string(), "~"))
}

/// The first denial of a new user, as the pages and the picture of the README show it.
#[test]
fn the_first_denial_is_shown_as_the_program_prints_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let shown = |page: &str| std::fs::read_to_string(root.join(page)).unwrap();
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--skill", "test-first", "--mode", "block"], 0);
    world.start("s");
    let denied = |file: &str| {
        let input = json!({"file_path": file, "content": "def double(n):\n    return n * 2\n"});
        match reply(&world.call("s", "t", "Write", input)) {
            Reply::Denied(text) => text,
            other => panic!("{file}: {other:?}"),
        }
    };
    let (picture, text) = (shown("docs/denial.svg"), denied("src/lib.rs"));
    let words = picture.lines().filter_map(|line| line.split_once('>')?.1.split_once("</text>")).map(|(text, _)| text);
    let words = words.collect::<Vec<_>>().join(" ");
    let [drawn, printed] = [words.as_str(), &text].map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let from = printed.split_once("src/lib.rs").unwrap().1;
    assert!(drawn.contains(from), "docs/denial.svg (lab/picture draws it) shows something else than: {from}\n{drawn}");
    let text = denied("double.py");
    let from = text.split_once("double.py").unwrap().1;
    assert!(shown("docs/start.md").contains(from), "docs/start.md shows something else than: {text}");
}
