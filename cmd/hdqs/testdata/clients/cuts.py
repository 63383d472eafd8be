"""Has DuckDB read files over connections that break: cuts.py DIRECT CUT PATH...

DIRECT and CUT are addresses of the same server; connections to CUT break after any number of bytes. Each file below PATH must
give the same number of rows and hashes by both, or an error, and then the same rows once it is read again: in the same
DuckDB connection, but after a header that was cut before the length in a new one. What differs is printed; the exit code
is 1.
"""

import importlib
import pathlib
import sys

import duckdb

READS, TRIES = 10, 40


def connect():
    connection = duckdb.connect()
    module = importlib.import_module("duckdb_extension_httpfs")
    [extension] = pathlib.Path(module.__file__).parent.rglob("httpfs.duckdb_extension")
    connection.load_extension(str(extension))
    connection.execute("SET http_retries = 1; SET http_retry_wait_ms = 1")
    return connection


def read(connection, url):
    columns = connection.read_parquet(url).columns
    hashes = ", ".join(f'sum(hash("{c}"))' for c in columns if c != "geometry")
    return connection.sql(f"SELECT count(*), {hashes} FROM '{url}'").fetchone()


direct, cut, *paths = sys.argv[1:]
failed = errors = whole = 0
for path in paths:
    want = read(connect(), direct + path)
    for _ in range(READS):
        connection = connect()  # what it has read and kept must be right after an error too
        for attempt in range(TRIES):
            try:
                got = read(connection, cut + path)
            except duckdb.Error as error:
                errors += 1
                last = error
                if "too small to be a Parquet file" in str(error):  # it keeps the length 0 of a header that was cut
                    connection = connect()
                continue
            whole += 1
            if got != want:
                print(f"{path}: {got}, want {want}")
                failed += 1
            break
        else:
            print(f"{path}: not read in {TRIES} tries: {last}")
            failed += 1
print(f"{len(paths)} files: {errors} reads failed, {whole} gave rows, {failed} of these are wrong")
sys.exit(failed > 0 or errors == 0)
