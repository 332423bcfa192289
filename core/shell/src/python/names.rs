//! Names that need no import, and attributes: which change nothing, whatever has them.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::modules::{self, Use};

/// Builtins that change nothing, whatever they are given.
const FREE: [&str; 66] = [
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "complex",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "exit",
    "filter",
    "float",
    "format",
    "frozenset",
    "hash",
    "hex",
    "id",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "map",
    "max",
    "min",
    "next",
    "oct",
    "ord",
    "pow",
    "quit",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "slice",
    "sorted",
    "str",
    "sum",
    "tuple",
    "zip",
    "Ellipsis",
    "NotImplemented",
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "EOFError",
    "Exception",
    "ImportError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "OSError",
    "StopIteration",
    "SystemExit",
    "UnicodeDecodeError",
    "ValueError",
    "ZeroDivisionError",
];
const ERRORS: [&str; 14] = [
    "FileNotFoundError",
    "FloatingPointError",
    "IOError",
    "IsADirectoryError",
    "LookupError",
    "MemoryError",
    "ModuleNotFoundError",
    "NameError",
    "NotADirectoryError",
    "NotImplementedError",
    "PermissionError",
    "RecursionError",
    "TypeError",
    "UnicodeError",
];

/// Builtins that a text must not give a value to: where it does not after all, the builtin would be called.
const RESERVED: [&str; 20] = [
    "breakpoint",
    "classmethod",
    "compile",
    "delattr",
    "eval",
    "exec",
    "execfile",
    "getattr",
    "globals",
    "hasattr",
    "help",
    "input",
    "locals",
    "open",
    "print",
    "property",
    "reload",
    "setattr",
    "type",
    "vars",
];
/// Builtins of Python 2 that `python` may have.
const OLD: [&str; 3] = ["apply", "file", "raw_input"];

/// Attributes that change nothing but values of the text itself, whatever they are called with and whoever has them.
const ATTRIBUTES: &str = "\
    __doc__ __file__ __name__ __version__ absolute add add_note append appendleft args arg argv as_posix asdict attrib \
    attr bases bit_length body buffer capitalize casefold cause center clear close col_offset colno columns combine copy \
    count cwd date day days decode decompress default_factory decorator_list default dialect difference digest discard \
    doc elements elts encode encoding end end_lineno endpos endswith errno exists expandtabs expanduser extend \
    extendleft extractfile fieldnames filename file_size filter find findall finditer findtext fill flags flush fragment \
    frombytes fromhex from_bytes from_iterable fromisoformat fromkeys fromordinal fromtimestamp fullmatch func get \
    getinfo getmember getmembers getmessage getnames getroot getvalue get_close_matches get_matching_blocks \
    get_opcodes glob group groupdict groupindex groups has_option has_section hex hexdigest home hostname hour id \
    imag index infolist insert intersection isalnum isalpha isascii isatty isdecimal isdigit isdir isdisjoint isfile \
    isidentifier islower isnumeric isocalendar isoformat isoweekday isspace issubset issuperset istitle isupper \
    is_absolute is_dir is_file is_integer is_relative_to is_symlink items iter iterdir itertext iter_errors \
    join joinpath keys keywords lastgroup lastindex level line lineno line_num ljust lower lstat lstrip machine major \
    maketrans mark match max maxsplit metadata micro microsecond min minor minute mode module month most_common netloc \
    move_to_end msg mtime name namelist names new_child node nodename now numerator denominator op options \
    ops operands optional origin orelse parent parents parts partition path pattern peek pop popitem popleft port pos problem \
    problem_mark query quick_ratio ratio raw_decode read read1 readable readline readlines readlink read_bytes read_file \
    read_string read_text real reason reconfigure relative_to release releaselevel remove removeprefix removesuffix \
    requires resolve returncode returns reverse rfind rglob rindex rjust rotate rpartition rsplit rstrip samefile scheme \
    search second seconds sections seek seekable serial setdefault size slice sniff sort span split splitlines sqrt \
    start startswith stat stem step stop strerror strftime strip strptime st_atime st_ctime st_gid st_ino st_mode \
    st_mtime st_nlink st_size st_uid sub subn submodule_search_locations subtract suffix suffixes sum swapcase symmetric_difference sysname \
    tag tail target targets tell text time timestamp timetuple title to_bytes today total total_seconds toordinal \
    translate type tzinfo union update upper utcnow utcoffset value values version walk weekday with_name with_suffix \
    with_stem writable writeheader writerow writerows year zfill";

/// Attributes of paths that read what the path names.
const READING: [&str; 17] = [
    "exists",
    "glob",
    "is_dir",
    "is_file",
    "is_symlink",
    "iterdir",
    "lstat",
    "open",
    "read_bytes",
    "read_text",
    "readlink",
    "resolve",
    "rglob",
    "samefile",
    "stat",
    "walk",
    "expanduser",
];

/// How a builtin may be used; `None` for a name that is none, or that may not.
pub(super) fn builtin(name: &str) -> Option<Use> {
    if FREE.contains(&name) || ERRORS.contains(&name) { Some(Use::Free) } else { modules::usage(name) }
}

/// Whether a text must not give the name a value.
pub(super) fn is_reserved(name: &str) -> bool {
    RESERVED.contains(&name) || name.starts_with("__")
}

/// Whether Python 2 has a builtin of that name that does more than read.
pub(super) fn is_old(name: &str) -> bool {
    OLD.contains(&name)
}

/// Whether an attribute is harmless, whoever has it.
pub(super) fn is_harmless(attribute: &str) -> bool {
    static ALL: OnceLock<BTreeSet<&str>> = OnceLock::new();
    ALL.get_or_init(|| ATTRIBUTES.split_ascii_whitespace().collect()).contains(attribute)
}

/// Whether an attribute of a path reads what the path names.
pub(super) fn is_reading(attribute: &str) -> bool {
    READING.contains(&attribute)
}
