#!/usr/bin/env python3
"""Makes a wheel that holds a built program: for `pip install`, `pipx run` and `uvx`.

    wheel.py VERSION TARGET BINARY OUT

TARGET is a Rust target, such as x86_64-unknown-linux-musl. The tags of the wheel are read from the binary itself.
"""

import base64
import hashlib
import re
import struct
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME = "phasegate"
SOURCE = "https://github.com/phasegate/phasegate"
# The machine of a target: in ELF, Mach-O and PE, and in the tags of Linux, macOS and Windows.
MACHINES = {
    "x86_64": (62, 0x01000007, 0x8664, "x86_64", "x86_64", "amd64"),
    "aarch64": (183, 0x0100000C, 0xAA64, "aarch64", "arm64", "arm64"),
}
# What a manylinux wheel may load (PEP 600), of what a Rust program loads.
MANYLINUX = {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "libpthread.so.0", "libdl.so.2", "librt.so.1"}
# The oldest that these tags stand for; a static program needs nothing of them.
STATIC = ("manylinux_2_17", "manylinux2014", "musllinux_1_1")


def fail(text):
    sys.exit(f"wheel.py: {text}")


def text_at(data, at):
    return data[at : data.index(b"\0", at)].decode()


def elf_segments(data):
    if data[:6] != b"\x7fELF\x02\x01":
        fail("the binary is no 64-bit little-endian ELF file")
    (start,) = struct.unpack_from("<Q", data, 32)
    size, count = struct.unpack_from("<HH", data, 54)
    for at in range(start, start + size * count, size):
        kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", data, at)
        yield kind, offset, address, length


def elf_tags(data, machine):
    """The tags of a program for Linux, by what it loads."""
    (found,) = struct.unpack_from("<H", data, 18)
    if found != machine[0]:
        fail(f"the binary is for machine {found} of ELF, and the target for {machine[0]}")
    arch = machine[3]
    segments = list(elf_segments(data))
    interpreter = next((text_at(data, offset) for kind, offset, *_ in segments if kind == 3), None)
    if interpreter is None:
        return [f"{tag}_{arch}" for tag in STATIC]

    def offset_of(address):
        for kind, offset, start, length in segments:
            if kind == 1 and start <= address < start + length:
                return offset + address - start
        fail("the binary names an address that it does not load")

    dynamic = next((offset, length) for kind, offset, _, length in segments if kind == 2)
    entries = [struct.unpack_from("<QQ", data, at) for at in range(dynamic[0], sum(dynamic), 16)]
    values = {tag: value for tag, value in entries if tag != 1}
    strings = offset_of(values[5])
    needed = {text_at(data, strings + value) for tag, value in entries if tag == 1}
    if "ld-musl" in interpreter:
        return [f"musllinux_1_2_{arch}"]
    foreign = sorted(library for library in needed - MANYLINUX if not library.startswith("ld-linux"))
    if foreign:
        fail(f"a wheel for many systems cannot load {', '.join(foreign)}")
    newest = max(glibc_versions(data, values, strings, offset_of), default=(2, 17))
    major, minor = max(newest, (2, 17))
    return [f"manylinux_{major}_{minor}_{arch}"]


def glibc_versions(data, values, strings, offset_of):
    """The versions of glibc that the program asks for: DT_VERNEED."""
    if 0x6FFFFFFE not in values:
        return
    at = offset_of(values[0x6FFFFFFE])
    while True:
        _, count, _, first, following = struct.unpack_from("<HHIII", data, at)
        each = at + first
        for _ in range(count):
            _, _, _, name, after = struct.unpack_from("<IHHII", data, each)
            version = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(\.\d+)?", text_at(data, strings + name))
            if version:
                yield int(version[1]), int(version[2])
            each += after
        if not following:
            return
        at += following


def macos_tags(data, machine):
    """The tag of a program for macOS, by the oldest system that it names."""
    magic, found, _, _, count = struct.unpack_from("<IIIII", data)
    if magic != 0xFEEDFACF or found != machine[1]:
        fail("the binary is no Mach-O file for the target's machine")
    at = 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        # LC_BUILD_VERSION, of platform macOS, and LC_VERSION_MIN_MACOSX.
        if command in (0x32, 0x24):
            (oldest,) = struct.unpack_from("<I", data, at + (12 if command == 0x32 else 8))
            major, minor = oldest >> 16, oldest >> 8 & 0xFF
            # From 11 on, tags name no minor version.
            return [f"macosx_{major}_{0 if major >= 11 else minor}_{machine[4]}"]
        at += size
    fail("the binary does not name the oldest macOS that it runs on")


