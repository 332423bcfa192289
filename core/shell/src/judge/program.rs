//! A known program and its arguments, by the program's rule.

use std::borrow::Cow;
use std::rc::Rc;

use phasegate_core::calls::analysis::{Access, Verdict};

use crate::arguments::{Given, Scan, lists, same, scan};
use crate::check::command::Command;
use crate::check::files::tar;
use crate::check::run::{other_folder, program_text};
use crate::check::{self, find, git};
use crate::expand::field::{Bit, Field};
use crate::finding::{Finding, does, keep_worse};
use crate::judge::code_paths::{behind_code, is_editor, reads_code};
use crate::judgement::Touch;
use crate::obeyed::Readers;
use crate::table::{Check, Operands, Rule, Style};
use crate::tree::Span;
use crate::walk::Walk;

/// What the table says of programs that run code that they are given.
pub(super) const INTERPRETER: &str = "an interpreter runs code";

/// Options that take no value with any program that has them.
const FLAGS: [&str; 11] = ["debug", "h", "help", "offline", "q", "quiet", "silent", "verbose", "version", "y", "yes"];

/// Programs whose first operand is no file, unless an option says what they look for.
const ASKERS: [&str; 7] = ["egrep", "fgrep", "gojq", "grep", "jq", "rg", "ripgrep"];
/// These options, and those with which nothing is looked for.
const ASKED: [&str; 7] = ["e", "f", "file", "files", "from-file", "regexp", "type-list"];

/// The option that names the folder in which packages are put, and parts of such options.
const FOLDER: &str = "t";
const OF_PATHS: [&str; 6] = ["dir", "file", "out", "path", "prefix", "target"];

/// What was found of a program, before what it wraps and touches.
struct Judged {
    worst: Finding,
    /// Whether it writes by itself.
    writes: bool,
    /// Whether it writes files that its operands do not name.
    untold: bool,
}

