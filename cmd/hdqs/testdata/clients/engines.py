"""Reads every table of bulk files with an engine, and compares it with the interface's records: engines.py URL STORE ENGINE...

URL is a server that serves the directory STORE. For each column the count of nulls, the sum of numbers, and the sum of hashes of
all values, which does not depend on the order of the rows, must be those of the records. What differs is printed; the exit code is 1.
The records are the full pages of the list, or for a table of more than PAGED rows its export as CSV, in which null and the empty
text are the same.
"""

import collections
import datetime
import hashlib
import importlib
import io
import json
import math
import os
import pathlib
import struct
import sys
import time
import urllib.parse
import urllib.request

from leave import leave

BASE, STORE = sys.argv[1], os.path.abspath(sys.argv[2])
IDENTIFIER = "ZW5naW5lczplbmdpbmVzQGV4YW1wbGUub3Jn"
PAGE, PAGED = 10_000, 100_000
CELLS = 12_000_000


class Table:
    """A table of the manifest, with where its Parquet files are."""

    def __init__(self, entry, manifest_url):
        self.name, self.endpoint, self.rows = entry["table"], entry["endpoint"], entry["rows"]
        self.schema = entry["schema"]
        self.kinds = {c["name"]: c["type"] for c in self.schema if c["type"] != "geometry"}
        self.paged = self.rows <= PAGED
        self.partitioned = entry.get("partitioned_by")
        files = [f for f in entry["files"] if f["format"] == "parquet"]
        self.urls = [urllib.parse.urljoin(manifest_url, f["path"]) for f in files]
        self.paths = [f"{STORE}/bulk/data/{os.path.dirname(f['path'])}/{f['sha256']}.parquet" for f in files]
        self.iceberg = f"{STORE}/bulk/iceberg/{self.name}"


def fetch(url):
    with urllib.request.urlopen(url) as answer:
        return answer.geturl(), answer.read()


def records(table):
    """All records of the list, page by page."""
    for offset in range(0, max(table.rows, 1), PAGE):
        query = urllib.parse.urlencode({"limit": PAGE, "offset": offset, "app_identifier": IDENTIFIER})
        yield from json.loads(fetch(f"{BASE}{table.endpoint}?{query}")[1])["data"]


def text(value, kind):
    """A value as it is hashed."""
    if value is None:
        return "null"
    if kind == "boolean":
        return str(bool(value))
    if kind == "int64":
        return str(int(value))
    if kind == "double":
        return repr(float(value))
    if kind == "timestamp":
        if isinstance(value, str):
            return value
        if value.tzinfo:  # chDB adds one
            value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
        return value.isoformat()
    return str(value)


HASHES = collections.defaultdict(dict)  # of values by kind, which all engines read


def hash_of(value, kind):
    return int.from_bytes(hashlib.blake2b(text(value, kind).encode(), digest_size=8).digest(), "big")


def summary(counts, kind, blank_is_null):
    """Nulls, hash and sum of the values of a column, which are given with how often they occur."""
    nulls, hashes, numbers, known = 0, 0, [], HASHES[kind]
    for value, n in counts:
        if value is None or value != value or blank_is_null and value == "":
            nulls += n
            continue
        digest = known.get(value)
        if digest is None:
            digest = hash_of(value, kind)
            if value != 0:  # -0.0 is equal to it
                known[value] = digest
        hashes += n * digest
        if kind in ("int64", "double"):
            numbers.append(value * n)
    return nulls, hashes % 2**64, math.fsum(numbers)


def count_values(column):
    """The values of an Arrow column, with how often they occur."""
    import pyarrow as pa

    try:
        pairs = column.value_counts()
    except pa.ArrowNotImplementedError:  # for the type of texts that some engines return
        return collections.Counter(column.to_pylist()).items()
    return zip(pairs.field("values").to_pylist(), pairs.field("counts").to_pylist())


def of_csv(value, kind):
    """A value of a CSV file."""
    if value == "":
        return None
    if kind == "boolean":
        return {"True": True, "False": False}[value]
    if kind == "timestamp":
        return value.replace(" ", "T")
    return {"int64": int, "double": float}.get(kind, str)(value)


def counted_pages(table):
    rows = list(records(table))
    if rows and set(rows[0]) != set(table.kinds):
        raise SystemExit(f"{table.name}: the interface has the columns {sorted(rows[0])}, the manifest {sorted(table.kinds)}")
    return len(rows), {name: collections.Counter(r[name] for r in rows).items() for name in table.kinds}


