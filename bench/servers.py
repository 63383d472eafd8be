"""Servers that compare.py and swaps.py start and measure, and the mixes of queries that they send."""
import contextlib
import json
import os
import shlex
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

BENCH = os.environ.get("HDQS_BENCH_LOAD") or os.path.join(os.path.dirname(__file__), "..", "bin", "bench")
IDENTIFIER = {"X-CATALOG-API-APP-IDENTIFIER": "aGRxcyBiZW5jaDpiZW5jaEBleGFtcGxlLm9yZw=="}


class Query:
    """A line of a mix: weight, name, path with query string, words (see mix.go), and bounds of cost."""

    def __init__(self, line):
        self.weight, self.name, self.path, *words = line.split()
        self.words = [w for w in words if "<=" not in w]
        self.bounds = [Bound(w) for w in words if "<=" in w]
        self.conditional = "conditional" in words
        self.body = self.conditional or not any(w.startswith("status=") for w in words)  # a 200 has it

    def line(self, path=None):
        return " ".join([self.weight, self.name, path or self.path, *self.words])


class Bound:
    """An upper limit on the cost of an answer, as CODING:MEASURE<=MOST. The measures are

    cpu/SERVER    our CPU per request divided by the named server's in the same round
    cpu/CODING    the same divided by ours for the answer in another coding
    bytes/gzipN   length of the body sent, divided by that of the plain body at gzip level N
    """

    def __init__(self, word):
        what, most = word.split("<=")
        self.coding, measure = what.split(":")
        self.kind, self.other = measure.split("/")
        self.most = float(most)
        if self.kind not in ("cpu", "bytes") or self.coding not in ("identity", "gzip", "zstd"):
            raise ValueError(f"{word}: want a bound such as gzip:cpu/nginx<=1.5 or gzip:bytes/gzip6<=1.3")


def read_mixes(paths, only=""):
    queries = [Query(line) for path in paths.split(",") for line in open(path)
               if line.strip() and not line.startswith("#")]
    queries = [q for q in queries if any(part in q.name for part in only.split(","))]
    if not queries:
        raise ValueError(f"{paths}: no query has a name that contains {only!r}")
    return queries


class Server:
    """A server that runs: NAME=http://HOST:PORT[,PID], or NAME=COMMAND with {listen}, which is started."""

    def __init__(self, text, wrap="", paths=None):
        self.name, _, rest = text.partition("=")
        self.paths = paths  # of answers, on a server of files: by query and coding
        self.process = None
        if rest.startswith("http://"):
            self.url, _, pid = rest.partition(",")
            self.pid = int(pid or 0)
            return
        if "{listen}" not in rest and paths is None:
            raise ValueError(f"{text}: want NAME=http://HOST:PORT[,PID] or NAME=COMMAND with {{listen}}")
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "%s:%d" % free.getsockname()
        self.url = "http://" + self.address
        self.stderr = tempfile.TemporaryFile("w+")
        self.wrap, self.command = wrap, rest

    def start(self, first):
        """Starts it, and waits for its first good answer to a query."""
        if getattr(self, "command", None) is None:
            return self
        command = (self.wrap + " " + self.command).replace("{listen}", self.address)
        self.process = subprocess.Popen(shlex.split(command), stderr=self.stderr, stdout=subprocess.DEVNULL)
        self.pid = self.process.pid
        end = time.monotonic() + 60
        while True:
            try:
                self.get(first, "identity")
                return self
            except (OSError, urllib.error.URLError) as e:
                if self.process.poll() is None and time.monotonic() < end:
                    time.sleep(0.005)
                    continue
                self.stop()
                self.stderr.seek(0)
                raise RuntimeError(f"{self.name} does not answer {first.name}: {e}; stderr: {self.stderr.read()}") from e

    def stop(self):
        if self.process:
            self.process.terminate()
            self.process.wait(20)

    def path(self, query, coding):
        """The path of an answer, None if it has none."""
        return query.path if self.paths is None else self.paths.get((query.name, coding))

    def get(self, query, coding):
        """The header and the body of an answer, as sent."""
        headers = {"Accept-Encoding": coding, **IDENTIFIER}
        with urllib.request.urlopen(urllib.request.Request(self.url + self.path(query, coding), headers=headers)) as r:
            return r.headers, r.read()

    def load(self, queries, coding, *flags):
        """Sends a mix, and returns the figures of `bench load`."""
        lines = "\n".join(q.line(self.path(q, coding)) for q in queries)
        done = subprocess.run([BENCH, "load", "--encoding", coding, "--pid", str(self.pid), *flags, self.url],
                              input=lines, text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(f"{self.name}: {done.stderr}")
        return json.loads(done.stdout)


@contextlib.contextmanager
def running(server, queries):
    """Starts a server, and stops it at the end."""
    try:
        yield server.start(next(q for q in queries if q.body and server.path(q, "identity")))
    finally:
        server.stop()


def spread(figures):
    """Median, least and greatest."""
    s = sorted(figures)
    return {"Median": (s[(len(s) - 1) // 2] + s[len(s) // 2]) / 2, "Low": s[0], "High": s[-1]} if s else \
        {"Median": 0, "Low": 0, "High": 0}


def divide(a, b):
    """The spread of ratios of neighbouring bursts. Rounds without both figures are left out."""
    return spread([x / y for x, y in zip(a, b) if x > 0 and y > 0])


def text(ratio):
    return "{Median:.3g} ({Low:.3g}-{High:.3g})".format(**ratio) if ratio["Median"] else ""


def table(title, columns, rows):
    """A table in Markdown. Columns whose names end with a colon are aligned to the right."""
    if rows:
        print(f"\n## {title}\n\n| " + " | ".join(c.rstrip(":") for c in columns) + " |")
        print("|" + "|".join("--:" if c.endswith(":") else "---" for c in columns) + "|")
    for row in rows:
        print("| " + " | ".join(f"{c:.5g}" if isinstance(c, float) else str(c) for c in row) + " |")


def targets(verdicts):
    """Prints the table of targets, and returns whether all are met."""
    for v in verdicts:
        v["Met"] = 0 < v["Got"]["Median"] <= v["Most"]
    table("Targets", ["work", "coding", "control", "target:", "measured:", "met"],
          [(v["Query"], v["Encoding"], v["Control"], v["Most"], text(v["Got"]), "yes" if v["Met"] else "**no**")
           for v in verdicts])
    return all(v["Met"] for v in verdicts)