impl Walk<'_> {
    /// What a program does by its rule; `name` is the entry's name, `span` the place of the program's name.
    pub(crate) fn apply(&mut self, name: &str, rule: &Rule, args: &[Field], span: Span) -> Finding {
        if rule.pairs
            && let Some((full, inner, rest)) = self.pair(name, args)
        {
            return self.apply(&full, &inner, rest, span);
        }
        if rule.dispatches {
            let worst = self.dispatch(name, rule, args, span);
            self.note_going_on(rule, &[], &worst);
            return worst;
        }
        let scanned: Cow<'_, [Field]> = match rule.check {
            Some(Check::Tar) => tar::normalize(args),
            Some(Check::Fd) => Cow::Borrowed(find::before_exec(args)),
            _ => Cow::Borrowed(args),
        };
        let scan = scan(rule, &scanned);
        let before = self.touches().len();
        let sends = |field: &&Field| field.known().is_some_and(|word| is_sent(rule, word));
        self.talks(rule.network || scan.operands.iter().any(sends));
        self.looks_out(rule);
        let Judged { mut worst, writes, untold } = self.judged(name, rule, args, &scan, span);
        let own = worst.verdict;
        let asks = rule.check == Some(Check::Exec)
            && scan.options.iter().any(|given| matches!(given.name.as_str(), "v" | "V"));
        if rule.wraps.is_some() && !asks {
            keep_worse(&mut worst, self.wrap(name, rule, &scan, span));
            let any = |field: &Field| field.many && field.bits.iter().any(Bit::is_made);
            if scan.command.is_empty() && args.iter().any(any) {
                self.wrapped(&[Field::any(span)], span);
            }
        }
        self.touch_operands(name, rule, &scan, worst.verdict);
        self.note_going_on(rule, &scan.options, &worst);
        if let Some(script) = scan.operands.first().filter(|_| rule.script && is_plain(rule, &scan)) {
            self.touch(script, Access::Execute);
        }
        if rule.because == INTERPRETER && worst.verdict >= Verdict::Execute {
            self.touch_named_in(name, args);
            self.touch_named_in_input(reads_code(args), false, span);
            self.lines_in(behind_code(args));
        }
        if is_editor(name) && worst.verdict > Verdict::Read {
            self.touch_named_in_input(true, true, span);
        }
        let changes = |touch: &Touch| matches!(touch.access, Access::Write | Access::Remove);
        let named = self.touches().iter().skip(before).any(changes) && !untold;
        // What it does by itself, an option that nobody knows does not take back.
        let writes = worst.verdict == Verdict::Write || (writes && worst.verdict == Verdict::Unknown);
        self.unnamed |= writes && !named && !rule.elsewhere;
        // What git does to the files of the working tree that it is given is all that it does.
        let only_files = named && rule.check == Some(Check::GitWorktree);
        self.besides |= own >= Verdict::Write && rule.elsewhere && !only_files;
        worst
    }

    /// Takes note of a program of which something goes on after it.
    fn note_going_on(&mut self, rule: &Rule, options: &[Given], worst: &Finding) {
        let given = |option: &str| option == "*" || options.iter().any(|given| same(option, &given.name));
        self.leaves_running |= worst.verdict > Verdict::Read && rule.goes_on.split_whitespace().any(given);
    }

    /// What a program does by its rule, its options and what looks at its operands.
    fn judged(&mut self, name: &str, rule: &Rule, args: &[Field], scan: &Scan<'_>, span: Span) -> Judged {
        let mut worst = self.own_verdict(name, rule, scan, span);
        let writes = worst.verdict == Verdict::Write;
        for finding in scan.findings.iter().cloned() {
            // An option is one of its program.
            let because = finding.because.strip_prefix("`-").map(|rest| format!("`{name} -{rest}"));
            keep_worse(&mut worst, Finding { because: because.unwrap_or(finding.because), ..finding });
        }
        program_text::options(self, rule, &scan.options, &mut worst);
        if let Some(finding) = excess(rule, scan) {
            keep_worse(&mut worst, finding);
        }
        if let Some(finding) = asked(rule, args) {
            keep_worse(&mut worst, finding);
        }
        if rule.hardened_with.is_some()
            && let Some(finding) = self.unhardened(name, rule, scan, span)
        {
            keep_worse(&mut worst, finding);
        }
        let mut untold = writes_untold(rule, scan);
        if let Some(check) = rule.check {
            let so_far = self.touches().len();
            if let Some(finding) = check::run(check, self, &Command { name, rule, args, scan, span }) {
                untold |=
                    finding.verdict == Verdict::Write && self.touches().len() == so_far && !changes_operands(rule);
                keep_worse(&mut worst, finding);
            }
        }
        Judged { worst, writes, untold }
    }

    /// Takes note of whether the command talks to another machine.
    fn talks(&mut self, talks: bool) {
        self.network |= talks;
        self.asking |= talks;
    }

    fn own_verdict(&self, name: &str, rule: &Rule, scan: &Scan<'_>, span: Span) -> Finding {
        let off = |given: &Given| given.value.as_ref().and_then(Field::known).is_some_and(is_off);
        let among = |list: &str, given: &Given| list.split_ascii_whitespace().any(|option| same(option, &given.name));
        let mode = scan.options.iter().rposition(|given| among(&rule.modes, given));
        let listed = |(at, given): (usize, &Given)| {
            let overridden = among(&rule.modes, given) && mode != Some(at);
            among(&rule.only_with, given) && !off(given) && !overridden
        };
        if !rule.only_with.is_empty() && !scan.options.iter().enumerate().any(listed) {
            let verdict = rule.otherwise.unwrap_or(Verdict::Write);
            // An option that would have made it read, and a later one that overrides it.
            let lost = scan.options.iter().find(|given| among(&rule.only_with, given) && !off(given));
            if let Some((lost, last)) = lost.zip(mode.and_then(|at| scan.options.get(at))) {
                let because = format!("`{}` overrides `{}`, and `{name}` {}", shown(last), shown(lost), does(verdict));
                return Finding::new(verdict, because, last.span);
            }
            return Finding::new(verdict, reason(name, rule, verdict), span);
        }
        Finding::new(rule.does, reason(name, rule, rule.does), span)
    }

    /// The entry that the first word or the first two name (`python -m json.tool`), and the arguments after them.
    fn pair<'f>(&self, name: &str, args: &'f [Field]) -> Option<(String, Rc<Rule>, &'f [Field])> {
        let first = args.first()?.known().filter(|word| word.starts_with('-'))?;
        let one = format!("{name} {first}");
        if let Some(rule) = self.rule(&one) {
            return Some((one, rule, args.get(1..)?));
        }
        let two = format!("{one} {}", args.get(1)?.known()?);
        let rule = self.rule(&two)?;
        Some((two, rule, args.get(2..)?))
    }

    /// A program whose first operand is a command with a rule of its own.
    fn dispatch(&mut self, name: &str, rule: &Rule, args: &[Field], span: Span) -> Finding {
        let style = if rule.style == Style::Gnu { Style::Posix } else { rule.style };
        let outer = Rule { style, dispatches: false, ..rule.clone() };
        let at = command_place(&outer, args);
        let (before, after) = args.split_at_checked(at).unwrap_or((args, &[]));
        let scan = scan(&outer, before);
        let mut worst = Finding::new(Verdict::Read, format!("`{name}` only reads"), span);
        for finding in scan.findings.iter().cloned() {
            keep_worse(&mut worst, finding);
        }
        if let Some(check) = rule.check
            && let Some(finding) = check::run(check, self, &Command { name, rule, args: before, scan: &scan, span })
        {
            keep_worse(&mut worst, finding);
        }
        let plain = worst.verdict == Verdict::Read;
        self.looks_out(rule);
        let sent = |named: &str| rule.sends.split_whitespace().any(|command| command == named);
        self.talks(after.first().map_or(Some("-"), Field::known).is_some_and(sent));
        let Some((command, rest)) = after.split_first() else {
            keep_worse(&mut worst, self.own_verdict(name, rule, &scan, span));
            if rule.hardened_with.is_some()
                && let Some(finding) = self.unhardened(name, rule, &scan, span)
            {
                keep_worse(&mut worst, finding);
            }
            // What it does by itself: `git stash` alone.
            self.unnamed |= worst.verdict == Verdict::Write && !rule.elsewhere;
            self.besides |= worst.verdict >= Verdict::Write && rule.elsewhere;
            return worst;
        };
        let inner = match command.known() {
            None => {
                Finding::new(Verdict::Unknown, format!("the command of `{name}` is made at run time"), command.span)
            }
            Some(word) => {
                let full = format!("{name} {word}");
                match self.rule(&full) {
                    Some(inner) => {
                        let outer = std::mem::replace(&mut self.globals, scan.options.clone());
                        let finding = self.apply(&full, &inner, rest, command.span);
                        self.globals = outer;
                        finding
                    }
                    None if rule.otherwise == Some(Verdict::Read) => {
                        // Words that are no command are operands here.
                        let plain = Rule { dispatches: false, ..rule.clone() };
                        self.apply(name, &plain, args, span)
                    }
                    None => self.unlisted(name, rule, command, rest),
                }
            }
        };
        keep_worse(&mut worst, inner);
        let alias = |word: &str| !rule.own.is_empty() && !rule.own.split_whitespace().any(|own| own == word);
        self.alias = command.known().is_some_and(alias);
        self.talks(self.alias);
        self.global_options = u32::try_from(at).unwrap_or(u32::MAX);
        self.unplaced = may_take_more(&outer, before, &scan);
        // In another folder it is another command: `git -C x push`.
        let moves = scan.options.iter().any(|given| given.name == "C");
        self.led_plainly = plain && at > 0 && !self.unplaced && !moves;
        worst
    }

    /// A command that the program's entry does not list.
    fn unlisted(&mut self, name: &str, rule: &Rule, command: &Field, rest: &[Field]) -> Finding {
        let verdict = rule.otherwise.unwrap_or(Verdict::Unknown);
        self.talks(rule.network);
        let listed = |word: &str| rule.names_only.split_whitespace().any(|one| one == "*" || one == word);
        if command.known().is_some_and(listed) {
            let before = std::iter::once(None).chain(rest.iter().map(Some));
            let paths = before.zip(rest).filter(|(before, field)| says_path(*before, field));
            paths.for_each(|(_, field)| self.touch_unknown(name, std::slice::from_ref(field)));
        } else {
            self.touch_unknown(name, rest);
        }
        if rule.check == Some(Check::OtherFolder) {
            let scan = Scan::default();
            check::run(Check::OtherFolder, self, &Command { name, rule, args: rest, scan: &scan, span: command.span });
        }
        // Of a program that nobody can see into, that alone is in doubt.
        self.unnamed |= verdict == Verdict::Write && !rule.elsewhere;
        self.besides |= verdict >= Verdict::Write && rule.elsewhere;
        if verdict >= Verdict::Execute && name != "git" {
            other_folder::texts(self, rest);
        }
        let word = command.known().unwrap_or_default();
        Finding::new(verdict, format!("`{name} {word}` is not known to only read"), command.span)
    }

    /// Notes whether a program looks out of what it is given: at the machine, or at what the repository names.
    fn looks_out(&mut self, rule: &Rule) {
        self.outside |= rule.outside;
        self.trusts |= rule.hardened_with.is_some() && !rule.outside;
    }

    /// What runs through the repository's configuration where that is not trusted.
    fn unhardened(&self, name: &str, rule: &Rule, scan: &Scan<'_>, span: Span) -> Option<Finding> {
        let lost = |readers| self.trust.lost.contains(&readers);
        // They load what the settings of their packages name.
        let package = matches!(name, "pnpm" | "yarn") && lost(Readers::Packages);
        if self.trust.repository && !package && !lost(Readers::Repository) {
            return None;
        }
        let wanted = rule.hardened_with.as_deref().unwrap_or("");
        let given = |option: &str| {
            let (name, value) = option.split_once('=').map_or((option, None), |(name, _)| (name, Some(option)));
            let mut all = scan.options.iter().chain(&self.globals);
            match value {
                None => all.any(|given| given.name == name),
                Some(value) => {
                    all.any(|given| given.name == "c" && given.value.as_ref().and_then(Field::known) == Some(value))
                }
            }
        };
        // No option is named `-`; but a letter of a cluster may be one.
        let missing = wanted.split_ascii_whitespace().find(|option| *option == "-" || !given(option))?;
        let because = format!("`{name}` may run what the repository's configuration names");
        let because = match missing {
            "-" => because,
            option if option.contains('=') => format!("{because}, without `-c {option}`"),
            option => format!("{because}, without `--{option}`"),
        };
        Some(Finding::new(Verdict::Execute, because, span))
    }

    fn touch_operands(&mut self, name: &str, rule: &Rule, scan: &Scan<'_>, does: Verdict) {
        let into = scan.options.iter().find(|given| matches!(given.name.as_str(), "t" | "target-directory"));
        let into = into
            .and_then(|given| given.value.as_ref())
            .filter(|_| matches!(rule.touches, Operands::LastWrite | Operands::Move));
        if let Some(folder) = into {
            self.touch(folder, Access::Write);
        }
        // With its target as an option, no operand is the target.
        let last = scan.operands.len().saturating_sub(usize::from(into.is_none()));
        let rewrites = rule.touches == Operands::Rewrite && rewrites(rule, scan);
        if rewrites && scan.operands.is_empty() {
            self.touch(&Field::text(".", scan.options.first().map_or((0, 0), |given| given.span)), Access::Write);
        }
        for (number, field) in scan.operands.iter().enumerate() {
            let access = match rule.touches {
                Operands::None => continue,
                Operands::Rewrite if rewrites => Access::Write,
                Operands::Rewrite => Access::Read,
                Operands::Replace if does > Verdict::Read => Access::Remove,
                Operands::Read | Operands::Replace => Access::Read,
                Operands::Write => Access::Write,
                Operands::Remove => Access::Remove,
                Operands::LastWrite | Operands::Move if number == last => Access::Write,
                Operands::Move => Access::Remove,
                Operands::LastWrite => Access::Read,
                Operands::FirstNone | Operands::FirstNoneWrite if number == 0 && (last > 0 || asks(name, scan)) => {
                    continue;
                }
                Operands::FirstNone => Access::Read,
                Operands::FirstNoneWrite => Access::Write,
            };
            if rule.touches == Operands::Replace && does > Verdict::Read {
                self.touch_unpacked(field, scan);
            }
            match name.strip_prefix("git ") {
                Some(_) if access != Access::Read => self.touch(&git::pathspec(field), access),
                _ => self.touch(field, access),
            }
        }
        for given in &scan.options {
            let writes = rule
                .hurts
                .get(&Verdict::Write)
                .is_some_and(|names| names.split_ascii_whitespace().any(|option| same(option, &given.name)));
            let name = given.name.as_str();
            let reads = name == "f" || name.contains("from") || (name.contains("file") && !name.contains("env"));
            if let Some(value) = given.value.as_ref().filter(|_| reads && !writes) {
                self.touch(value, Access::Read);
            }
            if let Some(value) = given.value.as_ref().filter(|_| writes) {
                self.touch(value, Access::Write);
                // `docker build --output type=local,dest=out`
                let parts = value.known().unwrap_or_default().split(',');
                for path in parts.filter_map(|part| part.strip_prefix("dest=")) {
                    self.touch(&Field::text(path, value.span), Access::Write);
                }
            }
        }
    }

    pub(super) fn touch_unknown(&mut self, name: &str, args: &[Field]) {
        // Of a word that is wholly given to the line, nobody knows whether it is a path.
        let given = |field: &Field| field.bits.iter().all(|bit| *bit == Bit::Given);
        for field in args.iter().filter(|field| !field.start().starts_with('-') && !given(field)) {
            if name == "git" {
                self.touch_guess(&git::pathspec(field), Access::Write)
            } else {
                self.touch_guess(field, Access::Write)
            }
        }
    }
}

