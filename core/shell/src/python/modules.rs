//! Modules of Python's own library whose functions only read, and which.

use std::collections::BTreeMap;
use std::sync::OnceLock;

/// How something of a module or a builtin may be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Anywhere: whatever it is given, it changes nothing.
    Free,
    /// Anywhere; its first argument is a path that it reads.
    Reads,
    /// In a call: opens a file, in a mode.
    Open,
    /// In a call: prints, to a stream.
    Print,
    /// In a call: its argument at this place is a stream.
    Stream(usize),
    /// In a call, or before an attribute: a method of the class itself could change files.
    Class,
    /// In a call with one argument, whose result is shown or compared at once: a class could make files.
    Type,
    /// In a call: a name without dots.
    Find,
    /// In a call: with a loader of plain values.
    Load,
    /// Where it is shown or gone through: who changes it changes what `import` finds.
    SearchPath,
}

struct Module {
    name: &'static str,
    free: &'static str,
    reads: &'static str,
}

const fn free(name: &'static str, free: &'static str) -> Module {
    Module { name, free, reads: "" }
}

/// What changes nothing. Of those, no function calls `write` of a thing that it is given, makes a class of a text, gets an
/// attribute by its name, or runs a program.
static MODULES: &[Module] = &[
    free(
        "ast",
        "parse literal_eval dump walk unparse get_docstring iter_child_nodes get_source_segment \
         AST Module Expr FunctionDef AsyncFunctionDef ClassDef Assign AnnAssign AugAssign Call Name Attribute Constant Str \
         Import ImportFrom Return If For While With Try Raise Assert Dict List Tuple Set Subscript BinOp Compare Lambda \
         JoinedStr arg keyword alias",
    ),
    free(
        "base64",
        "b64encode b64decode urlsafe_b64encode urlsafe_b64decode b32encode b32decode b16encode b16decode \
         standard_b64encode standard_b64decode a85encode a85decode b85encode b85decode",
    ),
    free("binascii", "hexlify unhexlify crc32 b2a_hex a2b_hex a2b_base64 b2a_base64 Error"),
    free("bisect", "bisect bisect_left bisect_right insort"),
    free("collections", "Counter defaultdict OrderedDict deque ChainMap"),
    free("collections.abc", "Mapping Sequence Iterable Iterator Callable Set Hashable"),
    free("configparser", "ConfigParser RawConfigParser Error"),
    free("csv", "reader DictReader field_size_limit Sniffer QUOTE_ALL QUOTE_MINIMAL QUOTE_NONE QUOTE_NONNUMERIC Error"),
    free("datetime", "datetime date time timedelta timezone UTC"),
    free("decimal", "Decimal ROUND_HALF_UP ROUND_HALF_EVEN ROUND_DOWN"),
    free("difflib", "unified_diff context_diff ndiff SequenceMatcher get_close_matches"),
    free("errno", "errorcode ENOENT EACCES EEXIST"),
    free("fnmatch", "fnmatch fnmatchcase filter translate"),
    free("fractions", "Fraction"),
    free("functools", "reduce partial cmp_to_key"),
    Module { name: "glob", free: "escape", reads: "glob iglob" },
    free("gzip", "decompress compress"),
    free(
        "hashlib",
        "md5 sha1 sha224 sha256 sha384 sha512 sha3_256 sha3_512 blake2b blake2s new algorithms_available \
         algorithms_guaranteed",
    ),
    free("heapq", "heapify heappush heappop nlargest nsmallest merge heappushpop"),
    free("html", "escape unescape"),
    free("importlib", ""),
    free("importlib.metadata", "version requires metadata distributions distribution PackageNotFoundError"),
    free("importlib.util", ""),
    free("io", "StringIO BytesIO"),
    free(
        "itertools",
        "accumulate chain combinations combinations_with_replacement compress count cycle dropwhile \
         filterfalse groupby islice pairwise permutations product repeat starmap takewhile tee zip_longest batched",
    ),
    free("json", "load loads dumps JSONDecodeError JSONDecoder JSONEncoder"),
    free("keyword", "kwlist iskeyword softkwlist"),
    free(
        "math",
        "acos acosh asin asinh atan atan2 atanh cbrt ceil comb copysign cos cosh degrees dist e erf erfc exp \
         exp2 expm1 fabs factorial floor fmod frexp fsum gamma gcd hypot inf isclose isfinite isinf isnan isqrt lcm ldexp \
         lgamma log log10 log1p log2 modf nan nextafter perm pi pow prod radians remainder sin sinh sqrt sumprod tan tanh \
         tau trunc ulp",
    ),
    free(
        "operator",
        "itemgetter add sub mul truediv floordiv mod neg eq ne lt le gt ge and_ or_ xor not_ contains countOf",
    ),
    Module {
        name: "os",
        free: "environ getenv getcwd getpid getppid getuid geteuid getgid cpu_count uname name sep linesep pathsep fspath \
               curdir pardir extsep altsep devnull F_OK R_OK W_OK X_OK fsencode fsdecode get_terminal_size getlogin \
               getloadavg PathLike DirEntry",
        reads: "listdir scandir walk stat lstat access readlink",
    },
    Module {
        name: "os.path",
        free: "join basename dirname split splitext normpath isabs commonpath commonprefix expanduser expandvars sep",
        reads: "exists lexists isfile isdir islink ismount getsize getmtime getatime getctime realpath abspath relpath \
                samefile",
    },
    free("pathlib", ""),
    free("platform", "python_version python_version_tuple python_implementation python_build python_compiler"),
    free("posixpath", "join basename dirname split splitext normpath"),
    free("pprint", "pformat"),
    free("random", "random randint choice choices sample shuffle seed uniform randrange gauss Random"),
    free(
        "re",
        "compile search match fullmatch findall finditer split sub subn escape error Pattern Match A ASCII I \
         IGNORECASE M MULTILINE S DOTALL X VERBOSE U UNICODE",
    ),
    free("shlex", "split quote join"),
    free("site", "getsitepackages getusersitepackages getuserbase ENABLE_USER_SITE USER_SITE USER_BASE"),
    free("sqlite3", "sqlite_version sqlite_version_info version"),
    free("ssl", "OPENSSL_VERSION OPENSSL_VERSION_INFO"),
    free("stat", "filemode S_ISDIR S_ISREG S_ISLNK S_IMODE"),
    free(
        "statistics",
        "mean median mode stdev pstdev variance pvariance quantiles fmean geometric_mean harmonic_mean \
         median_low median_high multimode",
    ),
    free(
        "string",
        "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits octdigits punctuation printable \
         whitespace capwords",
    ),
    free("struct", "pack unpack unpack_from calcsize iter_unpack error"),
    free(
        "sys",
        "argv stdin stdout stderr version version_info executable prefix base_prefix exec_prefix platform maxsize \
         maxunicode byteorder exit getsizeof getrecursionlimit setrecursionlimit getdefaultencoding \
         getfilesystemencoding implementation flags float_info int_info hexversion builtin_module_names \
         stdlib_module_names intern api_version",
    ),
    free("textwrap", "dedent indent fill shorten wrap"),
    free(
        "time",
        "time time_ns sleep perf_counter perf_counter_ns monotonic process_time strftime strptime gmtime localtime \
         ctime mktime asctime",
    ),
    free("tomllib", "load loads TOMLDecodeError"),
    free("typing", "Any Callable Dict Iterable Iterator List Mapping Optional Sequence Set Tuple Union"),
    free("unicodedata", "name normalize category lookup combining east_asian_width numeric decimal unidata_version"),
    free("urllib", ""),
    free(
        "urllib.parse",
        "urlparse urlsplit urlunparse urlunsplit urljoin urlencode quote quote_plus unquote unquote_plus \
         parse_qs parse_qsl",
    ),
];

