//! `find` and `fd`: tests are harmless, actions are not.

pub(super) mod bounds;

use phasegate_core::calls::analysis::{Access, Verdict};

use self::bounds::Bounds;
use super::command::Command;
use crate::expand::field::{Bit, Field};
use crate::finding::{Finding, keep_worse};
use crate::walk::Walk;

/// Primaries without a value.
const BARE: &str = "-H -L -P -E -X -d -s -x -f -daystart -depth -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev \
    -noleaf -warn -nowarn -empty -executable -readable -writable -nouser -nogroup -true -false -prune -print -print0 -ls -quit \
    -not -a -and -o -or ! ( ) , -help --help -version --version -O0 -O1 -O2 -O3 -xattr -acl";
/// Primaries with one value.
const VALUED: &str = "-maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname \
    -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -path -perm -regex -samefile -size -type -uid -used \
    -user -wholename -xtype -context -printf -files0-from -D -Bmin -Btime -flags -newerBB -depth";

/// `find`
pub(super) fn find(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let mut worst = Finding::new(Verdict::Read, "", command.span);
    let mut starts: Vec<&Field> = Vec::new();
    let mut bounds = Bounds::default();
    let (mut at, mut expression) = (0, false);
    while let Some(field) = command.args.get(at) {
        at = at.saturating_add(1);
        let Some(word) = field.known() else {
            if (field.may_be_option() && !is_path(field)) || expression {
                let because = "a word that could be an action of `find`";
                keep_worse(&mut worst, Finding::new(Verdict::Unknown, because, field.span));
            }
            starts.push(field);
            continue;
        };
        let leads = matches!(word, "-H" | "-L" | "-P" | "-O0" | "-O1" | "-O2" | "-O3");
        expression |= (word.starts_with('-') && !leads) || matches!(word, "(" | ")" | "!" | ",");
        if contains(BARE, word) {
            bounds.operator(word);
            continue;
        }
        if contains(VALUED, word) || word.starts_with("-newer") {
            if let Some(value) = command.args.get(at) {
                bounds.test(word, value);
                if may_be_several(value) {
                    let because = "a word that may become several, one of them an action of `find`";
                    keep_worse(&mut worst, Finding::new(Verdict::Unknown, because, value.span));
                }
            }
            at = at.saturating_add(1);
            continue;
        }
        match word {
            "-delete" => {
                keep_worse(&mut worst, Finding::new(Verdict::Write, "`-delete` deletes files", field.span));
                bounds.touch(walk, &starts, Access::Remove);
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                keep_worse(&mut worst, Finding::new(Verdict::Write, format!("`{word}` writes a file"), field.span));
                command.args.get(at).into_iter().for_each(|file| walk.touch(file, Access::Write));
                at = at.saturating_add(if word == "-fprintf" { 2 } else { 1 });
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = command.args.get(at..).unwrap_or(&[]);
                let length = command_length(rest);
                let before = walk.touches().len();
                keep_worse(&mut worst, inner(walk, word, rest, length, command));
                if let Some(access) = worst_access(walk, before) {
                    bounds.touch(walk, &starts, access);
                }
                at = at.saturating_add(length).saturating_add(1);
            }
            _ if expression => {
                let because = format!("`{word}` is not known to be a test of `find`");
                keep_worse(&mut worst, Finding::new(Verdict::Unknown, because, field.span));
            }
            _ => starts.push(field),
        }
    }
    starts.into_iter().for_each(|start| walk.touch(start, Access::Read));
    Some(worst)
}

/// The worst that is done, among the paths noted since, to what was found: a path that is not wholly known.
fn worst_access(walk: &Walk<'_>, before: usize) -> Option<Access> {
    let added = walk.touches().get(before..).unwrap_or(&[]).iter().filter(|touch| touch.path.text().is_none());
    let added: Vec<_> = added.collect();
    [Access::Remove, Access::Write, Access::Read]
        .into_iter()
        .find(|access| added.iter().any(|touch| touch.access == *access))
}

/// Whether a word has a sign that no action of `find` has.
fn is_path(field: &Field) -> bool {
    let split = field.many && field.bits.iter().any(Bit::is_open);
    !split && field.bits.iter().any(|bit| matches!(bit, Bit::Text(text) if text.contains(['/', '.'])))
}

/// Whether a word may become several of which one could be any text.
fn may_be_several(field: &Field) -> bool {
    field.many && (field.bits.iter().any(Bit::is_open) || field.bits.iter().all(|bit| *bit == Bit::Glob))
}

fn contains(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

/// How many words belong to the command of an action.
fn command_length(rest: &[Field]) -> usize {
    let mut before = "";
    for (at, field) in rest.iter().enumerate() {
        let word = field.known().unwrap_or("");
        if word == ";" || (word == "+" && before == "{}") {
            return at;
        }
        before = word;
    }
    rest.len()
}

/// A word that could be `;` before words that `find` would then take for an action.
fn early_end(words: &[Field]) -> Option<&Field> {
    let action = |field: &Field| {
        field.known().map_or_else(|| field.may_be_option(), |word| !contains(BARE, word) && word.starts_with('-'))
    };
    let acts = words.iter().rposition(action)?;
    words.iter().take(acts).find(|field| field.known().is_none() && field.to_pattern().could_be(";", None))
}

/// The command of an action, whose words are the first of `rest`.
fn inner(walk: &mut Walk<'_>, action: &str, rest: &[Field], length: usize, command: &Command<'_>) -> Finding {
    let words = rest.get(..length).unwrap_or(rest);
    if let Some(open) = early_end(words) {
        let because = "a word that could end the command, so that an action of `find` follows";
        return Finding::new(Verdict::Unknown, because, open.span);
    }
    let several = rest.get(length).and_then(Field::known) == Some("+");
    let found = |field: &Field| {
        let mut made = field.with_mark("{}", &Bit::Plain);
        made.many |= several && field.known() == Some("{}");
        made
    };
    let fields: Vec<Field> = words.iter().map(found).collect();
    let folders = walk.scope.folders.clone();
    if action.ends_with("dir") {
        // It runs in the folder of what was found.
        walk.scope.lose_folder();
    }
    let finding = walk.wrapped(&fields, command.span);
    walk.scope.folders = folders;
    finding
}

/// The arguments of `fd` up to the command that it runs.
pub(crate) fn before_exec(args: &[Field]) -> &[Field] {
    let at = args.iter().position(is_exec).unwrap_or(args.len());
    args.get(..at).unwrap_or(args)
}

fn is_exec(field: &Field) -> bool {
    matches!(field.known(), Some("-x" | "-X" | "--exec" | "--exec-batch"))
}

/// `fd`
pub(super) fn fd(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    let rest = command.args.get(before_exec(command.args).len()..)?;
    let (option, rest) = rest.split_first()?;
    let mut fields = rest.to_vec();
    let marked = fields.iter().any(|field| field.start().contains('{'));
    for mark in ["{}", "{/}", "{//}", "{.}", "{/.}"] {
        fields = fields.iter().map(|field| field.with_mark(mark, &Bit::Any)).collect();
    }
    if !marked {
        fields.push(Field::any(option.span));
    }
    Some(walk.wrapped(&fields, command.span))
}

/// `chmod`
pub(super) fn recursive(walk: &mut Walk<'_>, command: &Command<'_>) -> Option<Finding> {
    if command.has(&["R", "recursive"]) {
        command.scan.operands.iter().for_each(|folder| walk.touch(&bounds::below(folder), Access::Write));
    }
    None
}