/// Whether a program is given no option but those that change nothing about what it does.
fn is_plain(rule: &Rule, scan: &Scan<'_>) -> bool {
    let harmless = |given: &Given| rule.options.split_whitespace().any(|option| same(option, &given.name));
    scan.options.iter().all(harmless)
}

/// Whether a word among names says that it is a path, or the option before it does.
fn says_path(before: Option<&Field>, field: &Field) -> bool {
    let option = before.and_then(Field::known).and_then(|word| word.strip_prefix('-')).unwrap_or_default();
    let long = |part: &&str| option.starts_with('-') && option.contains(*part);
    field.start().starts_with(['.', '/', '~']) || option == FOLDER || OF_PATHS.iter().any(long)
}

/// Whether the first operand is what is asked for, also where it is the only one: no option says that.
fn asks(name: &str, scan: &Scan<'_>) -> bool {
    ASKERS.contains(&name) && !scan.options.iter().any(|given| ASKED.contains(&given.name.as_str()))
}

/// Whether the operands of a program may be what it changes.
fn changes_operands(rule: &Rule) -> bool {
    !matches!(rule.touches, Operands::None | Operands::Read | Operands::FirstNone)
}

/// Whether an option makes a program change files that no word of the line names.
fn writes_untold(rule: &Rule, scan: &Scan<'_>) -> bool {
    // These say themselves whether all that they change is named.
    if matches!(rule.check, Some(Check::Tar | Check::Zip | Check::Temporary)) {
        return false;
    }
    // These look themselves at what such options change.
    let looked_at = matches!(
        rule.check,
        Some(Check::Sed | Check::InPlace | Check::Find | Check::Fd | Check::Curl | Check::Wget | Check::Httpie)
    );
    let writes = |given: &Given| {
        let listed = rule.hurts.get(&Verdict::Write).into_iter().flat_map(|names| names.split_ascii_whitespace());
        given.value.is_none() && listed.filter(|name| !name.ends_with([':', '?'])).any(|name| same(name, &given.name))
    };
    // Without an operand it changes what it finds out by itself: `patch -r a.rej`.
    let no_operand = rule.touches == Operands::Write && scan.operands.is_empty();
    no_operand || (!looked_at && !changes_operands(rule) && scan.options.iter().any(writes))
}

