"""Conflict events from chDB, in-process ClickHouse, behind FastAPI.

PEER_TABLES is the directory written by make_tables.py. ClickHouse writes the text of answers, which
is the fastest way.

    PEER_TABLES=DIR uvicorn --app-dir bench/peers chdb_app:app --port 8100 --no-access-log --log-level warning
"""

import os

import chdb
from fastapi import Depends, FastAPI, Response

from events import CSV_FIELDS, FIELDS, Question

SOURCE = f"file('{os.environ['PEER_TABLES']}/events.parquet', Parquet)"
PLAIN = ("id", "admin_level", "events", "fatalities", "has_hrp")
# One thread per query, because one process runs per core, and no lazy materialization: both
# measured faster here.
SETTINGS = (
    "SETTINGS max_threads = 1, query_plan_optimize_lazy_materialization = 0, output_format_json_array_of_rows = 1, "
    "output_format_json_quote_64bit_integers = 0, format_csv_null_representation = ''"
)

database = chdb.connect(":memory:")


def load():
    """Loads the table in answer order, with dictionary-coded texts and indexes that skip granules."""
    columns = []
    for line in str(database.query(f"DESCRIBE {SOURCE}", "TSV")).splitlines():
        name, kind = line.split("\t")[:2]
        columns.append(f"{name} {kind if name in PLAIN else 'LowCardinality(' + kind + ')'}")
    database.query("CREATE DATABASE peer")
    database.query(
        f"CREATE TABLE peer.event ({', '.join(columns)}, "
        "INDEX place location_code TYPE set(0) GRANULARITY 1, "
        "INDEX kind event_type TYPE set(0) GRANULARITY 1, "
        "INDEX ends reference_period_end TYPE minmax GRANULARITY 1, "
        "INDEX starts reference_period_start TYPE minmax GRANULARITY 1) "
        "ENGINE = MergeTree ORDER BY id"
    )
    database.query(f"INSERT INTO peer.event SELECT * FROM {SOURCE} ORDER BY id")
    database.query("OPTIMIZE TABLE peer.event FINAL")


load()
app = FastAPI()


@app.get("/api/v2/coordination-context/conflict-events")
async def conflict_events(question: Question = Depends()):
    where, values = question.where(lambda i, kind: f"{{p{i}:{kind}}}")
    params = {f"p{i}": value for i, value in enumerate(values)}
    if question.output_format == "csv":
        query = f"SELECT {', '.join(CSV_FIELDS)} FROM peer.event {where} {SETTINGS}"
        text = database.query(query, "CSVWithNames", params=params).bytes()
        return Response(text, media_type="text/csv")
    query = f"SELECT {', '.join(FIELDS)} FROM peer.event {where} {SETTINGS}"
    text = database.query(query, "JSONEachRow", params=params).bytes()
    return Response(b'{"data":' + text + b"}", media_type="application/json")
