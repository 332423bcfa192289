//! The linker script: which sections hold the functions that ran.

use std::collections::{BTreeMap, BTreeSet};

/// Functions that the profiler does not see: its processor has no instructions for SHA-256, and constructors have no names.
const UNSEEN: [&str; 2] = ["*(.text._R*_4sha26sha256*)", "*(.text.startup .text.startup.*)"];

/// The functions that ran, in the order in which they first did.
#[derive(Debug, Default)]
pub(super) struct Ran {
    names: Vec<String>,
    known: BTreeSet<String>,
}

impl Ran {
    /// Adds the functions of a profile: lines `fn=(12) name` and `cfn=(12) name`, where a name stands once.
    pub(super) fn add(&mut self, profile: &str) {
        for line in profile.lines() {
            let Some(rest) = line.strip_prefix("fn=(").or_else(|| line.strip_prefix("cfn=(")) else { continue };
            let Some((_, name)) = rest.split_once(") ") else { continue };
            let name = name.split('\'').next().unwrap_or(name).to_string();
            if self.known.insert(name.clone()) {
                self.names.push(name);
            }
        }
    }
}

/// The input sections of the functions that ran, as a linker script names them. `map` is a map that lld wrote.
pub(super) fn lines(map: &str, ran: &Ran) -> Vec<String> {
    let sections = sections(map);
    let mut lines = Vec::new();
    for line in ran.names.iter().filter_map(|name| described(sections.get(name.as_str())?)) {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.extend(UNSEEN.map(str::to_string));
    lines
}

/// The text of the script.
pub(super) fn written(lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("    {line}\n")).collect();
    format!(
        "/* The functions that hooks call. Written by `cargo xtask hook-order`; do not edit. */\n\
         SECTIONS {{\n  .text.hook : {{\n{lines}  }}\n}} INSERT BEFORE .text;\n"
    )
}

/// A section of an object file.
#[derive(Clone, Copy)]
struct Section<'a> {
    file: &'a str,
    name: &'a str,
}

/// The section of each function. A line of a map has four numbers, then a section or one of its symbols.
fn sections(map: &str) -> BTreeMap<&str, Section<'_>> {
    let (mut all, mut current) = (BTreeMap::new(), None);
    for line in map.lines() {
        let mut rest = line;
        for _ in 0..4 {
            rest = rest.trim_start();
            rest = rest.split_once(' ').map_or("", |(_, rest)| rest);
        }
        let text = rest.trim();
        if let Some((file, name)) = text.strip_suffix(')').and_then(|text| text.rsplit_once(":(")) {
            current = name.starts_with(".text").then_some(Section { file, name });
        } else if let Some(section) = current.filter(|_| !text.is_empty()) {
            all.entry(text).or_insert(section);
        }
    }
    all
}

/// A section in the words of a linker script. `None` for a section that holds more than one function of the program.
fn described(section: &Section<'_>) -> Option<String> {
    if let Some((archive, member)) = section.file.strip_suffix(')').and_then(|file| file.rsplit_once('('))
        && let Some(archive) = archive.rsplit('/').next().filter(|name| ["libc.a", "libm.a"].contains(name))
    {
        return Some(format!("*{archive}:{}(.text .text.*)", any_processor(member)));
    }
    let name = section.name;
    (name != ".text" && name != ".text.startup").then(|| format!("*({})", without_hashes(name)))
}

/// An object of the C library, whatever processor it is for: the profiler's is not that of the machine.
fn any_processor(member: &str) -> String {
    let parts = member.split('-').map(|part| {
        let (part, end) = part.split_once('.').map_or((part, ""), |(part, _)| (part, ".o"));
        if ["avx", "avx2", "evex", "sse2", "sse4", "ssse3"].contains(&part) {
            format!("*{end}")
        } else {
            format!("{part}{end}")
        }
    });
    parts.collect::<Vec<_>>().join("-")
}

/// A mangled name with `*` for what changes with each build: the crates' hashes (`Cs…_`), references back into the name
/// (`B…_`), which count its letters, numbers of copies (`.12`), and after the last `E` the crate that asked for a
/// function of another one.
fn without_hashes(name: &str) -> String {
    let copies = |letter: char| letter.is_ascii_digit();
    let (name, copy) = match name.trim_end_matches(copies).strip_suffix('.') {
        Some(plain) if name.ends_with(copies) => (plain.strip_suffix(".llvm").unwrap_or(plain), "*"),
        _ => (name, ""),
    };
    let plain = without_crate_hashes(name);
    match plain.rsplit_once('E') {
        Some((function, asked)) if asked == "B*_" || asked.starts_with("Cs*_") => format!("{function}E*"),
        _ => plain + copy,
    }
}

fn without_crate_hashes(name: &str) -> String {
    let mut text = String::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let (mark, hash) = if rest.starts_with("Cs") { ("Cs", 2) } else { ("B", 1) };
        let tail =
            rest.strip_prefix(mark).map(|tail| tail.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()));
        match tail.and_then(|tail| tail.strip_prefix('_')) {
            Some(after) if hash == 1 || after.starts_with(|letter: char| letter.is_ascii_digit()) => {
                text.push_str(mark);
                text.push_str("*_");
                rest = after;
            }
            _ => {
                text.push(first);
                rest = rest.strip_prefix(first).unwrap_or_default();
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = "\
     VMA      LMA     Size Align Out     In      Symbol
  490400   490400       10    16         a/b.o:(.text._RNvCsX1y_4core3run)
  490400   490400       10     1                 _RNvCsX1y_4core3run
  490410   490410       20    16         usr/lib/libc.a(memmove-avx-unaligned-erms.o):(.text.avx)
  490410   490410       20     1                 memcpy
  490430   490430       20    16         a/b.o:(.text.cold)
  490430   490430       20     1                 cold
  490450   490450       20    16         a/b.o:(.rodata.x)
  490450   490450       20     1                 table
";

    #[test]
    fn sections_of_functions_that_ran_are_listed_in_their_order() {
        let mut ran = Ran::default();
        ran.add("fn=(1) memcpy\ncfn=(2) _RNvCsX1y_4core3run'2\nfn=(2)\nfn=(3) table\nfn=(4) unknown\n");
        let expected = [
            "*libc.a:memmove-*-unaligned-erms.o(.text .text.*)",
            "*(.text._RNvCs*_4core3run)",
            "*(.text._R*_4sha26sha256*)",
            "*(.text.startup .text.startup.*)",
        ];
        assert_eq!(lines(MAP, &ran), expected);
    }

    #[test]
    fn hashes_are_left_out() {
        assert_eq!(without_hashes("_RNvMs_NtCsab12_4core3fmtNtB5_3Box"), "_RNvMs_NtCs*_4core3fmtNtB*_3Box");
        assert_eq!(without_hashes("_RNvC3abc3run"), "_RNvC3abc3run");
        assert_eq!(
            without_hashes("_RINvNtCsab_4core3ptr4dropNtCsc_1a1bECsd_1e"),
            "_RINvNtCs*_4core3ptr4dropNtCs*_1a1bE*"
        );
        assert_eq!(without_hashes("_RNvCsab_3std5write.1143"), "_RNvCs*_3std5write*");
    }
}