/// Whether a program that may change its operands does.
fn rewrites(rule: &Rule, scan: &Scan<'_>) -> bool {
    let given = |list: &str| {
        // One with a value names a file for a report.
        let flags = || list.split_ascii_whitespace().filter(|option| !option.ends_with(':'));
        let listed = |given: &Given| flags().any(|option| same(option, &given.name));
        scan.options.iter().any(listed)
    };
    match rule.hurts.get(&Verdict::Write) {
        Some(options) => given(options),
        None => !given(&rule.only_with),
    }
}

/// Whether an operand of a program says that it talks to another machine: a goal, with or without the project that it is for
/// (`deploy`, `:lib:publish`).
fn is_sent(rule: &Rule, word: &str) -> bool {
    let goal = word.rsplit(':').next();
    rule.sends.split_whitespace().any(|sends| sends == "*" || sends == word || Some(sends) == goal)
}

/// What a program that asks a service sends, where that is not in the line itself.
fn asked(rule: &Rule, args: &[Field]) -> Option<Finding> {
    let local =
        args.iter().find(|field| rule.network && rule.does == Verdict::Read && field.bits.iter().any(is_local))?;
    Some(Finding::new(Verdict::Send, "what is asked is made at run time, of local data", local.span))
}

/// Whether a piece of a word may hold data of this machine.
fn is_local(bit: &Bit) -> bool {
    bit.is_made() || matches!(bit, Bit::Tame | Bit::Glob | Bit::Plain | Bit::Here)
}

