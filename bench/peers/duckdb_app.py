"""Conflict events of a view dump, answered by DuckDB behind FastAPI: a peer that gives the same records to the same questions.

PEER_VIEWS names the folder of the dumps, PEER_ANSWER how rows become JSON: "rows" (tuples to Python, orjson) or "sql" (DuckDB builds it).

    PEER_VIEWS=DIR uvicorn --app-dir bench/peers duckdb_app:app --port 8100 --no-access-log --log-level warning
"""

import glob
import os
import threading

import duckdb
import orjson
from fastapi import FastAPI, Response

FIELDS = (
    "location_code location_name admin1_code admin1_name admin2_code admin2_name admin_level resource_catalog_id event_type events fatalities "
    "reference_period_start reference_period_end"
).split()

# What a record prints of its place: the provider's name where the unit has none of its own, nothing below its level.
LOAD = """
CREATE TABLE event AS
SELECT row_number() OVER (ORDER BY admin2_ref, event_type, reference_period_start, provider_admin1_name, provider_admin2_name) - 1 AS id,
       location_code, location_name,
       CASE WHEN admin_level >= 1 THEN admin1_code END AS admin1_code,
       CASE WHEN admin_level >= 1 THEN
            CASE WHEN (admin1_name = '' OR lower(admin1_name) = 'unspecified') AND provider_admin1_name <> '' THEN provider_admin1_name ELSE admin1_name END
       END AS admin1_name,
       CASE WHEN admin_level = 2 THEN admin2_code END AS admin2_code,
       CASE WHEN admin_level = 2 THEN
            CASE WHEN (admin2_name = '' OR lower(admin2_name) = 'unspecified') AND provider_admin2_name <> '' THEN provider_admin2_name ELSE admin2_name END
       END AS admin2_name,
       admin_level, resource_hdx_id AS resource_catalog_id, event_type, events, fatalities,
       strftime(reference_period_start, '%Y-%m-%dT%H:%M:%S') AS reference_period_start,
       strftime(reference_period_end, '%Y-%m-%dT%H:%M:%S') AS reference_period_end,
       reference_period_start AS starts, reference_period_end AS ends,
       admin1_name AS stored_admin1_name, provider_admin1_name, has_hrp
FROM (SELECT * REPLACE (coalesce(provider_admin1_name, '') AS provider_admin1_name, coalesce(provider_admin2_name, '') AS provider_admin2_name,
                        coalesce(admin1_name, '') AS admin1_name, coalesce(admin2_name, '') AS admin2_name)
      FROM read_csv(?, header = true, all_varchar = false, types = {
        'provider_admin1_name': 'VARCHAR', 'provider_admin2_name': 'VARCHAR', 'admin1_code': 'VARCHAR', 'admin2_code': 'VARCHAR',
        'admin1_name': 'VARCHAR', 'admin2_name': 'VARCHAR', 'has_hrp': 'BOOLEAN', 'events': 'BIGINT', 'fatalities': 'BIGINT',
        'reference_period_start': 'TIMESTAMP', 'reference_period_end': 'TIMESTAMP', 'admin_level': 'INTEGER', 'admin2_ref': 'INTEGER'}))
ORDER BY id
"""

database = duckdb.connect()
database.execute("SET preserve_insertion_order = true")
database.execute(LOAD, glob.glob(os.environ["PEER_VIEWS"] + "/conflict_event_view.csv*")[:1])
cursors = threading.local()
by_sql = os.environ.get("PEER_ANSWER", "rows") == "sql"
app = FastAPI()


def cursor():
    if not hasattr(cursors, "one"):
        cursors.one = database.cursor()
    return cursors.one


@app.get("/api/v2/coordination-context/conflict-events")
def conflict_events(
    location_code: str = "", event_type: str = "", admin1_name: str = "", has_hrp: bool | None = None,
    start_date: str = "", end_date: str = "", limit: int = 10000, offset: int = 0, output_format: str = "json",
):
    tests, values = [], []
    for test, value in (
        ("location_code ILIKE ?", location_code), ("event_type = ?", event_type),
        ("ends >= ?::TIMESTAMP", start_date), ("starts < ?::TIMESTAMP + INTERVAL 1 DAY", end_date),
    ):
        if value:
            tests.append(test)
            values.append(value)
    if admin1_name:
        tests.append("(stored_admin1_name ILIKE ? OR provider_admin1_name ILIKE ?)")
        values += [f"%{admin1_name}%"] * 2
    if has_hrp is not None:
        tests.append("has_hrp = ?")
        values.append(has_hrp)
    if tests:
        which = "WHERE " + " AND ".join(tests) + f" ORDER BY id LIMIT {limit:d} OFFSET {offset:d}"
    else:  # ids count the rows in their order, so no filter means a range: the fastest that DuckDB can do
        which = f"WHERE id >= {offset:d} AND id < {offset + limit:d} ORDER BY id"
    rows = f"SELECT {', '.join(FIELDS)} FROM event {which}"
    if output_format == "csv":
        lines = cursor().execute(rows, values).fetchall()
        text = ",".join(FIELDS) + "\r\n" + "".join(",".join(map(cell, line)) + "\r\n" for line in lines)
        return Response(text.replace("T00:00:00", " 00:00:00").replace("T23:59:59", " 23:59:59"), media_type="text/csv")
    if by_sql:
        record = "json_object(" + ", ".join(f"'{f}', {f}" for f in FIELDS) + ")"
        text = cursor().execute(f"SELECT coalesce(string_agg({record}, ','), '') FROM ({rows})", values).fetchone()[0]
        return Response('{"data":[' + text + "]}", media_type="application/json")
    lines = cursor().execute(rows, values).fetchall()
    return Response(orjson.dumps({"data": [dict(zip(FIELDS, line)) for line in lines]}), media_type="application/json")


def cell(value):
    if value is None:
        return ""
    text = str(value)
    if any(c in text for c in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


@app.get("/")
def root():
    return {}
