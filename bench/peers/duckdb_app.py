"""Conflict events from DuckDB behind FastAPI: a peer that gives the same records for the same requests.

PEER_TABLES is the directory written by make_tables.py. PEER_ANSWER selects what writes the text of
answers: "rows" (Python, with orjson and csv, from tuples) or "sql" (DuckDB).

    PEER_TABLES=DIR uvicorn --app-dir bench/peers duckdb_app:app --port 8100 --no-access-log --log-level warning
"""

import csv
import io
import os

import duckdb
import orjson
from fastapi import Depends, FastAPI, Response

from events import CSV_FIELDS, FIELDS, Question

database = duckdb.connect(":memory:")
database.execute("SET threads = 1")  # one process per core has a higher rate than threads, and less CPU per answer
database.execute(f"ATTACH '{os.environ['PEER_TABLES']}/events.duckdb' AS disk (READ_ONLY)")
database.execute("CREATE TABLE event AS FROM disk.event ORDER BY id")
database.execute("DETACH disk")
by_sql = os.environ.get("PEER_ANSWER", "rows") == "sql"
# COPY writes only files; this one is in memory.
scratch = f"/proc/self/fd/{os.memfd_create('answer')}"
app = FastAPI()


@app.get("/api/v2/coordination-context/conflict-events")
async def conflict_events(question: Question = Depends()):
    # preserve_insertion_order, which is on, keeps the order of the table. Sorting by id again would
    # cost three times as much.
    where, values = question.where(lambda i, kind: "?", order="")
    if question.output_format == "csv":
        answer = csv_by_sql if by_sql else csv_by_rows
        return Response(answer(f"SELECT {', '.join(CSV_FIELDS)} FROM event {where}", values), media_type="text/csv")
    answer = json_by_sql if by_sql else json_by_rows
    return Response(answer(f"SELECT {', '.join(FIELDS)} FROM event {where}", values), media_type="application/json")


def json_by_rows(rows, values):
    lines = database.execute(rows, values).fetchall()
    return orjson.dumps({"data": [dict(zip(FIELDS, line)) for line in lines]})


def json_by_sql(rows, values):
    query = f"SELECT coalesce(string_agg(to_json(record), ','), '') FROM ({rows}) record"
    text = database.execute(query, values).fetchone()[0]
    return '{"data":[' + text + "]}"


def csv_by_rows(rows, values):
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(FIELDS)
    writer.writerows(database.execute(rows, values).fetchall())
    return text.getvalue()


def csv_by_sql(rows, values):
    database.execute(f"COPY ({rows}) TO '{scratch}' (FORMAT csv, HEADER, USE_TMP_FILE false)", values)
    with open(scratch, "rb") as f:
        return f.read()