/// Whether a value switches its option off.
fn is_off(value: &str) -> bool {
    matches!(value.to_ascii_lowercase().as_str(), "false" | "f" | "no" | "off")
}

fn reason(name: &str, rule: &Rule, verdict: Verdict) -> String {
    if rule.because.is_empty() {
        match verdict {
            Verdict::Read => format!("`{name}` only reads"),
            Verdict::Unknown => format!("`{name}` is not known to only read"),
            _ => format!("`{name}` {}", does(verdict)),
        }
    } else {
        rule.because.clone()
    }
}

/// An option as it is written.
fn shown(given: &Given) -> String {
    let dashes = if given.name.chars().count() == 1 { "-" } else { "--" };
    format!("{dashes}{}", given.name)
}

/// One operand too many.
fn excess(rule: &Rule, scan: &Scan<'_>) -> Option<Finding> {
    let most = usize::try_from(rule.operands?).unwrap_or(usize::MAX);
    let verdict = rule.beyond.unwrap_or(Verdict::Write);
    if let Some(extra) = scan.operands.get(most) {
        return Some(Finding::new(verdict, "one operand too many to only read", extra.span));
    }
    let open = scan.operands.iter().find(|field| field.many)?;
    Some(Finding::new(verdict, "a word that may become several operands", open.span))
}