def counted_csv(table):
    from pyarrow import csv

    counts = {name: collections.Counter() for name in table.kinds}
    rows, kinds = 0, dict.fromkeys(table.kinds, "string")
    url = f"{BASE}{table.endpoint}/export?output_format=csv&app_identifier={IDENTIFIER}"
    with urllib.request.urlopen(url) as answer:
        read = csv.open_csv(answer, csv.ReadOptions(block_size=8 << 20), csv.ParseOptions(newlines_in_values=True),
                            csv.ConvertOptions(column_types=kinds, strings_can_be_null=False))
        for batch in read:
            rows += batch.num_rows
            for name in batch.schema.names:
                counts[name].update(dict(count_values(batch[name])))
    return rows, {name: [(of_csv(v, table.kinds[name]), n) for v, n in counts[name].items()] for name in table.kinds}


def expected(table):
    """The number of the interface's records, and their summaries by column. It has points as coordinates only."""
    rows, counts = counted_pages(table) if table.paged else counted_csv(table)
    return rows, {name: summary(counts[name], kind, not table.paged) for name, kind in table.kinds.items()}


def check(table, want, read, files):
    """What differs between a table that an engine has read, an Arrow table, and the interface."""
    rows, columns = want
    points = [c["name"] for c in table.schema if c["type"] == "geometry"]
    names = list(columns) + points * files
    if sorted(read.column_names) != sorted(names):
        return [f"{table.name}: the columns {read.column_names}, want {names}"]
    if read.num_rows != rows:
        return [f"{table.name}: {read.num_rows} rows, want {rows}"]
    found = []
    for column in table.schema:
        name, kind = column["name"], column["type"]
        if kind != "geometry":
            got = summary(count_values(read[name]), kind, not table.paged)
            if got != columns[name]:
                found.append(f"{table.name}.{name}: nulls, hash and sum {got}, want {columns[name]}")
    for name in points * files:
        for point, lon, lat in zip(read[name].to_pylist(), read["lon"].to_pylist(), read["lat"].to_pylist()):
            if isinstance(point, bytes) and point != struct.pack("<BIdd", 1, 1, lon, lat):
                found.append(f"{table.name}.{name}: {point} is not at {lon}, {lat}")
                break
    return found


# The engines. Each returns a function that reads a table as an Arrow table.


