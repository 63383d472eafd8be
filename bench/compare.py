"""Sends each query of a mix to several servers in turn, and compares the costs of their answers.

    compare.py [--mix FILES] [--only NAMES] [--encodings CODINGS] [--rounds N] [--burst SECONDS]
        [--wrap PREFIX] [--json FILE] SERVER...

SERVER is NAME=http://HOST:PORT[,PID], or NAME='COMMAND {listen}', which is started. The first one is
compared with the others. These may also be nginx and fixed: servers of the first one's answers, from
files and from memory by its HTTP library.

All that answer a query, in all codings, take turns within a round, in short bursts, and only ratios of
neighbouring bursts count: the speed of a machine changes more between two runs than most changes to a
program change it. The order is reversed each round. Nothing is measured before all gave the same bytes.
"""
import argparse
import contextlib
import json
import os
import tempfile
import zlib

from servers import BENCH, Server, divide, read_mixes, running, spread, table, targets, text

CONTROLS = {
    "nginx": "nginx, the same bytes from a file",
    "whole": "the same server, whole bodies by the library's gzip 1",
    "fixed": "the same library, the same body from memory",
    "identity": "ours, plain", "gzip": "ours, gzip", "zstd": "ours, zstd",
}
FILES = "nginx", "fixed"
NGINX = """%sdaemon off; master_process off; error_log stderr crit; pid nginx.pid;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;
  types { application/json json; text/csv csv; }
  client_body_temp_path body; proxy_temp_path proxy;
  fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server { listen %s backlog=1024; root files; gzip_static on; gzip_vary on; }
}
"""


def save(query, server, folder):
    """Writes answers as files, and in gzip beside them, and returns their paths by query and coding."""
    headers, plain = server.get(query, "identity")
    sent = None
    for _ in range(100):  # a server may compress parts of its tables when they are first requested
        before, sent = sent, server.get(query, "gzip")[1]
        if before == sent:
            break
    name = query.name + (".csv" if headers.get_content_type() == "text/csv" else ".json")
    path = os.path.join(folder, "files", name)
    with open(path, "wb") as file:
        file.write(plain)
    if sent != plain:  # else it is too short to be compressed
        with open(path + ".gz", "wb") as file:
            file.write(sent)
    return {(query.name, "identity"): "/" + name, (query.name, "gzip"): "/" + name}


def control(name, wrap, paths, folder, queries):
    if name == "fixed":
        bounded = {q.name for q in queries for b in q.bounds if b.other == name}
        plain = {key: path for key, path in paths.items() if key[0] in bounded and key[1] == "identity"}
        return Server(f"fixed={BENCH} fixed {{listen}} {folder}/files", wrap, plain)
    s = Server(f"nginx=nginx -p {folder} -c {folder}/nginx.conf -e stderr", wrap, paths)
    with open(os.path.join(folder, "nginx.conf"), "w") as conf:  # one process, whose CPU is that of nginx
        conf.write(NGINX % ("user root; " if os.geteuid() == 0 else "", s.address))
    return s


def answering(query, servers, codings, queries):
    """The servers and codings that answer a query. Only bodies have codings. A server that bounds name is
    asked only where it is a control; nginx, which costs little, always."""
    for coding in codings if query.body and not query.conditional else ["identity"]:
        for s in servers:
            here = any(b.other == s.name and b.coding == coding for b in query.bounds)
            bounded = any(b.other == s.name for q in queries for b in q.bounds)
            if s.path(query, coding) and (here or not bounded or s.name == "nginx"):
                yield {"Query": query.name, "Encoding": coding, "Server": s.name, "server": s, "rounds": []}


def measure(query, cells, rounds, burst):
    query.weight = "1"
    for number in range(rounds + 1):  # the first warms up, and its answers are compared
        for c in cells if number % 2 else reversed(cells):
            seconds = burst if number else min(burst / 3, 0.3)
            found = c["server"].load([query], c["Encoding"], "--duration", f"{seconds}s")
            c["digests"] = c.get("digests") or found["digests"][query.name]
            if not found["requests"]:
                raise RuntimeError(f"{query.name}: {c['Server']} gave no good answer: {found['first_wrong']}")
            c["rounds"] += [found] if number else []
        for c in cells:
            ours = find(cells, cells[0]["Server"], c["Encoding"])
            if c["digests"][1] != cells[0]["digests"][1] or c["server"].paths and c["digests"] != ours["digests"]:
                raise RuntimeError(f"{query.name} is not measured: {c['Server']} ({c['Encoding']}) answers with "
                                   f"other bytes than {cells[0]['Server']}")


