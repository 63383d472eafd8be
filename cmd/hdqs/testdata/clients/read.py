"""Reads lists by URL with a library's usual calls: read.py READER < PLAN.

A line of the plan is a URL and a field, with a tab between. For each, this prints the rows, the sum of the field, its nulls and the
names of the columns.
"""

import pathlib
import sys
import urllib.request

from leave import leave


def pandas(url, field):
    import pandas as pd

    table = pd.read_csv(url)
    return len(table), table[field].sum(), table[field].isna().sum(), table.columns


def polars(table, field):
    return table.height, table[field].sum(), table[field].null_count(), table.columns


def polars_read(url, field):
    import polars as pl

    return polars(pl.read_csv(url), field)


def polars_scan(url, field):
    import polars as pl

    return polars(pl.scan_csv(url).collect(), field)


def polars_bytes(url, field):
    import polars as pl

    return polars(pl.read_csv(urllib.request.urlopen(url).read()), field)


def duckdb(select, url, field):
    import duckdb as db
    import duckdb_extension_httpfs as httpfs

    connection = db.connect()
    [extension] = pathlib.Path(httpfs.__file__).parent.rglob("httpfs.duckdb_extension")
    connection.load_extension(str(extension))
    table = connection.sql(select, params=[url])
    rows, total, known = table.aggregate(f"count(*), sum({field}), count({field})").fetchone()
    return rows, total, rows - known, table.columns


def duckdb_csv(url, field):
    return duckdb("SELECT * FROM read_csv(?)", url, field)


def duckdb_json(url, field):
    return duckdb("SELECT unnest(record) FROM (SELECT unnest(data) AS record FROM read_json(?))", url, field)


def main():
    read = globals()[sys.argv[1]]
    for line in sys.stdin:
        rows, total, nulls, columns = read(*line.rstrip("\n").split("\t"))
        print(rows, f"{float(total):.6f}", nulls, ",".join(columns), sep="\t", flush=True)
    leave()


main()
