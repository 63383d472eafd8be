"""Compares aggregate questions with DuckDB and chDB: CPU time of each, warm, on one thread.

    compare.py VIEWS SEGMENT SUMS QUESTIONS [ROUNDS]

VIEWS is a directory of view dumps with conflict events, SEGMENT the same table as a segment, SUMS
the program of bench/sums. The systems take turns: in each round, each answers each question some
times, and its CPU time (getrusage) is divided by their number. The table of results has medians.

DuckDB and chDB get tables of their own, in the order of the segment, with enumerations and
dictionary codes for texts. All write the answer as CSV. Before anything is measured, all answers
are compared.
"""

import csv
import glob
import io
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from urllib.parse import parse_qs

import chdb.session
import duckdb

COLUMNS = ("location_code", "admin1_code", "admin2_code", "admin_level", "has_hrp", "event_type", "events",
           "fatalities", "reference_period_start", "reference_period_end")

LOAD = """
CREATE TABLE load AS
SELECT location_code, has_hrp, CASE WHEN admin_level >= 1 THEN admin1_code END AS admin1_code,
       CASE WHEN admin_level = 2 THEN admin2_code END AS admin2_code, admin_level, event_type, events, fatalities,
       reference_period_start, reference_period_end, admin2_ref
FROM read_csv(?, header = true, types = {
    'admin1_code': 'VARCHAR', 'admin2_code': 'VARCHAR', 'has_hrp': 'BOOLEAN', 'events': 'INTEGER',
    'fatalities': 'INTEGER', 'reference_period_start': 'TIMESTAMP', 'reference_period_end': 'TIMESTAMP',
    'admin_level': 'TINYINT', 'admin2_ref': 'INTEGER'})
"""


class Question:
    def __init__(self, line):
        self.name, self.query = line.split()
        values = {name: value[0] for name, value in parse_qs(self.query).items()}
        self.groups = values.pop("group_by").split(",")
        self.measures = [m.split(":") for m in values.pop("measures").split(",")]
        self.filters = values

    def sql(self, parts, count_distinct):
        """parts: the expression of year, quarter and month of a time, by name."""
        start = "reference_period_start"
        groups = [parts[g].format(start) if g in parts else g for g in self.groups]
        functions = {"mean": "avg({})", "distinct": count_distinct, "sum": "sum({})", "max": "max({})"}
        measures = [functions[m[0]].format(m[1]) if len(m) > 1 else "count(*)" for m in self.measures]
        tests = []
        for name, value in self.filters.items():
            if name == "start_date":
                tests.append(f"reference_period_end >= '{value}'")
            elif value in ("true", "false"):
                tests.append(f"{name} = {value}")
            else:
                tests.append(f"{name} = '{value}'")
        where = " WHERE " + " AND ".join(tests) if tests else ""
        names = ", ".join(f"{g} AS g{i}" for i, g in enumerate(groups))
        by = ", ".join(f"g{i}" for i in range(len(groups)))
        return f"SELECT {names}, {', '.join(measures)} FROM event{where} GROUP BY {by} ORDER BY {by}"


class Duck:
    name = "DuckDB"
    parts = {"year": "year({})", "quarter": "strftime(date_trunc('quarter', {}), '%Y-%m')",
             "month": "strftime(date_trunc('month', {}), '%Y-%m')"}

    def __init__(self, parquet, directory):
        self.db = duckdb.connect(os.path.join(directory, "events.duckdb"))
        self.db.execute("SET threads = 1")
        for column in ("location_code", "admin1_code", "admin2_code", "event_type"):
            self.db.execute(f"CREATE TYPE {column} AS ENUM (SELECT DISTINCT {column} FROM '{parquet}' "
                            f"WHERE {column} IS NOT NULL ORDER BY 1)")
        casts = ", ".join(f"{c}::{c} AS {c}" if c in ("location_code", "admin1_code", "admin2_code", "event_type")
                          else c for c in COLUMNS)
        self.db.execute(f"CREATE TABLE event AS SELECT {casts} FROM '{parquet}'")
        self.db.execute("CHECKPOINT")

    def sql(self, q):
        # Times are grouped first and written afterwards, which is faster.
        text = {"month": "%Y-%m", "quarter": "%Y-%m"}
        sql = q.sql({"year": "year({})", "quarter": "date_trunc('quarter', {})",
                     "month": "date_trunc('month', {})"}, "count(DISTINCT {})")
        outer = ", ".join(f"strftime(g{i}, '{text[g]}') AS g{i}" for i, g in enumerate(q.groups) if g in text)
        return f"SELECT * REPLACE ({outer}) FROM ({sql})" if outer else sql

    def answer(self, q):
        return self.db.execute(self.sql(q)).fetchall()

    def run(self, q, times):
        sql = f"COPY ({self.sql(q)}) TO '/dev/null' (FORMAT csv, HEADER false)"
        before = cpu()
        for _ in range(times):
            self.db.execute(sql)
        return (cpu() - before) / times


