"""Makes the peers' tables from a directory of view dumps: events.duckdb, events.parquet and
events.sqlite, in answer order.

    make_tables.py VIEWS OUT
"""

import glob
import os
import sqlite3
import sys

import duckdb

from events import LOAD

# Each index returns rows in order of id, so a page of a location, or of a location and type, needs
# no sort.
INDEXES = ("location_code", "location_code, event_type", "event_type, has_hrp")


def main(views, out):
    os.makedirs(out, exist_ok=True)
    for name in ("events.duckdb", "events.parquet", "events.sqlite", "events.part"):
        if os.path.exists(os.path.join(out, name)):
            os.remove(os.path.join(out, name))
    database = duckdb.connect(os.path.join(out, "events.duckdb"))
    database.execute("SET preserve_insertion_order = true")
    database.execute(LOAD, glob.glob(views + "/conflict_event_view.csv*")[:1])
    database.execute(
        f"COPY (SELECT * FROM event ORDER BY id) TO '{out}/events.parquet' (FORMAT parquet, COMPRESSION zstd)"
    )
    columns = [line[0] for line in database.execute("DESCRIBE event").fetchall()]
    light = sqlite3.connect(os.path.join(out, "events.part"))
    light.execute("PRAGMA journal_mode = OFF")
    light.execute(f"CREATE TABLE event (id INTEGER PRIMARY KEY, {', '.join(columns[1:])})")
    rows = database.execute("SELECT * FROM event ORDER BY id")
    while some := rows.fetchmany(100_000):
        light.executemany(f"INSERT INTO event VALUES ({', '.join('?' * len(columns))})", some)
    for i, index in enumerate(INDEXES):
        light.execute(f"CREATE INDEX event_{i} ON event ({index})")
    light.execute("ANALYZE")
    light.commit()
    count = light.execute("SELECT count(*) FROM event").fetchone()[0]
    light.close()
    # Last: its existence means that all are complete.
    os.rename(os.path.join(out, "events.part"), os.path.join(out, "events.sqlite"))
    print(f"{count} rows in {out}", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
