//! Splits the arguments of a program into options, by the program's rule, and operands.

use phasegate_core::calls::analysis::Verdict;

use crate::expand::field::Field;
use crate::finding::{Finding, does};
use crate::table::{Rule, Style};
use crate::tree::Span;

/// An option that was given.
#[derive(Clone, Debug)]
pub(crate) struct Given {
    /// The name without dashes, in full where it was abbreviated and the rule knows it.
    pub(crate) name: String,
    pub(crate) value: Option<Field>,
    pub(crate) span: Span,
}

/// The arguments, split.
#[derive(Debug, Default)]
pub(crate) struct Scan<'f> {
    pub(crate) options: Vec<Given>,
    pub(crate) operands: Vec<&'f Field>,
    /// What is worse than the rule's own verdict.
    pub(crate) findings: Vec<Finding>,
    /// The arguments after those that the rule's own options and operands are, where the rule wraps a command.
    pub(crate) command: &'f [Field],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Arity {
    None,
    Value,
    Attached,
}

#[derive(Clone, Copy)]
struct Known<'r> {
    name: &'r str,
    arity: Arity,
    hurts: Option<Verdict>,
}

/// Splits the arguments of a program; `many` operands that may be none count as two.
pub(crate) fn scan<'f>(rule: &Rule, args: &'f [Field]) -> Scan<'f> {
    let mut scanner = Scanner { rule, args, at: 0, scan: Scan::default() };
    scanner.run();
    scanner.scan
}

struct Scanner<'r, 'f> {
    rule: &'r Rule,
    args: &'f [Field],
    at: usize,
    scan: Scan<'f>,
}

