"""Decodes compressed bodies with zlib and libzstd and compares them with the plain ones.

Reads bodies from the standard input: one byte for the coding (g or z), two lengths of 4
bytes, the compressed body, the plain body. Prints how many of each coding were equal. Ends with 1
at the first that differs, and with 3 if there is no libzstd.
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


def gunzip(data, _):
    decoder = zlib.decompressobj(31)
    plain = decoder.decompress(data)
    if not decoder.eof or decoder.unused_data:
        raise ValueError("not exactly one gzip member")
    return plain


def unzstd(data, length):
    if libzstd.ZSTD_findFrameCompressedSize(data, len(data)) != len(data):
        raise ValueError("not exactly one zstd frame")
    plain = ctypes.create_string_buffer(length + 1)
    n = libzstd.ZSTD_decompress(plain, len(plain), data, len(data))
    if libzstd.ZSTD_isError(n):
        raise ValueError(libzstd.ZSTD_getErrorName(n).decode())
    return ctypes.string_at(plain, n)


def main():
    decoders = {b"g": gunzip, b"z": unzstd}
    bodies = dict.fromkeys(decoders, 0)
    while head := sys.stdin.buffer.read(9):
        coding, coded, plain = struct.unpack("<cII", head)
        data, want = sys.stdin.buffer.read(coded), sys.stdin.buffer.read(plain)
        decode = decoders[coding]
        try:
            got = decode(data, plain)
        except (ValueError, zlib.error) as fault:
            sys.exit(f"body {sum(bodies.values())}, {decode.__name__}: {fault}")
        if got != want:
            sys.exit(f"body {sum(bodies.values())}, {decode.__name__}: {len(got)} bytes differ from {len(want)}")
        bodies[coding] += 1
    print(*bodies.values())


main()
