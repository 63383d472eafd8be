"""Conflict events from DuckDB behind FastAPI as an Arrow IPC stream, record batch by record batch.

    EXPORT_PARQUET=FILE uvicorn --app-dir bench/export duckdb_arrow:app --port 8100

The table is in memory, in the order of answers. With EXPORT_TEXTS=enum it has codes for texts, so that
DuckDB sends dictionaries as the program does; else they are VARCHAR, as DuckDB reads them from a file.
Nothing is validated or counted.
"""

import os

import duckdb
import pyarrow as pa
from fastapi import FastAPI
from fastapi.responses import StreamingResponse

database = duckdb.connect(":memory:")
TEXTS = set() if os.environ.get("EXPORT_TEXTS") != "enum" else {
    name for name, kind, *_ in database.execute(f"DESCRIBE FROM '{os.environ['EXPORT_PARQUET']}'").fetchall()
    if kind == "VARCHAR"}
columns = [name for name, *_ in database.execute(f"DESCRIBE FROM '{os.environ['EXPORT_PARQUET']}'").fetchall()]
for name in TEXTS:
    database.execute(f"CREATE TYPE {name}_type AS ENUM (SELECT DISTINCT {name} FROM "
                     f"'{os.environ['EXPORT_PARQUET']}' WHERE {name} IS NOT NULL ORDER BY 1)")
database.execute("CREATE TABLE event AS SELECT " + ", ".join(
    f"{name}::{name}_type AS {name}" if name in TEXTS else name for name in columns) +
    f" FROM '{os.environ['EXPORT_PARQUET']}'")
app = FastAPI()


class Sink:
    """What a writer has written since it was last asked."""

    def __init__(self):
        self.parts, self.closed = [], False

    def write(self, data):
        self.parts.append(data)
        return len(data)

    def take(self):
        parts, self.parts = self.parts, []
        return b"".join(parts)


@app.get("/events")
def events(before: str, limit: int):
    reader = database.cursor().execute(
        "SELECT * FROM event WHERE reference_period_start < ?::TIMESTAMP LIMIT ?", [before, limit]
    ).to_arrow_reader(65536)

    def stream():
        sink = Sink()
        with pa.ipc.new_stream(pa.PythonFile(sink, "w"), reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)
                yield sink.take()
        yield sink.take()

    return StreamingResponse(stream(), media_type="application/vnd.apache.arrow.stream")
