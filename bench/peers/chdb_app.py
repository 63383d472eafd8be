"""Conflict events answered by chDB, which is ClickHouse within the process, behind FastAPI.

PEER_TABLES names the folder that make_tables.py filled. ClickHouse writes the text of the answers itself, which is what it is fastest at.

    PEER_TABLES=DIR uvicorn --app-dir bench/peers chdb_app:app --port 8100 --no-access-log --log-level warning
"""

import os

import chdb
from fastapi import Depends, FastAPI, Response

from events import CSV_FIELDS, FIELDS, Question

SOURCE = f"file('{os.environ['PEER_TABLES']}/events.parquet', Parquet)"
PLAIN = ("id", "admin_level", "events", "fatalities", "has_hrp")
# One thread a query, for a process runs on each core, and no second pass for columns left out at first: both measured faster here.
SETTINGS = (
    "SETTINGS max_threads = 1, query_plan_optimize_lazy_materialization = 0, output_format_json_array_of_rows = 1, "
    "output_format_json_quote_64bit_integers = 0, format_csv_null_representation = ''"
)

database = chdb.connect(":memory:")


def load():
    """Sorts the table as answers are, with texts as codes of a dictionary, and lets small indexes say which granules can be left out."""
    columns = []
    for line in str(database.query(f"DESCRIBE {SOURCE}", "TSV")).splitlines():
        name, kind = line.split("\t")[:2]
        columns.append(f"{name} {kind if name in PLAIN else 'LowCardinality(' + kind + ')'}")
    database.query("CREATE DATABASE peer")
    database.query(
        f"CREATE TABLE peer.event ({', '.join(columns)}, INDEX place location_code TYPE set(0) GRANULARITY 1, INDEX kind event_type TYPE set(0) GRANULARITY 1, "
        "INDEX ends reference_period_end TYPE minmax GRANULARITY 1, INDEX starts reference_period_start TYPE minmax GRANULARITY 1) "
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
        text = database.query(f"SELECT {', '.join(CSV_FIELDS)} FROM peer.event {where} {SETTINGS}", "CSVWithNames", params=params).bytes()
        return Response(text, media_type="text/csv")
    text = database.query(f"SELECT {', '.join(FIELDS)} FROM peer.event {where} {SETTINGS}", "JSONEachRow", params=params).bytes()
    return Response(b'{"data":' + text + b"}", media_type="application/json")
