"""Compares exports with DuckDB behind FastAPI, and with pages in JSON: a million filtered rows into a
DataFrame over loopback, in turns.

    compare.py HDQS STORE [ROUNDS]

HDQS is the program. Before anything is measured, the values of all are compared. Each of DuckDB's answers
is compared with an export that gives the same DataFrame: texts as categories, which DuckDB has if its table
has enumerations, or as strings, to which the dictionaries of an export are decoded here. DataFrames are
those of pandas with its own types, of pandas with types of Arrow, and of Polars. Figures of CPU time are of
the server and of the client, which decodes and converts.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet

HERE = os.path.dirname(os.path.abspath(__file__))
OURS, PEERS = 18476, {"varchar": 18477, "enum": 18478}
LIST = f"http://127.0.0.1:{OURS}/api/v2/coordination-context/conflict-events"
IDENTIFIER = "app_identifier=ZXhwb3J0OmJlbmNoQGV4YW1wbGUub3Jn"
ROWS, BEFORE = 1_000_000, "2020-01-01"
FILTER = f"end_date=2019-12-31&{IDENTIFIER}"


def cpu(pid):
    """User and system time of a process in seconds."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory(pid, field):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field + ":")) // 1024


def table(url):
    with urllib.request.urlopen(url) as answer:
        return pa.ipc.open_stream(answer).read_all()


def ours_categories():
    return table(f"{LIST}/export?output_format=arrow&limit={ROWS}&{FILTER}")


def ours_strings():
    read = ours_categories()
    return read.cast(pa.schema([
        pa.field(field.name, pa.string() if pa.types.is_dictionary(field.type) else field.type) for field in read.schema
    ]))


def peer(texts):
    return table(f"http://127.0.0.1:{PEERS[texts]}/events?before={BEFORE}&limit={ROWS}")


# What makes a DataFrame of a table.
FRAMES = {
    "pandas": lambda read: read.to_pandas(),
    "pandas, ArrowDtype": lambda read: read.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": pl.from_arrow,
}


def pages():
    parts = []
    for offset in range(0, ROWS, 10_000):
        with urllib.request.urlopen(f"{LIST}?offset={offset}&{FILTER}") as answer:
            parts.append(pd.DataFrame(json.load(answer)["data"]))
    frame = pd.concat(parts, ignore_index=True)
    for name in ("reference_period_start", "reference_period_end"):
        frame[name] = pd.to_datetime(frame[name])
    return frame


def same(a, b):
    """Reports whether two frames have the same values, whatever holds their texts."""
    if list(a.columns) != list(b.columns) or len(a) != len(b):
        return False
    for name in a.columns:
        x, y = a[name], b[name]
        if not (x.isna() == y.isna()).all():
            return False
        x, y = x.dropna(), y.dropna()
        if isinstance(x.dtype, pd.CategoricalDtype) or x.dtype == object or str(x.dtype).startswith("str"):
            x, y = x.astype(object), y.astype(object)
        elif str(x.dtype).startswith("datetime"):
            x, y = x.astype("datetime64[us]"), y.astype("datetime64[us]")
        if not (x.to_numpy() == y.to_numpy()).all():
            return False
    return True


def plain(read):
    """The columns of a table, whatever holds their texts and times."""
    kinds = [(pa.types.is_dictionary, pa.string()), (pa.types.is_timestamp, pa.timestamp("us"))]
    return {name: column.cast(next((to for has, to in kinds if has(column.type)), column.type)).combine_chunks()
            for name, column in zip(read.column_names, read.columns)}


def timed(read, pid):
    began, spent, own = time.perf_counter(), cpu(pid), time.process_time()
    frame = read()
    took, own = time.perf_counter() - began, time.process_time() - own
    assert len(frame) == ROWS, len(frame)
    return took, cpu(pid) - spent, own


def wait(url):
    for _ in range(600):
        try:
            return urllib.request.urlopen(url).read()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"no answer from {url}")


def main():
    program, store = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    ours = subprocess.Popen([program, "serve", "--store", store, "--listen", f"127.0.0.1:{OURS}", "--body-cache", "0"],
                            **quiet)
    others = {}
    with tempfile.TemporaryDirectory() as directory:
        try:
            wait(f"{LIST}?limit=1&{IDENTIFIER}")
            file = os.path.join(directory, "events.parquet")
            whole = urllib.request.urlopen(f"{LIST}/export?output_format=parquet&{IDENTIFIER}").read()
            with open(file, "wb") as to:
                to.write(whole)
            total = parquet.read_metadata(file).num_rows
            for texts, port in PEERS.items():
                others[texts] = subprocess.Popen(
                    [sys.executable, "-m", "uvicorn", "--app-dir", HERE, "duckdb_arrow:app", "--port", str(port),
                     "--log-level", "warning", "--no-access-log"],
                    env={**os.environ, "EXPORT_PARQUET": file, "EXPORT_TEXTS": texts})
                wait(f"http://127.0.0.1:{port}/events?before=1990-01-01&limit=1")
            compare(ours, others, rounds, total)
        finally:
            for process in (ours, *others.values()):
                process.terminate()
                process.wait()


def compare(ours, others, rounds, total):
    first = ours_categories()
    for read in (ours_strings, *(lambda texts=texts: peer(texts) for texts in PEERS)):
        assert plain(first) == plain(read()), "other values"
    assert same(first.to_pandas(), pages()), "pages have other values"
    del first
    # The last of each is the export that gives the same DataFrame.
    reads = {}
    for frame, make in FRAMES.items():
        for texts, read, kind in (("enum", ours_categories, "categories"), ("varchar", ours_strings, "strings")):
            own = f"{frame}; {kind}: export"
            reads[own] = lambda make=make, read=read: make(read()), ours, None
            reads[f"{frame}; {kind}: DuckDB ({texts.upper()})"] = \
                lambda make=make, texts=texts: make(peer(texts)), others[texts], own
    reads["pandas; strings: pages of 10,000, JSON"] = pages, ours, "pandas; strings: export"
    results = {name: [] for name in reads}
    for turn in range(rounds):
        for name in (reads if turn % 2 == 0 else reversed(reads)):
            read, process, _ = reads[name]
            if read is not pages or turn == 0:  # they take long
                results[name].append(timed(read, process.pid))
    print(f"{ROWS:,} of {total:,} rows of conflict events, all fields, into a DataFrame over loopback; DuckDB is behind FastAPI and sends Arrow too\n")
    print("| DataFrame; texts: from | seconds, median (least to most) | CPU, server | CPU, client | ÷ export |\n|---|--:|--:|--:|--:|")
    for name, runs in results.items():
        took = [run[0] for run in runs]
        against = results[reads[name][2] or name]
        ratio = statistics.median(took) / statistics.median(run[0] for run in against)
        print(f"| {name} | {statistics.median(took):.2f} ({min(took):.2f} to {max(took):.2f}) | "
              f"{statistics.mean(run[1] for run in runs):.2f} | {statistics.mean(run[2] for run in runs):.2f} | {ratio:.1f} |")
    print(f"\nMemory of the server after that: {memory(ours.pid, 'RssAnon')} MB, segments and all.")


if __name__ == "__main__":
    main()