/// Archives, and data in other forms.
static FURTHER: &[Module] = &[
    free("bz2", "decompress compress"),
    free("lzma", "decompress compress"),
    free("tarfile", "is_tarfile TarError ReadError"),
    Module {
        name: "xml.etree.ElementTree",
        free: "fromstring ParseError Element tostring XML",
        reads: "parse iterparse",
    },
    Module { name: "zipfile", free: "BadZipFile", reads: "is_zipfile" },
    free("zlib", "crc32 adler32 compress decompress ZLIB_VERSION"),
    // No part of Python's own library, but as common.
    free("yaml", "safe_load safe_load_all SafeLoader CSafeLoader BaseLoader YAMLError"),
];

/// What may be used in some ways only.
static GUARDED: &[(&str, Use)] = &[
    ("bz2.open", Use::Open),
    ("csv.DictWriter", Use::Stream(0)),
    ("csv.writer", Use::Stream(0)),
    ("gzip.open", Use::Open),
    ("importlib.util.find_spec", Use::Find),
    ("io.open", Use::Open),
    ("json.dump", Use::Stream(1)),
    ("lzma.open", Use::Open),
    ("open", Use::Open),
    ("pathlib.Path", Use::Class),
    ("pathlib.PosixPath", Use::Class),
    ("pathlib.PurePath", Use::Class),
    ("pathlib.PurePosixPath", Use::Class),
    ("pprint.pprint", Use::Stream(1)),
    ("pprint.pp", Use::Stream(1)),
    ("print", Use::Print),
    ("sys.path", Use::SearchPath),
    ("tarfile.open", Use::Open),
    ("type", Use::Type),
    ("yaml.dump", Use::Stream(1)),
    ("yaml.load", Use::Load),
    ("zipfile.ZipFile", Use::Open),
];

/// What may be used of a module.
type Things = BTreeMap<&'static str, Use>;

fn index() -> &'static BTreeMap<&'static str, Things> {
    static INDEX: OnceLock<BTreeMap<&str, Things>> = OnceLock::new();
    INDEX.get_or_init(|| {
        let mut index: BTreeMap<&str, Things> = BTreeMap::new();
        for module in MODULES.iter().chain(FURTHER) {
            let free = module.free.split_ascii_whitespace().map(|name| (name, Use::Free));
            let reads = module.reads.split_ascii_whitespace().map(|name| (name, Use::Reads));
            let own = [("__version__", Use::Free), ("__file__", Use::Free)];
            index.entry(module.name).or_default().extend(free.chain(reads).chain(own));
        }
        for (name, usage) in GUARDED {
            let (module, name) = name.rsplit_once('.').unwrap_or(("", name));
            index.entry(module).or_default().insert(name, *usage);
        }
        index
    })
}

/// Whether a dotted name is a module that may be imported.
pub(super) fn is_module(name: &str) -> bool {
    matches!(name, "xml" | "xml.etree") || (!name.is_empty() && index().contains_key(name))
}

/// How the thing of that name may be used: `json.loads`, or a builtin such as `open`.
pub(super) fn usage(name: &str) -> Option<Use> {
    let (module, name) = name.rsplit_once('.').unwrap_or(("", name));
    index().get(module)?.get(name).copied()
}
