"""Opens files for writing by io_uring alone: no other call names them."""
import ctypes
import mmap
import os
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
params = ctypes.create_string_buffer(120)
ring = libc.syscall(425, 8, params)
if ring < 0:
    sys.exit("no io_uring")
words = struct.unpack("30I", params.raw)
sq_head, sq_tail, sq_mask, sq_entries, _, _, sq_array = words[10:17]
area = mmap.mmap(ring, sq_array + 8 * 4, offset=0)
entries = mmap.mmap(ring, 8 * 64, offset=0x10000000)
keep = []
for at, path in enumerate(sys.argv[1:]):
    name = ctypes.create_string_buffer(path.encode())
    keep.append(name)
    # IORING_OP_OPENAT, flags, ioprio, fd, off, addr, mode, open flags, user data.
    entry = struct.pack("BBHiQQIIQ", 18, 0, 0, -100, 0, ctypes.addressof(name), 0o644, os.O_CREAT | os.O_WRONLY, at)
    entries[at * 64 : at * 64 + len(entry)] = entry
    area[sq_array + 4 * at : sq_array + 4 * at + 4] = struct.pack("I", at)
count = len(sys.argv) - 1
area[sq_tail : sq_tail + 4] = struct.pack("I", count)
print(libc.syscall(426, ring, count, count, 1, None, 0))
