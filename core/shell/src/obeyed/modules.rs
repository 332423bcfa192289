//! Modules of Python's own library that texts which only read load, and what these load in turn.

/// As CPython 2.7 to 3.14 look for them, for `json.tool`, `zipfile`, `tarfile` and the modules of `crate::python`.
const MODULES: &str = "\
    json _json argparse gettext locale runpy pkgutil annotationlib array _ast ast _ast_unparse base64 binascii _bisect bisect _blake2 _bootlocale _bz2 bz2 calendar \
    _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw codeop _collections collections _colorize \
    _compat_pickle _compression compression concurrent configparser contextlib _contextvars contextvars copy copyreg \
    cstringio _csv csv dataclasses _datetime datetime _decimal decimal difflib dis _elementtree email encodings enum \
    errno fcntl fnmatch fractions _functools functools __future__ genericpath glob grp gzip _hashlib hashlib _heapq \
    heapq html importlib inspect _io io ipaddress itertools keyword linecache _locale _lzma lzma math _md5 msvcrt \
    _multibytecodec nt ntpath numbers _opcode opcode _opcode_metadata _operator operator optparse org pathlib \
    _pickle pickle platform posixpath _posixshmem _posixsubprocess pprint pwd _py_warnings _pydatetime _pydecimal \
    pyexpat _pyio _queue queue quopri _random random re reprlib _scproxy select selectors _sha _sha1 _sha2 _sha256 \
    _sha3 _sha512 shlex shutil signal site _socket socket _sqlite3 sqlite3 _sre sre_compile sre_constants sre_parse \
    _ssl ssl stat _statistics statistics _string string stringprep strop _strptime _struct struct subprocess \
    _suggestions _symtable symtable tarfile tempfile textwrap thread threading time token _tokenize tokenize tomllib \
    traceback _tracemalloc tracemalloc _types types _typing typing unicodedata urllib urlparse uu _uuid warnings \
    weakref _weakrefset _winapi _wmi xml _xmlplus yaml zipfile zlib _zstd";

/// Whether python would load a file or a folder at this path instead of a module of its own, if it lies in the working
/// folder; a folder only with an `__init__` in it. `path` is in lower case.
#[must_use]
pub fn shadows(path: &str) -> bool {
    let of_python = |name: &str| MODULES.split_ascii_whitespace().any(|module| module == name);
    let mut names = path.rsplit('/');
    let last = names.next().unwrap_or("");
    let (stem, ending) = last.split_once('.').unwrap_or((last, ""));
    if stem == "__init__" {
        return names.next().is_some_and(of_python);
    }
    let loaded =
        matches!(ending, "" | "py" | "pyc" | "so" | "pyd") || ending.ends_with(".so") || ending.ends_with(".pyd");
    loaded && of_python(stem)
}
