"""Compares aggregate questions with DuckDB and chDB: CPU time of each, warm, on one thread.

    compare.py HDQS STORE QUESTIONS [ROUNDS]

HDQS serves the store, without its cache of bodies, and answers the questions as requests over loopback:
its CPU time has HTTP in it, and the check that a sum is not wrong. HDQS also exports the tables that the
others get: the same rows in the same order, with enumerations or dictionary codes for texts. The systems
take turns: in each round, each answers each question some times, and its CPU time is divided by their
number. The results are medians over the rounds. All write answers as CSV. Before anything is measured,
all answers are compared.
"""

import csv
import glob
import http.client
import io
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from urllib.parse import parse_qs

import chdb.session
import duckdb

IDENTIFIER = "app_identifier=c3VtczpiZW5jaEBleGFtcGxlLm9yZw=="
MOST_GROUPS = 10_000  # of one page


class Table:
    def __init__(self, line):
        _, self.name, self.path, order = line.split()
        self.order = order.split(",")
        self.columns = []

    def use(self, names):
        self.columns = list(dict.fromkeys(self.columns + names))

    def read(self, exported, directory):
        """Writes the exported table as one file of Parquet, in its order."""
        self.parquet = os.path.join(directory, self.name + ".parquet")
        rows = (f"SELECT t.*, l.has_hrp FROM read_parquet('{exported}/{self.name}/**/*.parquet', filename = true, "
                f"file_row_number = true) t LEFT JOIN '{exported}/location/*.parquet' l ON location_code = l.code"
                if "has_hrp" in self.columns else
                f"FROM read_parquet('{exported}/{self.name}/**/*.parquet', filename = true, file_row_number = true)")
        duckdb.sql(f"COPY (SELECT {', '.join(self.columns)} FROM ({rows}) ORDER BY filename, file_row_number) "
                   f"TO '{self.parquet}' (FORMAT parquet)")
        self.kinds = {name: kind for name, kind, *_ in duckdb.sql(f"DESCRIBE FROM '{self.parquet}'").fetchall()}
        self.rows = duckdb.sql(f"SELECT count(*) FROM '{self.parquet}'").fetchall()[0][0]
        nulls = duckdb.sql(f"SELECT {', '.join(f'count(*) > count({c})' for c in self.columns)} "
                           f"FROM '{self.parquet}'").fetchall()[0]
        self.nulls = dict(zip(self.columns, nulls))

    def texts(self):
        return [c for c in self.columns if self.kinds[c] == "VARCHAR"]


class Question:
    def __init__(self, line):
        self.name, self.table, self.query = line.split()
        values = {name: value[0] for name, value in parse_qs(self.query).items()}
        self.groups = values.pop("group_by").split(",")
        self.measures = [m.split(":") for m in values.pop("measures").split(",")]
        self.filters = values

    def columns(self):
        names = [g for g in self.groups if g not in ("year", "quarter", "month")]
        names += [m[1] for m in self.measures if len(m) > 1] + [f for f in self.filters if f not in ("start_date", "end_date")]
        return names + ["reference_period_start", "reference_period_end"]

    def sql(self, parts, count_distinct):
        """parts: the expression of year, quarter and month of a time, by name."""
        start = "reference_period_start"
        groups = [parts[g].format(start) if g in parts else g for g in self.groups]
        functions = {"mean": "avg({})", "distinct": count_distinct, "sum": "sum({})", "min": "min({})",
                     "max": "max({})"}
        measures = [functions[m[0]].format(m[1]) if len(m) > 1 else "count(*)" for m in self.measures]
        tests = []
        for name, value in self.filters.items():
            if name == "start_date":
                tests.append(f"reference_period_end >= '{value}'")
            elif name == "end_date":
                tests.append(f"reference_period_start <= '{value}'")
            elif value in ("true", "false"):
                tests.append(f"{name} = {value}")
            else:
                tests.append(f"{name} = '{value}'")
        where = " WHERE " + " AND ".join(tests) if tests else ""
        names = ", ".join(f"{g} AS g{i}" for i, g in enumerate(groups))
        by = ", ".join(f"g{i}" for i in range(len(groups)))
        return f"SELECT {names}, {', '.join(measures)} FROM {self.table}{where} GROUP BY {by} ORDER BY {by}"


