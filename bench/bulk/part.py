"""Counts what DuckDB reads of large tables to answer a question about one country, over HTTP.

    part.py HDQS STORE

HDQS is the program, STORE a directory with bulk files (`hdqs build --bulk`). For each table with a file for
each country and some countries, a new DuckDB sums a column of the rows since a day. The requests and bytes
are those in the server's access log, without the manifest. For each the least is printed too: the bytes of
the columns of the question in the row groups that have such rows, and the share of such rows in the table.
"""

import importlib
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

import duckdb

HDQS, STORE = sys.argv[1], sys.argv[2]
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    PORT = free.getsockname()[1]
BASE = f"http://127.0.0.1:{PORT}/bulk/"
TIME = "reference_period_start"
# As decimals, since the sum of doubles depends on their order, which differs from run to run.
SUM = "sum({}::DECIMAL(38, 9))"
VALUES = {
    "food_price": "price", "rainfall": "rainfall", "population": "population", "conflict_event": "fatalities",
    "humanitarian_needs": "population",
}


def connect():
    connection = duckdb.connect()
    module = importlib.import_module("duckdb_extension_httpfs")
    [extension] = pathlib.Path(module.__file__).parent.rglob("httpfs.duckdb_extension")
    connection.load_extension(str(extension))
    return connection


def ask(connection, urls, what, country, since):
    return connection.sql(
        f"SELECT {what} FROM read_parquet({urls}, hive_partitioning = true) "
        f"WHERE location_code = '{country}' AND {TIME} >= '{since}'").fetchone()[0]


def logged(log, seen):
    """Requests for Parquet files after a line of the log, and their bytes."""
    for _ in range(100):
        lines = [json.loads(line) for line in open(log)]
        files = [line for line in lines[seen:] if ".parquet" in json.dumps(line)]
        time.sleep(0.05)
        if files and len(open(log).readlines()) == len(lines):
            break
    return len(lines), files


def least(path, columns, since):
    """Bytes of some columns of the row groups that have rows since a day, and how many such groups there are."""
    rows = duckdb.execute(
        "SELECT row_group_id, path_in_schema, total_compressed_size, stats_max_value FROM parquet_metadata(?)",
        [path]).fetchall()
    groups = {r[0] for r in rows if r[1] == TIME and r[3] >= since}
    return sum(r[2] for r in rows if r[0] in groups and r[1] in columns), len(groups)


def main():
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "access.log")
        server = subprocess.Popen([HDQS, "serve", "--store", STORE, "--bulk", "--listen", f"127.0.0.1:{PORT}",
                                   "--access-log", log, "--log-format", "off"], stderr=subprocess.DEVNULL)
        try:
            measure(log)
        finally:
            server.terminate()
            server.wait()


def measure(log):
    for _ in range(600):
        try:
            manifest = json.load(urllib.request.urlopen(BASE + "latest/manifest.json"))
            break
        except OSError:
            time.sleep(0.2)
    base = BASE + manifest["snapshot"] + "/"
    print("| table | country | since | rows | of the table | columns | requests | bytes | of the table | the least |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for table in manifest["tables"]:
        if table.get("partitioned_by") != "location_code":
            continue
        files = [f for f in table["files"] if f["format"] == "parquet"]
        urls = [base + f["path"] for f in files]
        size = sum(f["bytes"] for f in files)
        places = sorted(files, key=lambda f: f["rows"])
        typical = places[len(places) // 2]["min"]["location_code"]
        value = VALUES.get(table["table"], TIME)
        for country in dict.fromkeys(["AFG", typical]):
            file = next((f for f in files if f["min"].get("location_code") == country), None)
            if not file:
                continue
            path = f"{STORE}/bulk/data/{os.path.dirname(file['path'])}/{file['sha256']}.parquet"
            for since in ("2024-01-01", "2026-01-01"):
                for what in (value, "COLUMNS(*)"):
                    if what == value:
                        found = ask(connect(), [path], f"(count(*), {SUM.format(value)})", country, since)
                        columns = {TIME, value}
                    else:
                        columns = {c["name"] for c in table["schema"]}
                    seen = len(open(log).readlines())
                    connection = connect()
                    if what == value:
                        if ask(connection, urls, f"(count(*), {SUM.format(value)})", country, since) != found:
                            raise SystemExit(f"{table['table']}: another result over HTTP")
                    else:
                        connection.sql(f"SELECT * FROM read_parquet({urls}, hive_partitioning = true) "
                                       f"WHERE location_code = '{country}' AND {TIME} >= '{since}'").to_arrow_table()
                    seen, lines = logged(log, seen)
                    sent = sum(line.get("bytes", 0) for line in lines)
                    low, groups = least(path, columns, since)
                    print(f"| {table['table']} | {country} | {since} | {found[0]:,} | {found[0] / table['rows']:.2%} | "
                          f"{'all' if what != value else value} | {len(lines)} | {sent / 1000:,.0f} KB | "
                          f"{sent / size:.2%} | {low / 1000:,.0f} KB in {groups} groups |", flush=True)


main()
