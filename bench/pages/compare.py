"""Compares a page of records with Datasette's page of the same table: CPU time of each.

    compare.py HDQS STORE DATASETTE WORK [ROUNDS]

HDQS and DATASETTE are the programs, STORE is a store with conflict events, WORK a folder for the
SQLite file. The file gets all rows from HDQS, in their order, with a column for the year, and an
index for each column that is counted. Both show 50 rows and count the same fields by value; ours
also draws a chart, and has its caches of bodies off. They take turns: in each round, each answers
each page some times, and the CPU time of its process is divided by their number. The results are
medians over the rounds. Datasette runs twice: as it is by default, when counts end after 200 ms,
and with limits that let all counts end.
"""

import csv
import io
import json
import os
import socket
import sqlite3
import statistics
import subprocess
import sys
import time
import urllib.error
import urllib.request

LIST = "/api/v2/coordination-context/conflict-events"
FACETS = ("location_code", "admin_level", "event_type", "year")
PAGES = {  # name: filters
    "all rows": {},
    "one country": {"location_code": "AFG"},
    "one event type": {"event_type": "demonstration"},
    "one level": {"admin_level": "2"},
}
TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    def __init__(self, name, command):
        self.name = name
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        command = [part.replace("PORT", str(self.port)) for part in command]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def get(self, path):
        address = f"http://127.0.0.1:{self.port}{path}"
        try:
            with urllib.request.urlopen(address, timeout=600) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            if error.code != 400:  # Datasette's answer where a query has reached its time limit
                raise
            return None

    def wait(self, path):
        for _ in range(600):
            try:
                return self.get(path)
            except OSError:
                if self.process.poll() is not None:
                    sys.exit(f"{self.name} has ended")
                time.sleep(0.5)
        sys.exit(f"{self.name} does not answer")

    def cpu(self):
        """Milliseconds of CPU of the process so far."""
        fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / TICKS

    def end(self):
        self.process.terminate()
        self.process.wait()


def make_table(ours, file):
    if os.path.exists(file):
        return
    part = file + ".part"
    if os.path.exists(part):
        os.remove(part)
    database = sqlite3.connect(part)
    database.execute("PRAGMA journal_mode = OFF")
    whole = {"admin_level", "events", "fatalities"}
    offset = 0
    while True:
        text = ours.get(f"{LIST}?output_format=csv&limit=10000&offset={offset}").decode()
        rows = csv.reader(io.StringIO(text))
        head = next(rows)
        if offset == 0:
            types = [c + (" INTEGER" if c in whole else " TEXT") for c in head]
            database.execute(f"CREATE TABLE event (id INTEGER PRIMARY KEY, {', '.join(types)}, year TEXT)")
        start = head.index("reference_period_start")
        page = [[cell or None for cell in row] + [row[start][:4]] for row in rows]
        marks = ", ".join("?" * (len(head) + 1))
        database.executemany(f"INSERT INTO event ({', '.join(head)}, year) VALUES ({marks})", page)
        database.commit()
        if len(page) < 10000:
            break
        offset += 10000
    for field in FACETS:
        database.execute(f"CREATE INDEX event_{field} ON event ({field})")
    database.execute("ANALYZE")
    database.commit()
    database.close()
    os.rename(part, file)


def query(filters, more=()):
    return "&".join([f"{name}={value}" for name, value in filters.items()] + list(more))


def check(ours, theirs, name, filters):
    """Compares what the two count, if nothing was cut short. Returns Datasette's answer."""
    answer = theirs.get("/events/event.json?_size=1&" + query(filters, [f"_facet={f}" for f in FACETS]))
    if answer is None:
        return {"facets_timed_out": FACETS}
    body = json.loads(answer)
    found = json.loads(ours.get(f"{LIST}/facets?limit=10000&" + query(filters, ["of=" + ",".join(FACETS)])))["data"]
    if body.get("facets_timed_out") or body.get("filtered_table_rows_count") is None:
        return body
    for field, facet in body["facet_results"].items():
        theirs_by = {str(r["value"]).lower(): r["count"] for r in facet["results"]}
        ours_by = {str(r["value"]).lower(): r["count"] for r in found if r["field"] == field}
        for value, count in theirs_by.items():
            # Each of ours leaves out the filter of the field itself.
            if field not in filters and ours_by.get(value) != count:
                sys.exit(f"{name}: {field} = {value}: {count} rows, ours has {ours_by.get(value)}")
    return body


def main(hdqs, store, datasette, work, rounds=5):
    os.makedirs(work, exist_ok=True)
    file = os.path.join(work, "events.db")
    serve = [hdqs, "serve", "--store", store, "--listen", "127.0.0.1:PORT", "--body-cache", "0", "--identifier", "off",
             "--log-format", "off", "--queue-wait", "60s", "--data-dir", os.path.join(work, "data")]
    ours = Server("ours", serve)
    servers = [ours]
    try:
        ours.wait("/status")
        make_table(ours, file)
        run = [datasette, "serve", file, "--port", "PORT", "--setting", "max_returned_rows", "1000"]
        usual = Server("Datasette, as it is", run)
        whole = Server("Datasette, without limits", run + [
            "--setting", "facet_time_limit_ms", "600000", "--setting", "sql_time_limit_ms", "600000"])
        servers += [usual, whole]
        for server in (usual, whole):
            server.wait("/-/versions.json")
        rows = json.loads(whole.get("/events.json?sql=select+count(*)+n+from+event&_shape=array"))[0]["n"]
        version = json.loads(whole.get("/-/versions.json"))["datasette"]["version"]
        cut = {}
        for name, filters in PAGES.items():
            check(ours, whole, name, filters)
            cut[name] = check(ours, usual, name, filters).get("facets_timed_out") or []
        facets = [f"_facet={f}" for f in FACETS]
        times = {}
        for _ in range(int(rounds)):
            for name, filters in PAGES.items():
                for server, path, count in (
                    (ours, "/browse/conflict-events?" + query(filters), 20),
                    (usual, "/events/event?_size=50&" + query(filters, facets), 1),
                    (whole, "/events/event?_size=50&" + query(filters, facets), 1),
                ):
                    before = server.cpu()
                    for _ in range(count):
                        server.get(path)
                    times.setdefault((name, server.name), []).append((server.cpu() - before) / count)
        print(f"{rows:,} rows, Datasette {version}; milliseconds of CPU for a page, median (least to most)\n")
        print("| page | ours | Datasette, as it is | ÷ ours | fields not counted in time | without limits | ÷ ours |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for name in PAGES:
            cells, base = [name], statistics.median(times[name, ours.name])
            for server in servers:
                all_times = times[name, server.name]
                median = statistics.median(all_times)
                cells.append(f"{median:,.1f} ({min(all_times):,.1f} to {max(all_times):,.1f})")
                if server is not ours:
                    cells.append(f"{median / base:,.0f}")
                if server is usual:
                    cells.append(f"{len(cut[name])} of {len(FACETS)}")
            print("| " + " | ".join(cells) + " |")
    finally:
        for server in servers:
            server.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