class Duck:
    name = "DuckDB"
    def __init__(self, tables, directory):
        self.db = duckdb.connect(os.path.join(directory, "tables.duckdb"))
        self.db.execute("SET threads = 1")
        for t in tables:
            for c in t.texts():
                self.db.execute(f"CREATE TYPE {t.name}_{c} AS ENUM (SELECT DISTINCT {c} FROM '{t.parquet}' "
                                f"WHERE {c} IS NOT NULL ORDER BY 1)")
            casts = ", ".join(f"{c}::{t.name}_{c} AS {c}" if c in t.texts() else c for c in t.columns)
            self.db.execute(f"CREATE TABLE {t.name} AS SELECT {casts} FROM '{t.parquet}'")
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
    types = {"VARCHAR": "String", "BIGINT": "Int64", "DOUBLE": "Float64", "BOOLEAN": "Bool",
             "TIMESTAMP": "DateTime('UTC')"}

    def __init__(self, tables, directory):
        self.session = chdb.session.Session(os.path.join(directory, "chdb"))
        self.session.query("CREATE DATABASE IF NOT EXISTS sums ENGINE = Atomic")
        for t in tables:
            def kind(c):
                name = f"Nullable({self.types[t.kinds[c]]})" if t.nulls[c] else self.types[t.kinds[c]]
                return f"LowCardinality({name})" if c in t.texts() else name
            columns = ", ".join(f"{c} {kind(c)}" for c in t.columns)
            order = ", ".join(c for c in t.order if c in t.columns)
            self.session.query(f"CREATE TABLE sums.{t.name} ({columns}) ENGINE = MergeTree ORDER BY ({order}) "
                               "SETTINGS allow_nullable_key = 1")
            self.session.query(f"INSERT INTO sums.{t.name} SELECT {', '.join(t.columns)} "
                               f"FROM file('{t.parquet}', Parquet)")
            self.session.query(f"OPTIMIZE TABLE sums.{t.name} FINAL")

    def sql(self, q):
        sql = q.sql({"year": "toYear({})", "quarter": "toStartOfQuarter({})", "month": "toStartOfMonth({})"},
                    "uniqExact({})")
        return sql.replace(f"FROM {q.table}", f"FROM sums.{q.table}") + " SETTINGS max_threads = 1"

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

    def __init__(self, program, store, tables):
        self.paths = {t.name: t.path for t in tables}
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = "%s:%d" % free.getsockname()
        self.process = subprocess.Popen([program, "serve", "--store", store, "--listen", address, "--log-format", "off",
                                         "--body-cache", "0"], stdout=subprocess.DEVNULL, env=os.environ | {"GOMAXPROCS": "1"})
        self.connection = http.client.HTTPConnection(address)
        while self.process.poll() is None:
            try:
                return self.connection.connect()
            except OSError:
                time.sleep(0.1)
        sys.exit("the server ended")

    def ask(self, q):
        self.connection.request("GET", f"/api/v2/{self.paths[q.table]}/aggregate?{q.query}&output_format=csv"
                                f"&limit={MOST_GROUPS}&{IDENTIFIER}")
        answer = self.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            sys.exit(f"{q.name}: {answer.status} {body.decode()}")
        return body

    def answer(self, q):
        self.connection.close()  # the server may have ended it while the others were slow
        return list(csv.reader(io.StringIO(self.ask(q).decode())))[1:]

    def cpu(self):
        """Seconds of all threads of the server. Those of Go do not end."""
        seconds = 0
        for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
            with open(path) as file:
                seconds += int(file.read().split()[0]) / 1e9
        return seconds

    def run(self, q, times):
        self.connection.close()
        before = self.cpu()
        for _ in range(times):
            self.ask(q)
        return (self.cpu() - before) / times

    def end(self):
        self.process.terminate()
        self.process.wait()


def cpu():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def plain(q, rows):
    """Rows in a form that all systems share: measures as floats, periods as months."""
    def cell(i, value):
        if value is None or value == "":
            return None
        text = str(value)
        if i < len(q.groups):
            if q.groups[i] == "quarter" and "Q" in text:
                return f"{text[:4]}-{int(text[6]) * 3 - 2:02d}"
            if q.groups[i] == "reference_period_start":
                return text[:10]
            return text[:7] if q.groups[i] in ("quarter", "month") else text
        return float(text)

    return sorted(([cell(i, v) for i, v in enumerate(row)] for row in rows), key=lambda row: [str(cell) for cell in row[: len(q.groups)]])


def main(hdqs, store, questions, rounds=7):
    lines = [line for line in open(questions) if line.strip() and line[0] != "#"]
    tables = {t.name: t for t in (Table(line) for line in lines if line.startswith("table "))}
    asked = [Question(line) for line in lines if not line.startswith("table ")]
    for q in asked:
        tables[q.table].use(q.columns())
    directory = tempfile.mkdtemp(prefix="sums-")
    exported = os.path.join(directory, "exported")
    subprocess.check_call([hdqs, "export", exported, "--store", store, "--formats", "parquet"],
                          stdout=subprocess.DEVNULL)
    ours = Ours(hdqs, store, tables.values())
    try:
        for t in tables.values():
            t.use(t.order)
            t.read(exported + "/latest", directory)
        systems = [ours, Duck(tables.values(), directory), Click(tables.values(), directory)]
        for q in asked:
            want = plain(q, systems[0].answer(q))
            for s in systems[1:]:
                check(q, s.name, plain(q, s.answer(q)), want)
        report(tables.values(), asked, systems, measure(asked, systems, int(rounds)))
    finally:
        ours.end()
        shutil.rmtree(directory)


def check(q, name, have, want):
    """Ends the program unless two answers are the same, numbers up to the rounding of floats."""
    def same(a, b):
        if a is None or b is None or isinstance(a, str) or isinstance(b, str):
            return a == b
        return abs(a - b) <= 1e-9 * max(abs(a), abs(b))

    if len(have) != len(want):
        sys.exit(f"{q.name}: {name} has {len(have)} groups, want {len(want)}")
    for a, b in zip(have, want):
        if not all(map(same, a, b)):
            sys.exit(f"{q.name}: {name} has {a}, want {b}")


def measure(asked, systems, rounds):
    """Seconds of CPU by question, system and round."""
    figures = {}
    for q in asked:
        times = {s.name: max(1, int(0.05 / s.run(q, 2))) for s in systems}
        for turn in range(rounds):
            for s in systems if turn % 2 == 0 else reversed(systems):
                figures.setdefault((q.name, s.name), []).append(s.run(q, times[s.name]))
    return figures


def report(tables, asked, systems, figures):
    rows = sum(t.rows for t in tables)
    print(f"{rows:,} rows in {len(tables)} tables, DuckDB {duckdb.__version__}, chDB {chdb.__version__}; "
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
