"""Compares exports with DuckDB behind FastAPI, and with pages in JSON: a million filtered rows into a
pandas DataFrame over loopback, in turns.

    compare.py HDQS STORE [ROUNDS]

HDQS is the program. Before anything is measured, the values of the three are compared. Then short
queries are timed beside eight exports, and alone, and the server's memory is read.
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


def arrow():
    with urllib.request.urlopen(f"{LIST}/export?output_format=arrow&limit={ROWS}&{FILTER}") as answer:
        return pa.ipc.open_stream(answer).read_pandas()


def peer(texts):
    with urllib.request.urlopen(f"http://127.0.0.1:{PEERS[texts]}/events?before={BEFORE}&limit={ROWS}") as answer:
        return pa.ipc.open_stream(answer).read_pandas()


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


def timed(read, pid):
    began, spent = time.perf_counter(), cpu(pid)
    frame = read()
    took = time.perf_counter() - began
    assert len(frame) == ROWS, len(frame)
    return took, cpu(pid) - spent


def wait(url):
    for _ in range(600):
        try:
            return urllib.request.urlopen(url).read()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"no answer from {url}")


def short_queries(seconds):
    """Milliseconds of short queries, one after the other, each with other filters."""
    times, number, until = [], 0, time.perf_counter() + seconds
    while time.perf_counter() < until:
        number += 1
        began = time.perf_counter()
        urllib.request.urlopen(f"{LIST}?limit=10&offset={number}&location_code=AFG&{IDENTIFIER}").read()
        times.append(1000 * (time.perf_counter() - began))
        time.sleep(0.002)
    times.sort()
    return times


def beside(count, seconds):
    """Short queries beside exports that other processes read. Those have a low priority: they stand for
    programs on other machines."""
    readers = [subprocess.Popen(
        ["nice", "-n", "19", "sh", "-c", f"while :; do curl -s -o /dev/null '{LIST}/export?output_format={form}&{IDENTIFIER}'; done"],
        start_new_session=True) for form in ["arrow", "csv"] * (count // 2)]
    try:
        time.sleep(2)
        return short_queries(seconds)
    finally:
        for reader in readers:
            os.killpg(reader.pid, 9)
            reader.wait()


def main():
    program, store = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
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
    first = arrow()
    for texts in PEERS:
        assert same(first, peer(texts)), f"DuckDB has other values, {texts}"
    assert same(first, pages()), "pages have other values"
    del first
    reads = {"export, Arrow": (arrow, ours)}
    for texts in PEERS:
        reads[f"DuckDB ({texts.upper()}) behind FastAPI, Arrow"] = (lambda texts=texts: peer(texts), others[texts])
    reads["pages of 10,000, JSON"] = (pages, ours)
    results = {name: [] for name in reads}
    for turn in range(rounds):
        for name in (reads if turn % 2 == 0 else reversed(reads)):
            read, process = reads[name]
            if read is not pages or turn < max(1, rounds // 3):  # they take long
                results[name].append(timed(read, process.pid))
    print(f"{ROWS:,} of {total:,} rows of conflict events, all fields, into a pandas DataFrame over loopback\n")
    print("| how | seconds, median (least to most) | CPU seconds of the server | ÷ export |\n|---|--:|--:|--:|")
    base = statistics.median(took for took, _ in results["export, Arrow"])
    for name, runs in results.items():
        took = [t for t, _ in runs]
        print(f"| {name} | {statistics.median(took):.2f} ({min(took):.2f} to {max(took):.2f}) | "
              f"{statistics.median(c for _, c in runs):.2f} | {statistics.median(took) / base:.1f} |")
    print(f"\nMemory of the server after that: {memory(ours.pid, 'RssAnon')} MB of its own, "
          f"{memory(ours.pid, 'RssFile')} MB of mapped segments.\n")
    print("| short queries | p50, ms | p99, ms |\n|---|--:|--:|")
    for name, times in [("alone", short_queries(10)), ("beside 8 exports", beside(8, 15)), ("alone again", short_queries(10))]:
        print(f"| {name} | {times[len(times) // 2]:.2f} | {times[int(len(times) * 0.99)]:.2f} |")
    print(f"\nMemory of the server then: {memory(ours.pid, 'RssAnon')} MB of its own, at most "
          f"{memory(ours.pid, 'VmHWM')} MB with mapped segments.")


if __name__ == "__main__":
    main()