impl<'f> Scanner<'_, 'f> {
    fn next(&mut self) -> Option<&'f Field> {
        let field = self.args.get(self.at)?;
        self.at = self.at.saturating_add(1);
        Some(field)
    }

    /// The word after an option, as its value.
    fn value(&mut self) -> Option<Field> {
        let field = self.next()?;
        self.moving(field, "the value of an option");
        Some(field.clone())
    }

    /// A word that may be gone or several, so that the words after it move into other places.
    fn moving(&mut self, field: &Field, what: &str) {
        if field.many && (!takes_anything(self.rule) || self.rule.wraps.is_some() || self.rule.dispatches) {
            let because = format!("{what} may be no word or several, which moves the words after it");
            self.scan.findings.push(Finding::new(Verdict::Unknown, because, field.span));
        }
    }

    fn run(&mut self) {
        let skip = self.rule.wraps.map(|wraps| usize::try_from(wraps.skip).unwrap_or(0));
        let assignments = self.rule.wraps.is_some_and(|wraps| wraps.assignments);
        let stops = matches!(self.rule.style, Style::Posix | Style::Leading) || skip.is_some();
        let mut options_end = self.rule.style == Style::None;
        // Without assignments, and how many of the operands are counted.
        let (mut operands, mut counted) = (0_usize, 0_usize);
        loop {
            let new = self.scan.operands.get(counted..).unwrap_or(&[]);
            operands =
                operands.saturating_add(new.iter().filter(|field| !(assignments && is_assignment(field))).count());
            counted = self.scan.operands.len();
            if let Some(skip) = skip
                && operands >= skip
                && self.args.get(self.at).is_none_or(|field| options_end || is_operand(field))
                && !(assignments && self.args.get(self.at).is_some_and(is_assignment))
            {
                self.scan.command = self.args.get(self.at..).unwrap_or(&[]);
                return;
            }
            let Some(field) = self.next() else { return };
            if options_end || is_operand(field) {
                if self.rule.wraps.is_some() {
                    self.moving(field, "a word before the command");
                }
                self.scan.operands.push(field);
                options_end |= stops && skip.is_none();
                continue;
            }
            match field.known() {
                Some("--") => options_end = true,
                Some("-") => {
                    self.scan.operands.push(field);
                    options_end |= stops && skip.is_none();
                }
                _ => self.option(field),
            }
        }
    }

    fn option(&mut self, field: &'f Field) {
        let start = field.start();
        if !start.starts_with('-') || (start == "-" && field.known().is_none()) {
            // A word with an unknown start.
            if !takes_anything(self.rule) {
                let because = "a word that is made at run time could be an option";
                self.scan.findings.push(Finding::new(Verdict::Unknown, because, field.span));
            }
            self.scan.operands.push(field);
            return;
        }
        if field.many && !takes_anything(self.rule) {
            let because = "a word that is made at run time could add options";
            self.scan.findings.push(Finding::new(Verdict::Unknown, because, field.span));
            return;
        }
        if is_single(self.rule) {
            self.long(field, start.bytes().take_while(|byte| *byte == b'-').count().min(2));
        } else if start.starts_with("--") {
            self.long(field, 2);
        } else {
            self.cluster(field);
        }
    }

    fn long(&mut self, field: &'f Field, dashes: usize) {
        let body = field.start().get(dashes..).unwrap_or("");
        let (name, equals) = match body.split_once('=') {
            Some((name, _)) => (name, true),
            None => (body, false),
        };
        if !equals && field.known().is_none() {
            if !takes_anything(self.rule) {
                let because = "an option whose name is made at run time";
                self.scan.findings.push(Finding::new(Verdict::Unknown, because, field.span));
            }
            return;
        }
        let abbreviates = !is_single(self.rule);
        let Some(known) = find_long(self.rule, name, abbreviates) else {
            return self.unknown(name, &format!("--{name}"), field.span);
        };
        let attached = equals.then(|| field.after(dashes.saturating_add(name.len()).saturating_add(1)));
        let value = match (attached, known.arity) {
            (Some(value), _) => Some(value),
            (None, Arity::Value) => self.value(),
            (None, _) => None,
        };
        self.give(known, value, field.span, "--");
    }

    fn cluster(&mut self, field: &'f Field) {
        let body: Vec<(usize, char)> = field.start().char_indices().skip(1).collect();
        let wholly = field.known().is_some();
        for (at, letter) in body {
            let mut buffer = [0; 4];
            let name: &str = letter.encode_utf8(&mut buffer);
            let end = at.saturating_add(letter.len_utf8());
            let Some(known) = find_short(self.rule, name) else {
                if letter.is_ascii_digit() && find_short(self.rule, "#").is_some() {
                    continue;
                }
                self.unknown(name, &format!("-{name}"), field.span);
                if self.rule.any_option {
                    // The letters that follow may be options of their own.
                    continue;
                }
                return;
            };
            if known.arity == Arity::None {
                self.give(known, None, field.span, "-");
                continue;
            }
            let rest = field.after(end);
            let attached = !rest.bits.is_empty();
            let value = match (attached, known.arity) {
                (true, _) => Some(rest),
                (false, Arity::Value) => self.value(),
                (false, _) => None,
            };
            return self.give(known, value, field.span, "-");
        }
        if !wholly && !takes_anything(self.rule) {
            let because = "options that are made at run time";
            self.scan.findings.push(Finding::new(Verdict::Unknown, because, field.span));
        }
    }

    fn give(&mut self, known: Known<'_>, value: Option<Field>, span: Span, dashes: &str) {
        if let Some(verdict) = known.hurts {
            let dashes = if known.name.chars().count() == 1 { "-" } else { dashes };
            let because = format!("`{dashes}{}` {}", known.name, does(verdict));
            self.scan.findings.push(Finding::new(verdict, because, span));
        }
        self.scan.options.push(Given { name: known.name.to_owned(), value, span });
    }

    fn unknown(&mut self, name: &str, shown: &str, span: Span) {
        if !self.rule.any_option || says_more(name) {
            let because = format!("`{shown}` is an option that is not known to be harmless");
            self.scan.findings.push(Finding::new(Verdict::Unknown, because, span));
        }
        self.scan.options.push(Given { name: name.to_owned(), value: None, span });
    }
}

