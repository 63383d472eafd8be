"""Compares the server with databases that answer the same questions, once a release.

    compare.py BENCH START BIN TABLES [PEERS [ROUNDS]]

BENCH is the program of bench, START the command of our server, BIN the directory of the peers'
programs and TABLES that of make_tables.py. PEERS is peers.txt, beside this file. Nothing is
measured before all servers gave the same records in the same order, numbers as 64-bit floats.
Then `bench pair` asks them in turn. Prints Markdown.
"""

import csv
import gzip
import io
import json
import os
import re
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
MIX = os.path.join(HERE, "..", "mixes", "peers.txt")
IDENTIFIER = {"X-CATALOG-API-APP-IDENTIFIER": "aGRxcyBiZW5jaDpiZW5jaEBleGFtcGxlLm9yZw=="}
WANTED = {"CPU": 20, "CPU, gzip": 20, "rate": 8, "rate, gzip": 15}


def lines(path):
    with open(path) as f:
        return [line.strip() for line in f if line.strip() and not line.startswith("#")]


def questions():
    return {name: (path, []) for _, name, path in (line.split() for line in lines(MIX))}


def translation(path):
    """The questions for a server with another interface, and the fields that it leaves out if null."""
    words, asks, fields, name = {}, {}, [], ""
    for line in lines(path):
        line = re.sub(r"{(\w+)}", lambda m: words[m[1]], line)
        word, _, rest = line.partition(" ")
        if word == "let":
            key, _, words_of = rest.partition(" ")
            words[key] = words_of
        elif word == "absent-is-null":
            fields = rest.split()
        elif word == "query":
            name = rest
            asks[name] = {"sql": []}
        elif word == "sql":
            asks[name]["sql"].append(rest)
        else:
            asks[name][word] = rest
    result = {}
    for name, ask in asks.items():
        sql = " ".join(ask["sql"])
        headers = ["header=Accept:" + ask["accept"]] if "accept" in ask else []
        if "get" in ask:
            result[name] = (ask["get"] + "&" + urllib.parse.urlencode({"sql": sql}), headers)
        else:
            result[name] = (ask["post"], headers + ["body=" + urllib.parse.quote_plus(sql)])
    return result, fields


class Server:
    def __init__(self, name, command, asks, fields=()):
        self.name, self.asks, self.fields = name, asks, fields
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = str(s.getsockname()[1])
        self.url = "http://127.0.0.1:" + port
        command = command.replace("{listen}", "127.0.0.1:" + port).replace("{port}", port)
        self.process = subprocess.Popen(shlex.split(command), stdout=subprocess.DEVNULL)
        self.pid = self.process.pid

    def rows(self, name):
        path, words = self.asks[name]
        values = dict(word.split("=", 1) for word in words)
        headers = dict(IDENTIFIER)
        if "header" in values:
            headers.update([values["header"].split(":", 1)])
        body = urllib.parse.unquote_plus(values["body"]).encode() if "body" in values else None
        with urllib.request.urlopen(urllib.request.Request(self.url + path, body, headers), timeout=60) as r:
            data, kind = r.read(), r.headers.get_content_type()
            if r.headers["Content-Encoding"] == "gzip":
                data = gzip.decompress(data)
        if kind.endswith("/csv"):
            return list(csv.reader(io.StringIO(data.decode())))
        found = json.loads(data, parse_int=float)
        if isinstance(found, dict) and "columns" in found:
            found = [dict(zip(found["columns"], row, strict=True)) for row in found["rows"]]
        elif isinstance(found, dict):
            found = found["data"]
        return [{**dict.fromkeys(self.fields), **row} for row in found]

    def wait(self, name):
        end = time.time() + 120
        while True:
            try:
                return self.rows(name)
            except (OSError, urllib.error.URLError):
                if time.time() > end or self.process.poll() is not None:
                    raise
                time.sleep(0.2)

    def argument(self, directory):
        mix = os.path.join(directory, self.name)
        with open(mix, "w") as f:
            f.writelines(f"1 {name} {path} {' '.join(words)}\n" for name, (path, words) in self.asks.items())
        return f"{self.name}={self.url},{self.pid},{mix}"