def find(cells, server, coding):
    return next((c for c in cells if (c["Server"], c["Encoding"]) == (server, coding)), None)


def fill(cells):
    """Sets the figures of cells: medians, and the first server's divided by theirs."""
    for c in cells:
        rounds = c.pop("rounds")
        c["Costs"], c["Rates"] = [r["cpu_us"] for r in rounds], [r["per_second"] for r in rounds]
        c["CPUMicros"], c["PerSecond"] = spread(c["Costs"])["Median"], spread(c["Rates"])["Median"]
        c["SentBytes"] = round(sum(r["bytes"] for r in rounds) / len(rounds))
        c["Wrong"] = sum(r["wrong"] + r["failed"] for r in rounds)
        c["P50"], c["P99"] = (spread([r[q] for r in rounds])["Median"] for q in ("p50_us", "p99_us"))
    for c in cells:
        ours = find(cells, cells[0]["Server"], c["Encoding"])
        same = ours is c
        c["CPURatio"] = divide([] if same else ours["Costs"], c["Costs"])
        c["RateRatio"] = divide([] if same else ours["Rates"], c["Rates"])


def judge(query, cells, plain):
    """The verdicts on a query's bounds. What was not measured has none."""
    for b in query.bounds:
        ours = find(cells, cells[0]["Server"], b.coding)
        other = find(cells, b.other, b.coding) or find(cells, cells[0]["Server"], b.other)
        if not ours or b.kind == "cpu" and not other:
            continue
        if b.kind == "bytes":
            level = int(b.other.removeprefix("gzip"))
            z = zlib.compressobj(level, wbits=31)
            got = spread([ours["SentBytes"] / len(z.compress(plain) + z.flush())])
            name = f"length at gzip level {level}"
        else:
            got, name = divide(ours["Costs"], other["Costs"]), CONTROLS.get(b.other, b.other)
        yield {"Query": query.name, "Encoding": b.coding, "Control": name, "Micros": ours["CPUMicros"],
               "Most": b.most, "Got": got}


def report(verdicts, cells, path):
    targets(verdicts)
    table("Query by query", ["query", "coding", "server", "sent, bytes:", "requests/s:", "CPU, µs:", "p50, µs:",
                             "p99, µs:", "wrong:", "CPU ratio:", "rate ratio:"],
          [(c["Query"], c["Encoding"], c["Server"], c["SentBytes"], c["PerSecond"], c["CPUMicros"], c["P50"], c["P99"],
            c["Wrong"], text(c["CPURatio"]), text(c["RateRatio"])) for c in cells])
    if path:
        with open(path, "w") as file:
            json.dump({"Targets": verdicts, "Cells": cells}, file, indent=1, default=lambda o: None)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mix", default="bench/mixes/typical.txt", help="files of queries, separated by commas")
    p.add_argument("--only", default="", help="queries whose names contain one of these texts")
    p.add_argument("--encodings", default="identity,gzip", help="identity, gzip, zstd")
    p.add_argument("--rounds", type=int, default=5, help="bursts of each server")
    p.add_argument("--burst", type=float, default=1, help="seconds of a burst")
    p.add_argument("--wrap", default="", help="prefix of commands that are started, such as: taskset -c 0")
    p.add_argument("--json", help="file for the results, with every round")
    p.add_argument("servers", nargs="+", metavar="SERVER")
    args = p.parse_args()
    queries = read_mixes(args.mix, args.only)
    queries.sort(key=lambda q: not q.bounds)  # of two that request the same, the one with bounds is measured
    unique = {(q.path, *q.words): q for q in reversed(queries)}
    queries = [q for q in queries if q is unique[q.path, *q.words]]
    cells, verdicts = [], []
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        os.mkdir(os.path.join(folder, "files"))
        ours = stack.enter_context(running(Server(args.servers[0], args.wrap), queries))
        servers, paths = [ours], {}
        if set(FILES) & set(args.servers):
            for q in queries:
                paths |= save(q, ours, folder) if q.body else {}
        for name in args.servers[1:]:
            other = control(name, args.wrap, paths, folder, queries) if name in FILES else Server(name, args.wrap)
            servers.append(stack.enter_context(running(other, queries)))
        try:
            for q in queries:
                if q.body and paths:  # parts of tables may have been compressed since
                    save(q, ours, folder)
                asked = list(answering(q, servers, args.encodings.split(","), queries))
                measure(q, asked, args.rounds, args.burst)
                fill(asked)
                verdicts += judge(q, asked, ours.get(q, "identity")[1] if q.body else b"")
                cells += asked
        finally:  # also what was measured before an error
            report(verdicts, cells, args.json)


main()