/// Options whose name says that they write, run or send, with any program that has them.
const TELLING: [&str; 34] = [
    "api",
    "apilog",
    "api-url",
    "cache-dir",
    "cachedir",
    "cpuprofile",
    "download",
    "endpoint",
    "endpoint-url",
    "exec",
    "execute",
    "export",
    "flagfile",
    "http-addr",
    "install",
    "log-dir",
    "log-file",
    "logdir",
    "logfile",
    "memprofile",
    "out",
    "outdir",
    "outfile",
    "output-dir",
    "output-file",
    "plugin",
    "post-renderer",
    "profiling",
    "save",
    "server",
    "trace-file",
    "tracing",
    "update",
    "upload",
];

/// Whether the name of an option that no entry lists says that it does more than read.
fn says_more(name: &str) -> bool {
    let name = name.replace('_', "-").to_ascii_lowercase();
    TELLING.contains(&name.as_str())
}

/// Whether long options have one dash or two.
fn is_single(rule: &Rule) -> bool {
    matches!(rule.style, Style::Single | Style::Leading)
}

/// Whether no option of the program is harmful, so that unknown words are harmless too.
pub(crate) fn takes_anything(rule: &Rule) -> bool {
    rule.any_option && rule.hurts.is_empty() && rule.only_with.is_empty() && rule.operands.is_none()
}

fn is_operand(field: &Field) -> bool {
    !field.may_be_option()
}

/// `NAME=value`
pub(crate) fn is_assignment(field: &Field) -> bool {
    field.start().split_once('=').is_some_and(|(name, _)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && !name.starts_with(|first: char| first.is_ascii_digit())
    })
}

/// Whether an option of a list, with its sign for a value, is the one of that name.
pub(crate) fn same(listed: &str, name: &str) -> bool {
    let bare = listed.strip_suffix([':', '?']).filter(|bare| !bare.is_empty()).unwrap_or(listed);
    bare == name
}

/// Whether an option of this name is one that the rule knows.
pub(crate) fn lists(rule: &Rule, name: &str) -> bool {
    entries(rule).any(|known| known.name == name)
}

fn entries(rule: &Rule) -> impl Iterator<Item = Known<'_>> {
    let hurting =
        rule.hurts.iter().flat_map(|(verdict, names)| tokens(names).map(|(name, arity)| (name, arity, Some(*verdict))));
    let harmless = tokens(&rule.options).chain(tokens(&rule.only_with)).map(|(name, arity)| (name, arity, None));
    hurting.chain(harmless).map(|(name, arity, hurts)| Known { name, arity, hurts })
}

fn tokens(names: &str) -> impl Iterator<Item = (&str, Arity)> {
    names.split_ascii_whitespace().map(|token| match token.strip_suffix(':').filter(|name| !name.is_empty()) {
        Some(name) => (name, Arity::Value),
        None => match token.strip_suffix('?').filter(|name| !name.is_empty()) {
            Some(name) => (name, Arity::Attached),
            None => (token, Arity::None),
        },
    })
}

fn find_short<'r>(rule: &'r Rule, name: &str) -> Option<Known<'r>> {
    entries(rule).find(|known| known.name == name)
}

/// The option of that name, or the worst of those it abbreviates.
fn find_long<'r>(rule: &'r Rule, name: &str, abbreviates: bool) -> Option<Known<'r>> {
    let mut best: Option<Known<'r>> = None;
    for known in entries(rule) {
        if known.name == name && (name.len() > 1 || is_single(rule)) {
            return Some(known);
        }
        let fits = abbreviates && !name.is_empty() && known.name.len() > 1 && known.name.starts_with(name);
        if fits && best.is_none_or(|best| known.hurts > best.hurts) {
            best = Some(known);
        }
    }
    best
}