class Click:
    name = "chDB"
    types = {"location_code": "LowCardinality(String)", "admin1_code": "LowCardinality(Nullable(String))",
             "admin2_code": "LowCardinality(Nullable(String))", "admin_level": "UInt8", "has_hrp": "Bool",
             "event_type": "LowCardinality(String)", "events": "Nullable(UInt32)", "fatalities": "Nullable(UInt32)",
             "reference_period_start": "DateTime('UTC')", "reference_period_end": "DateTime('UTC')"}

    def __init__(self, parquet, directory):
        self.session = chdb.session.Session(os.path.join(directory, "chdb"))
        columns = ", ".join(f"{c} {self.types[c]}" for c in COLUMNS)
        # The order of rows is that of the segment: by place, type and period.
        self.session.query("CREATE DATABASE IF NOT EXISTS sums ENGINE = Atomic")
        self.session.query(f"CREATE TABLE sums.event ({columns}) ENGINE = MergeTree "
                           "ORDER BY (location_code, admin1_code, admin2_code, event_type, reference_period_start) "
                           "SETTINGS allow_nullable_key = 1")
        self.session.query(f"INSERT INTO sums.event SELECT {', '.join(COLUMNS)} FROM file('{parquet}', Parquet)")
        self.session.query("OPTIMIZE TABLE sums.event FINAL")

    def sql(self, q):
        sql = q.sql({"year": "toYear({})", "quarter": "toStartOfQuarter({})", "month": "toStartOfMonth({})"},
                    "uniqExact({})")
        return sql.replace("FROM event", "FROM sums.event") + " SETTINGS max_threads = 1"

    def answer(self, q):
        text = str(self.session.query(self.sql(q), "CSV"))
        return [[None if cell == "\\N" else cell for cell in row] for row in csv.reader(io.StringIO(text))]

    def run(self, q, times):
        sql = self.sql(q)
        before = cpu()
        for _ in range(times):
            self.session.query(sql, "CSV")
        return (cpu() - before) / times


class Ours:
    name = "ours"

    def __init__(self, program, segment):
        self.process = subprocess.Popen([program, segment], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, q, times):
        self.process.stdin.write(f"{times} {q.query}\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def answer(self, q):
        return list(csv.reader(io.StringIO(self.ask(q, 1)["csv"])))

    def run(self, q, times):
        return self.ask(q, times)["seconds"] / times


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def plain(q, rows):
    """Rows in a form that all systems share: numbers as floats of 12 digits, periods as months."""
    def cell(i, value):
        if value is None or value == "":
            return None
        text = str(value)
        if i < len(q.groups):
            if q.groups[i] == "quarter" and "Q" in text:
                return f"{text[:4]}-{int(text[6]) * 3 - 2:02d}"
            return text[:7] if q.groups[i] in ("quarter", "month") else text
        return f"{float(text):.12g}"

    return sorted(([cell(i, v) for i, v in enumerate(row)] for row in rows), key=str)


def main(views, segment, program, questions, rounds=7):
    asked = [Question(line) for line in open(questions) if line.strip() and line[0] != "#"]
    directory = tempfile.mkdtemp(prefix="sums-", dir=os.path.dirname(os.path.abspath(views)))
    try:
        parquet = os.path.join(directory, "events.parquet")
        database = duckdb.connect()
        database.execute(LOAD, glob.glob(views + "/conflict_event_view.csv*")[:1])
        database.execute(f"COPY (SELECT {', '.join(COLUMNS)} FROM load ORDER BY admin2_ref, event_type, "
                         f"reference_period_start) TO '{parquet}' (FORMAT parquet)")
        rows = database.execute("SELECT count(*) FROM load").fetchone()[0]
        database.close()
        systems = [Ours(program, segment), Duck(parquet, directory), Click(parquet, directory)]
        for q in asked:
            want = plain(q, systems[0].answer(q))
            for s in systems[1:]:
                if plain(q, s.answer(q)) != want:
                    sys.exit(f"{q.name}: {s.name} answers otherwise: "
                             f"{[p for p in zip(plain(q, s.answer(q)), want) if p[0] != p[1]][:3]}")
        report(rows, asked, systems, measure(asked, systems, int(rounds)))
    finally:
        shutil.rmtree(directory)


def measure(asked, systems, rounds):
    """Seconds of CPU by question, system and round."""
    figures = {}
    for q in asked:
        times = {s.name: max(1, int(0.05 / s.run(q, 2))) for s in systems}
        for turn in range(rounds):
            for s in systems if turn % 2 == 0 else reversed(systems):
                figures.setdefault((q.name, s.name), []).append(s.run(q, times[s.name]))
    return figures


def report(rows, asked, systems, figures):
    print(f"{rows:,} rows, DuckDB {duckdb.__version__}, chDB {chdb.__version__}; "
          "milliseconds of CPU for an answer, median (least to most)\n")
    print("| question | " + " | ".join(s.name for s in systems) + " | better of the two ÷ ours |")
    print("|---|" + "--:|" * (len(systems) + 1))
    for q in asked:
        medians = [statistics.median(figures[q.name, s.name]) for s in systems]
        cells = [f"{m * 1000:.2f} ({min(figures[q.name, s.name]) * 1000:.2f} to {max(figures[q.name, s.name]) * 1000:.2f})"
                 for m, s in zip(medians, systems)]
        print(f"| {q.name} | {' | '.join(cells)} | {min(medians[1:]) / medians[0]:.1f} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