def start(command, bin, tables, peers, servers):
    servers.append(Server("ours", command, questions()))
    for line in lines(peers):
        name, own, command = line.split(None, 2)
        asks, fields = (questions(), []) if own == "-" else translation(os.path.join(HERE, own))
        for word, text in {"{bin}": bin, "{tables}": tables, "{here}": HERE}.items():
            command = command.replace(word, text)
        servers.append(Server(name, command, asks, fields))
    for name in questions():
        want = servers[0].wait(name)
        for s in servers[1:]:
            if s.wait(name) != want:
                sys.exit(f"{name}: {s.name} gives other rows than ours")


def measure(bench, servers, rounds):
    ours = servers[0]
    zipped = {name: (path, ["header=Accept-Encoding:gzip"]) for name, (path, _) in ours.asks.items()}
    with tempfile.TemporaryDirectory() as directory:
        arguments = [s.argument(directory) for s in servers]
        plain = ours.asks
        ours.name, ours.asks = "ours-gzip", zipped
        arguments.insert(1, ours.argument(directory))
        ours.name, ours.asks = "ours", plain
        out = subprocess.check_output([bench, "pair", "--unlike", "--json", "--encodings", "identity", "--mix", MIX,
                                       "--rounds", rounds, *arguments])
    return json.loads(out)


def ratio(a, b):
    return statistics.median(x / y for x, y in zip(a, b))


def report(cells):
    for name in questions():
        of = {c["Server"]: c for c in cells if c["Query"] == name}
        ours, zipped = of.pop("ours"), of.pop("ours-gzip")
        cheap = min(of.values(), key=lambda c: c["CPUMicros"])
        fast = max(of.values(), key=lambda c: c["PerSecond"])
        got = {"CPU": ratio(cheap["Costs"], ours["Costs"]), "CPU, gzip": ratio(cheap["Costs"], zipped["Costs"]),
               "rate": ratio(ours["Rates"], fast["Rates"]), "rate, gzip": ratio(zipped["Rates"], fast["Rates"])}
        missed = ", ".join(f"{k} {v:.3g} of {WANTED[k]}" for k, v in got.items() if v < WANTED[k])
        print(f"| {name} | {ours['Rows']} | {cheap['Server']} | {cheap['CPUMicros']:.0f} | {got['CPU']:.3g} "
              f"| {got['CPU, gzip']:.3g} | {fast['Server']} | {fast['PerSecond']:.0f} | {got['rate']:.3g} "
              f"| {got['rate, gzip']:.3g} | {missed or 'nothing'} |")
    print("\n| query | server | requests/s | CPU, µs | p50, ms | wrong or failed |\n|---|---|--:|--:|--:|--:|")
    for c in cells:
        print(f"| {c['Query']} | {c['Server']} | {c['PerSecond']:.0f} | {c['CPUMicros']:.1f} | {c['P50'] / 1e6:.3g} "
              f"| {c['Wrong'] + c['Failed']} |")


def main(bench, command, bin, tables, peers=os.path.join(HERE, "peers.txt"), rounds="5"):
    servers = []
    try:
        start(command, bin, tables, peers, servers)
        cells = measure(bench, servers, rounds)
    finally:
        for s in servers:
            s.process.terminate()
            s.process.wait()
    print("| query | rows | least CPU | its CPU, µs | ÷ ours | ÷ ours, gzip | most answers | its rate/s | ours ÷ it "
          "| ours, gzip ÷ it | missed |\n|---|--:|---|--:|--:|--:|---|--:|--:|--:|---|")
    report(cells)


main(*sys.argv[1:])
