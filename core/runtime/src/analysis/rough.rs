//! The words of a line that cannot be parsed, as far as they are file name patterns.

use phasegate_shell::{Pattern, Piece};

/// The signs that a shell with extended patterns reads as part of one where a bracket follows.
const EXTENDED: [char; 5] = ['?', '*', '+', '@', '!'];

/// The words that are patterns. A sign before brackets stands for any name, also for one that begins with a dot where the
/// line says so.
pub(super) fn patterns(line: &str) -> Vec<Pattern> {
    let dots = ["dotglob", "globdots", "glob_dots", "GLOBIGNORE"].iter().any(|word| line.contains(word));
    // `**/` stands for no folder, too.
    let flat = line.contains("globstar").then(|| line.replace("**/", "").replace("globstar", ""));
    let flat = flat.map(|line| patterns(&line)).unwrap_or_default();
    let mut words = vec![Vec::new()];
    let mut signs = line.chars().peekable();
    while let Some(sign) = signs.next() {
        let Some(word) = words.last_mut() else { break };
        match sign {
            '\'' | '"' => {}
            '\\' => signs.next().into_iter().for_each(|next| text(word, next)),
            _ if EXTENDED.contains(&sign) && signs.peek() == Some(&'(') => {
                let inside = bracket(&mut signs);
                let dotted = dots || inside.starts_with("(.") || inside.contains("|.");
                word.push(if dotted { Piece::Tree } else { Piece::Glob });
            }
            '*' | '?' | '[' => {
                if sign == '[' {
                    to_bracket_end(&mut signs);
                }
                word.push(if dots { Piece::Tree } else { Piece::Glob });
            }
            '~' if word.is_empty() => word.push(Piece::Home),
            _ if sign.is_whitespace() || ";&|<>()`".contains(sign) => words.push(Vec::new()),
            _ => text(word, sign),
        }
    }
    let open = |piece: &Piece| matches!(piece, Piece::Glob | Piece::Tree);
    words.into_iter().filter(|word| word.iter().any(open)).map(Pattern).chain(flat).collect()
}

/// Passes over the rest of a bracket, with the classes in it (`[:alpha:]`).
fn to_bracket_end(signs: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    let (mut first, mut class) = (true, false);
    while let Some(sign) = signs.next() {
        let opens = sign == '[' && signs.peek().is_some_and(|next| ":=.".contains(*next));
        let ends_class = class && ":=.".contains(sign) && signs.peek() == Some(&']');
        if opens || ends_class {
            class = opens;
            signs.next();
        } else if sign == ']' && !first && !class {
            return;
        } else if sign == '\\' {
            signs.next();
        }
        first = first && matches!(sign, '!' | '^');
    }
}

fn text(word: &mut Vec<Piece>, sign: char) {
    match word.last_mut() {
        Some(Piece::Text(last)) => last.push(sign),
        _ => word.push(Piece::Text(sign.to_string())),
    }
}

/// What stands in brackets, with the one that opens them.
fn bracket(signs: &mut impl Iterator<Item = char>) -> String {
    let mut inside = String::new();
    let mut depth = 0;
    for sign in signs {
        depth += i32::from(sign == '(') - i32::from(sign == ')');
        if depth == 0 {
            break;
        }
        inside.push(sign);
    }
    inside
}