/// Where the command of a program that dispatches stands among its arguments.
fn command_place(rule: &Rule, args: &[Field]) -> usize {
    let mut at = 0;
    while let Some(field) = args.get(at) {
        let option = match field.bits.first() {
            Some(Bit::Text(text)) => text.starts_with('-') && text != "-",
            _ => false,
        };
        if !option {
            return at;
        }
        // The option with its value: whatever one more word would not change is the option alone.
        let alone = scan(rule, args.get(at..at.saturating_add(1)).unwrap_or(&[]));
        let pair = scan(rule, args.get(at..at.saturating_add(2)).unwrap_or(&[]));
        let takes = alone.operands.is_empty()
            && pair.operands.is_empty()
            && alone.options.len() == pair.options.len()
            && pair.options.last().is_some_and(|given| given.value.is_some())
            && alone.options.last().is_some_and(|given| given.value.is_none());
        at = at.saturating_add(if takes { 2 } else { 1 });
    }
    at.min(args.len())
}

/// Whether an option that the program's entry does not list may take the word after it for its value.
fn may_take_more(rule: &Rule, before: &[Field], scan: &Scan<'_>) -> bool {
    let attached = |given: &Given| before.iter().any(|field| field.span == given.span && field.start().contains('='));
    let is_flag = |name: &str| FLAGS.contains(&name) || name.starts_with("no-");
    scan.options.iter().any(|given| !lists(rule, &given.name) && !is_flag(&given.name) && !attached(given))
}
