//! Calls whose arguments decide.

use super::doubt::Doubt;
use super::judge::Judge;
use super::modules::Use;
use super::names;
use super::scope::Named;
use super::tree::{Argument, Expr, Kind, Role};

/// Modes in which a file or an archive is opened to be read.
const MODES: [&str; 12] = ["r", "rb", "br", "rt", "tr", "r:", "r:*", "r:gz", "r:bz2", "r:xz", "r|*", "r|gz"];
/// Further arguments of `open` and its like.
const OPEN_KEYWORDS: [&str; 8] = ["encoding", "errors", "newline", "buffering", "file", "filename", "name", "fileobj"];
/// What a date can have replaced.
const DATE_KEYWORDS: [&str; 9] = ["year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo", "fold"];
const PRINT_KEYWORDS: [&str; 3] = ["sep", "end", "flush"];
/// Loaders of plain values.
const LOADERS: [&str; 3] = ["yaml.SafeLoader", "yaml.CSafeLoader", "yaml.BaseLoader"];

impl Judge<'_, '_> {
    pub(super) fn guarded(&mut self, name: &str, guard: Use, arguments: &[Argument]) -> Result<(), Doubt> {
        let doubt = |what: &str| Err(Doubt::new(format!("`{name}` {what}")));
        if arguments.iter().any(is_spread) && guard != Use::Print {
            return doubt("is called with arguments that are made at run time");
        }
        match guard {
            Use::Open => {
                if !opens_to_read(arguments, 1) {
                    return doubt("may open a file to write");
                }
                match positional(arguments, 0).or_else(|| keyword(arguments, &["file", "filename", "name"])) {
                    Some(path) => self.reads.add(self.scope.paths(path)),
                    None => self.reads.anything = true,
                }
                self.arguments(arguments)
            }
            Use::Print => {
                for argument in arguments {
                    let fits = match &argument.role {
                        Role::Positional => true,
                        Role::Keyword(name) if name == "file" => self.is_output(&argument.value),
                        Role::Keyword(name) => PRINT_KEYWORDS.contains(&name.as_str()),
                        Role::Spread => true,
                        // One could be `file`.
                        Role::NamedSpread => false,
                    };
                    if !fits {
                        return doubt("may print to a file");
                    }
                }
                self.all_shown(arguments)
            }
            Use::Stream(place) => {
                let streams = ["fp", "stream", "csvfile", "f"];
                let stream = positional(arguments, place).or_else(|| keyword(arguments, &streams));
                if !stream.map_or(place > 0 && name != "json.dump", |stream| self.is_output(stream)) {
                    return doubt("may write to a file");
                }
                self.arguments(arguments)
            }
            Use::Find => match arguments {
                [Argument { role: Role::Positional, value: Expr { kind: Kind::Text(Some(text)), .. }, .. }]
                    if !text.contains('.') =>
                {
                    Ok(())
                }
                _ => doubt("may import a module"),
            },
            Use::Load => {
                let loader = positional(arguments, 1).or_else(|| keyword(arguments, &["Loader"]));
                let plain = |loader: &Expr| matches!(self.scope.named(loader), Some(Named::Thing(name)) if LOADERS.contains(&name.as_str()));
                if !loader.is_some_and(plain) {
                    return doubt("may run what a file names");
                }
                self.arguments(arguments)
            }
            _ => doubt("is used in another way than to only read"),
        }
    }

    /// A method, by its name.
    pub(super) fn method(&mut self, base: &Expr, name: &str, arguments: &[Argument]) -> Result<(), Doubt> {
        let of_module =
            matches!(self.scope.named(base), Some(Named::Thing(thing)) if names::builtin(&thing) == Some(Use::Class));
        let fits = match name {
            "write" | "writelines" => self.is_output(base),
            // A path has one argument here, the class of paths has two.
            "replace" if self.scope.has_paths() => {
                let dates = |argument: &Argument| matches!(&argument.role, Role::Keyword(name) if DATE_KEYWORDS.contains(&name.as_str()));
                let of_text =
                    arguments.len() >= 2 && arguments.iter().all(|argument| argument.role == Role::Positional);
                !of_module && (of_text || arguments.iter().all(dates))
            }
            "replace" => true,
            "copy" => arguments.is_empty(),
            "open" => positional(arguments, 1).is_none() && opens_to_read(arguments, 0),
            "format" => matches!(&base.kind, Kind::Text(Some(text)) if is_plain_format(text)),
            _ => names::is_harmless(name),
        };
        if !fits {
            return Err(Doubt::new(format!("the method `{name}` is not known to only read")));
        }
        if names::is_reading(name) {
            self.reads.add(self.scope.paths(base));
        }
        if name == "read" && arguments.iter().any(|argument| !matches!(argument.value.kind, Kind::Constant)) {
            self.reads_first(arguments);
        }
        match name {
            "write" | "writelines" => {}
            "join" => {
                self.base(base, name)?;
                return self.all_listed(arguments);
            }
            _ => self.base(base, name)?,
        }
        self.arguments(arguments)
    }

    /// Whether a value is the standard output or error.
    fn is_output(&self, expr: &Expr) -> bool {
        let stream = match &expr.kind {
            Kind::Attribute(base, name) if name == "buffer" => base,
            _ => expr,
        };
        matches!(self.scope.named(stream), Some(Named::Thing(name)) if matches!(name.as_str(), "sys.stdout" | "sys.stderr"))
    }
}

fn positional(arguments: &[Argument], place: usize) -> Option<&Expr> {
    let mut all = arguments.iter().filter(|argument| argument.role == Role::Positional);
    all.nth(place).map(|argument| &argument.value)
}

fn keyword<'a>(arguments: &'a [Argument], names: &[&str]) -> Option<&'a Expr> {
    let named = |argument: &&Argument| matches!(&argument.role, Role::Keyword(name) if names.contains(&name.as_str()));
    arguments.iter().find(named).map(|argument| &argument.value)
}

/// Whether the mode, at that place among the arguments or by its name, is one to read, and nothing else is odd.
fn opens_to_read(arguments: &[Argument], place: usize) -> bool {
    let of_mode = |mode: &Expr| matches!(&mode.kind, Kind::Text(Some(mode)) if MODES.contains(&mode.as_str()));
    let fits = |argument: &Argument| match &argument.role {
        Role::Positional => true,
        Role::Keyword(name) if name == "mode" => of_mode(&argument.value),
        Role::Keyword(name) => OPEN_KEYWORDS.contains(&name.as_str()),
        Role::Spread | Role::NamedSpread => false,
    };
    let few = arguments.iter().filter(|argument| argument.role == Role::Positional).count() <= 6;
    few && positional(arguments, place).is_none_or(of_mode) && arguments.iter().all(fits)
}

/// Whether a format gets at nothing inside of its values (`{0.attribute}`, `{0[key]}`).
fn is_plain_format(text: &str) -> bool {
    text.split('{').skip(1).all(|part| {
        let field = part.split(['}', ':', '!']).next().unwrap_or(part);
        !field.contains(['.', '['])
    })
}

fn is_spread(argument: &Argument) -> bool {
    matches!(argument.role, Role::Spread | Role::NamedSpread)
}