def in_parts(table, names, read):
    """A table that is read some columns at a time, so that millions of rows with their texts need not fit into memory. A point is
    read with its coordinates, since the order of the rows may be another one each time."""
    import pyarrow as pa

    names = sorted(names, key=lambda n: (n in table.kinds and n not in ("lat", "lon"), n))
    step = max(3, CELLS // max(table.rows, 1))
    columns = {}
    for i in range(0, len(names), step):
        part = read(names[i:i + step])
        for name in part.column_names:
            column = part[name]
            columns[name] = column if pa.types.is_struct(column.type) else column.dictionary_encode()
    return pa.table(columns)


def duckdb_with(*extensions):
    import duckdb

    connection = duckdb.connect()
    for name in extensions:
        module = importlib.import_module("duckdb_extension_" + name)
        [extension] = pathlib.Path(module.__file__).parent.rglob(name + ".duckdb_extension")
        connection.load_extension(str(extension))
    return connection


def arrow_of(relation):
    """A relation of DuckDB. Its type of points is left to readers of the files."""
    points = [n for n, t in zip(relation.columns, relation.types) if "GEOMETRY" in str(t)]
    if points:
        relation = relation.project("* REPLACE (" + ", ".join(f'ST_AsText("{n}") AS "{n}"' for n in points) + ")")
    return relation.to_arrow_table()


def duckdb():
    connection = duckdb_with("httpfs")
    return lambda t: arrow_of(connection.read_parquet(t.urls, hive_partitioning=False))


def duckdb_iceberg():
    connection = duckdb_with("avro", "iceberg")
    return lambda t: arrow_of(connection.sql("FROM iceberg_scan(?)", params=[t.iceberg]))


def polars():
    import polars as pl

    return lambda t: pl.scan_parquet(t.urls, hive_partitioning=False).collect().to_arrow()


def pandas():
    import pandas as pd
    import pyarrow as pa

    return lambda t: pa.Table.from_pandas(pd.concat(pd.read_parquet(u) for u in t.urls), preserve_index=False)


def pyarrow():
    import pyarrow.parquet as pq

    return lambda t: pq.read_table(t.paths, partitioning=None)


def pyarrow_bytes():
    import pyarrow as pa
    import pyarrow.parquet as pq

    return lambda t: pa.concat_tables(pq.read_table(io.BytesIO(fetch(u)[1])) for u in t.urls)


def pyiceberg():
    from pyiceberg.table import StaticTable

    return lambda t: StaticTable.from_metadata(t.iceberg).scan().to_arrow()


def chdb():
    import chdb
    import pyarrow as pa

    def ask(columns, url, more=""):
        return pa.ipc.open_file(chdb.query(f"SELECT {columns} FROM url('{url}', 'Parquet'){more}", "Arrow").bytes()).read_all()

    def read(table):
        names = ask("*", table.urls[0], " LIMIT 0").column_names
        return in_parts(table, names, lambda some: pa.concat_tables(
            ask(", ".join(f"`{n}`" for n in some), u) for u in table.urls))

    return read


def spark_session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").appName("engines")
    for key, value in {
        "spark.jars": os.environ["ICEBERG_JAR"], "spark.ui.enabled": "false", "spark.driver.memory": "1g",
        "spark.ui.showConsoleProgress": "false", "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "1", "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalog.hdqs": "org.apache.iceberg.spark.SparkCatalog", "spark.sql.catalog.hdqs.type": "hadoop",
        "spark.sql.catalog.hdqs.warehouse": f"{STORE}/bulk/iceberg",
    }.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def spark():
    session = spark_session()

    def read(table):
        frame = session.read.parquet(*table.paths)
        return in_parts(table, frame.columns, lambda some: frame.select(*some).toArrow())

    return read


def spark_iceberg():
    session = spark_session()

    def read(table):
        frame = session.table(f"hdqs.`{table.name}`")
        return in_parts(table, frame.columns, lambda some: frame.select(*some).toArrow())

    return read


# Joins. Each returns a function that runs a query in which {NAME} is a table, and returns its rows.

JOIN = """SELECT location_code, killed, moved
FROM (SELECT location_code, sum(fatalities) AS killed FROM {conflict_event} GROUP BY location_code) AS events
JOIN (SELECT location_code, sum(population) AS moved FROM {idps} GROUP BY location_code) AS people USING (location_code)
ORDER BY location_code"""


def expected_join(tables):
    """What JOIN returns, from the interface's records."""
    sums = {}
    for place, (name, field) in enumerate([("conflict_event", "fatalities"), ("idps", "population")]):
        for r in records(tables[name]):
            known = sums.setdefault(r["location_code"], [None, None, 0, 0])
            known[2 + place] += 1
            if r[field] is not None:
                known[place] = (known[place] or 0) + r[field]
    return [(code, s[0], s[1]) for code, s in sorted(sums.items()) if s[2] and s[3]]


def duckdb_join():
    connection = duckdb_with("avro", "iceberg")
    return lambda names: connection.sql(JOIN.format(**{n: f"iceberg_scan('{t.iceberg}')" for n, t in names.items()})).fetchall()


def spark_join():
    session = spark_session()
    return lambda names: [tuple(r) for r in session.sql(JOIN.format(**{n: f"hdqs.`{n}`" for n in names})).collect()]


def main():
    url, body = fetch(BASE + "/bulk/latest/manifest.json")
    tables = [Table(entry, url) for entry in json.loads(body)["tables"]]
    wants = [expected(t) for t in tables]
    failed = 0
    for engine in sys.argv[3:]:
        read = globals()[engine]()
        found, began = [], time.process_time()
        if engine.endswith("_join"):
            names = {t.name: t for t in tables}
            got, want = read(names), expected_join(names)
            print(f"{engine}: {len(want)} groups, {'equal' if got == want else 'other'}", flush=True)
            if got != want or not want:
                print(f"  {engine}: {got}, want {want}")
                failed += 1
            continue
        for table, want in zip(tables, wants):
            try:
                found += check(table, want, read(table), not engine.endswith("iceberg"))
            except Exception as e:  # of an engine, which may be of any kind
                found.append(f"{table.name}: {type(e).__name__}: {e}")
        print(f"{engine}: {len(tables)} tables, {sum(w[0] for w in wants)} rows, {len(found)} differences, "
              f"{time.process_time() - began:.0f} s of CPU", flush=True)
        for line in found:
            print(f"  {engine}: {line}"[:600])
        failed += len(found)
    leave(int(failed > 0))


main()
