"""Decodes compressed bodies with zlib and libzstd and compares them with the plain ones.

Reads bodies from the standard input: one byte for the coding (g or z), two lengths of 4 bytes, the
compressed body, the plain body. Prints how many of each coding were equal. Ends with 1 at the first
that differs, and with 3 if there is no libzstd.
"""
import ctypes
import ctypes.util
import struct
import sys
import zlib

name = ctypes.util.find_library("zstd")
if name is None:
    sys.exit(3)
libzstd = ctypes.CDLL(name)
libzstd.ZSTD_decompress.restype = ctypes.c_size_t
libzstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
libzstd.ZSTD_isError.argtypes = [ctypes.c_size_t]
libzstd.ZSTD_getErrorName.restype = ctypes.c_char_p
libzstd.ZSTD_getErrorName.argtypes = [ctypes.c_size_t]
libzstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
libzstd.ZSTD_findFrameCompressedSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
libzstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
libzstd.ZSTD_getFrameContentSize.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def gunzip(data):
    decoder = zlib.decompressobj(31)
    plain = decoder.decompress(data)
    if not decoder.eof or decoder.unused_data:
        raise ValueError("not exactly one gzip member")
    return plain


def unzstd(data):
    if libzstd.ZSTD_findFrameCompressedSize(data, len(data)) != len(data):
        raise ValueError("not exactly one zstd frame")
    size = libzstd.ZSTD_getFrameContentSize(data, len(data))
    plain = ctypes.create_string_buffer(max(size, 1))
    n = libzstd.ZSTD_decompress(plain, size, data, len(data))
    if libzstd.ZSTD_isError(n):
        raise ValueError(libzstd.ZSTD_getErrorName(n).decode())
    return ctypes.string_at(plain, n)


def main():
    bodies = {b"g": 0, b"z": 0}
    while head := sys.stdin.buffer.read(9):
        coding, coded, plain = struct.unpack("<cII", head)
        data, want = sys.stdin.buffer.read(coded), sys.stdin.buffer.read(plain)
        decode = gunzip if coding == b"g" else unzstd
        try:
            got = decode(data)
        except (ValueError, zlib.error) as fault:
            sys.exit(f"body {sum(bodies.values())}, {decode.__name__}: {fault}")
        if got != want:
            sys.exit(f"body {sum(bodies.values())}, {decode.__name__}: {len(got)} bytes differ from {len(want)}")
        bodies[coding] += 1
    print(bodies[b"g"], bodies[b"z"])


main()
