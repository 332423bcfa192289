//! `find` and `fd`: tests are harmless, actions are not.

use phasegate_core::tool::{Access, Verdict};

use super::Command;
use crate::field::{Bit, Field};
use crate::judge::{Finding, Walk, keep_worse};

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
    let mut at = 0;
    let mut expression = false;
    while let Some(field) = command.args.get(at) {
        at = at.saturating_add(1);
        let Some(word) = field.known() else {
            if field.may_be_option() || expression {
                keep_worse(
                    &mut worst,
                    Finding::new(Verdict::Unknown, "a word that could be an action of `find`", field.span),
                );
            }
            starts.push(field);
            continue;
        };
        expression |= word.starts_with('-') || matches!(word, "(" | ")" | "!" | ",");
        if contains(BARE, word) {
            continue;
        }
        if contains(VALUED, word) || word.starts_with("-newer") {
            at = at.saturating_add(1);
            continue;
        }
        match word {
            "-delete" => {
                keep_worse(&mut worst, Finding::new(Verdict::Write, "`-delete` deletes files", field.span));
                touch_below(walk, &starts);
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                keep_worse(&mut worst, Finding::new(Verdict::Write, format!("`{word}` writes a file"), field.span));
                if let Some(file) = command.args.get(at) {
                    walk.touch(file, Access::Write);
                }
                at = at.saturating_add(if word == "-fprintf" { 2 } else { 1 });
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let rest = command.args.get(at..).unwrap_or(&[]);
                let length = command_length(rest);
                keep_worse(&mut worst, inner(walk, rest.get(..length).unwrap_or(rest), command));
                at = at.saturating_add(length).saturating_add(1);
            }
            _ if expression => {
                let because = format!("`{word}` is not known to be a test of `find`");
                keep_worse(&mut worst, Finding::new(Verdict::Unknown, because, field.span));
            }
            _ => starts.push(field),
        }
    }
    for start in starts {
        walk.touch(start, Access::Read);
    }
    Some(worst)
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

fn inner(walk: &mut Walk<'_>, fields: &[Field], command: &Command<'_>) -> Finding {
    let fields: Vec<Field> = fields.iter().map(|field| field.with_mark("{}", &Bit::Plain)).collect();
    walk.wrapped(&fields, command.span)
}

fn touch_below(walk: &mut Walk<'_>, starts: &[&Field]) {
    if starts.is_empty() {
        walk.touch(&Field { bits: vec![Bit::Any], many: false, span: (0, 0) }, Access::Remove);
    }
    for start in starts {
        let mut below = (*start).clone();
        below.bits.push(Bit::Any);
        walk.touch(&below, Access::Remove);
    }
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
