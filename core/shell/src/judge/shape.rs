//! What the output of a substitution can be, by the program that prints it.

use crate::field::Bit;
use crate::tree::{Command, List, Piece, Simple, Word};

/// What a substitution stands for, by the last program in it.
pub(crate) fn shape(piece: &Piece) -> Bit {
    let Piece::Command { list, .. } = piece else { return Bit::Any };
    let Some(simple) = last_simple(list) else { return Bit::Any };
    let words: Option<Vec<String>> = simple.words.iter().map(|word| word.literal().map(|(text, _)| text)).collect();
    let first = simple.words.first().and_then(Word::literal).map(|(text, _)| text);
    match (first.as_deref(), words) {
        (Some(program @ ("realpath" | "readlink")), _) => {
            let options: Vec<String> = simple
                .words
                .iter()
                .skip(1)
                .filter_map(|word| word.literal().map(|(text, _)| text))
                .filter(|text| text.starts_with('-'))
                .collect();
            let absolute = options.iter().all(|option| matches!(option.as_str(), "-f" | "-e" | "-m" | "--"));
            let follows = program == "realpath" || options.iter().any(|option| option != "--");
            if absolute && follows && options.len() < simple.words.len() { Bit::Plain } else { Bit::Any }
        }
        (Some(program), Some(words)) => known_shape(program, words.get(1..).unwrap_or(&[])),
        _ => Bit::Any,
    }
}

fn known_shape(program: &str, args: &[String]) -> Bit {
    let options_only = args.iter().all(|arg| arg.starts_with('-'));
    let numbers_only = args.iter().all(|arg| arg.parse::<i64>().is_ok());
    let plain_names = !args.is_empty() && args.iter().all(|arg| !arg.contains(['/', '-']));
    match program {
        "wc" if options_only && !args.is_empty() => Bit::Number,
        "seq" if numbers_only => Bit::Number,
        "nproc" if options_only => Bit::Number,
        "id" if matches!(args, [arg] if arg == "-u" || arg == "-g") => Bit::Number,
        "date" => match args {
            [format] if matches!(format.as_str(), "+%s" | "+%Y" | "+%s%N") => Bit::Number,
            [format]
                if format.starts_with('+') && !format.starts_with("+-") && !format.contains(char::is_whitespace) =>
            {
                Bit::Plain
            }
            _ => Bit::Any,
        },
        "pwd" | "whoami" | "tty" | "arch" | "logname" | "hostname" if options_only => Bit::Plain,
        "uname"
            if matches!(args, [arg] if matches!(arg.as_str(), "-r" | "-m" | "-s" | "-n" | "-p")) || args.is_empty() =>
        {
            Bit::Plain
        }
        "which" if plain_names => Bit::Plain,
        "command" if matches!(args, [option, name] if option == "-v" && !name.contains(['/', '-'])) => Bit::Plain,
        "type" if matches!(args, [option, name] if option == "-p" && !name.contains(['/', '-'])) => Bit::Plain,
        // Hashes.
        "git" if matches!(args, [command, ..] if command == "merge-base") && args.len() > 1 => Bit::Plain,
        "git" if matches!(args, [command, ..] if command == "rev-parse") && args.len() > 1 => {
            let plain = |arg: &String| {
                matches!(
                    arg.as_str(),
                    "--show-toplevel" | "HEAD" | "--short" | "--abbrev-ref" | "--git-dir" | "--verify"
                )
            };
            if args.iter().skip(1).all(plain) { Bit::Plain } else { Bit::Any }
        }
        _ => Bit::Any,
    }
}

/// The command whose output a list's output is, where there is one.
fn last_simple(list: &List) -> Option<&Simple> {
    let [item] = list.items.as_slice() else { return None };
    let [pipeline] = item.pipelines.as_slice() else { return None };
    match pipeline.commands.last()? {
        Command::Simple(simple) if simple.assignments.is_empty() => Some(simple),
        _ => None,
    }
}