def windows_tags(data, machine):
    (header,) = struct.unpack_from("<I", data, 60)
    if data[:2] != b"MZ" or struct.unpack_from("<IH", data, header) != (0x4550, machine[2]):
        fail("the binary is no PE file for the target's machine")
    return [f"win_{machine[5]}"]


def tags_of(target, data):
    machine = MACHINES.get(target.split("-")[0])
    reader = {"linux": elf_tags, "darwin": macos_tags, "windows": windows_tags}
    system = next((name for name in reader if f"-{name}" in target), None)
    if machine is None or system is None:
        fail(f"`{target}` is no target that is known here")
    return reader[system](data, machine), system


def python_version(version):
    """The version as PEP 440 writes it: 1.2.0-rc.1 is 1.2.0rc1."""
    found = re.fullmatch(r"(\d+\.\d+\.\d+)(?:-(alpha|beta|rc)\.(\d+))?", version)
    if not found:
        fail(f"`{version}` is no version, or of a kind that PyPI has no form for")
    short = {"alpha": "a", "beta": "b", "rc": "rc", None: ""}[found[2]]
    return f"{found[1]}{short}{found[3] or ''}"


def metadata(version):
    fields = [
        "Metadata-Version: 2.4",
        f"Name: {NAME}",
        f"Version: {version}",
        "Summary: Guards the tool calls of AI coding agents: in which order an agent works",
        "License-Expression: Apache-2.0 OR MIT",
        "License-File: LICENSE-APACHE",
        "License-File: LICENSE-MIT",
        f"Project-URL: Source, {SOURCE}",
        "Classifier: Environment :: Console",
        "Classifier: Programming Language :: Rust",
        "Requires-Python: >=3.8",
        "Description-Content-Type: text/markdown",
    ]
    # By this line the MCP registry knows that the package belongs to the server of that name.
    owner = "<!-- mcp-name: io.github.phasegate/phasegate -->"
    # Where it is shown, its links do not lead to files beside it.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    readme = re.sub(r"!\[([^]]*)\]\((?!https?:)([^)]+)\)", rf"![\1]({SOURCE}/raw/HEAD/\2)", readme)
    readme = re.sub(r"(?<!!)\[([^]]*)\]\((?!https?:|#)([^)]+)\)", rf"[\1]({SOURCE}/blob/HEAD/\2)", readme)
    return "\n".join([*fields, "", readme, owner, ""]).encode()


def main(version, target, binary, out):
    data = Path(binary).read_bytes()
    platforms, system = tags_of(target, data)
    version = python_version(version)
    info = f"{NAME}-{version}.dist-info"
    program = f"{NAME}.exe" if system == "windows" else NAME
    wheel = ["Wheel-Version: 1.0", f"Generator: {NAME}", "Root-Is-Purelib: false"]
    wheel += [f"Tag: py3-none-{platform}" for platform in platforms]
    files = {
        f"{NAME}-{version}.data/scripts/{program}": (data, 0o755),
        f"{info}/METADATA": (metadata(version), 0o644),
        f"{info}/WHEEL": (("\n".join(wheel) + "\n").encode(), 0o644),
    }
    for licence in ("LICENSE-APACHE", "LICENSE-MIT"):
        files[f"{info}/licenses/{licence}"] = ((ROOT / licence).read_bytes(), 0o644)
    record = f"{info}/RECORD"
    lines = []
    for path, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}\n")
    files[record] = (("".join(lines) + f"{record},,\n").encode(), 0o644)

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / f"{NAME}-{version}-py3-none-{'.'.join(platforms)}.whl"
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, (content, mode) in files.items():
            # The same time for every file: the same program gives the same wheel.
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, content)
    print(f"{made.name} {made.stat().st_size} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        fail("usage: wheel.py VERSION TARGET BINARY OUT")
    main(*sys.argv[1:])
