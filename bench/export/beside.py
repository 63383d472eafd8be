"""Latencies of short queries beside eight exports, and without them, in turns.

    beside.py HDQS[,HDQS...] STORE [ROUNDS] [SECONDS]

HDQS is the program; several are compared, each with a server of its own. A client asks a list for ten
records again and again over one connection, each time with other filters. Each round has three parts:
alone; beside four exports of all conflict events as Arrow and four as CSV, read as fast as loopback
takes them; beside the same at a rate that fills an interface of 1 Gbit/s. Prints the medians of the
rounds, and the medians of the ratios within a round.
Readers and client stand for programs on other machines, which take no core from the server and do not
wait for it. So the readers run only when a core has nothing else to do, and the client, which takes
0.1 ms a query, runs at once: it needs the right to use real-time priorities.
The bytes of exports are counted when they end, so a part at full speed has to be longer than one takes.
"""

import contextlib
import http.client
import os
import statistics
import subprocess
import sys
import time
import urllib.request

PORT = 18486
LIST = "/api/v2/coordination-context/conflict-events"
IDENTIFIER = "app_identifier=ZXhwb3J0OmJlbmNoQGV4YW1wbGUub3Jn"
FORMATS = ["arrow", "csv"] * 4
# For each reader, in bytes a second; 0 is no limit.
LIMITS = [0, 125_000_000 // len(FORMATS)]


def short_queries(port, seconds):
    """The p50 and the p99 of short queries in milliseconds."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        return latencies(port, seconds)
    finally:
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def latencies(port, seconds):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    times, until = [], time.perf_counter() + seconds
    while time.perf_counter() < until:
        began = time.perf_counter()
        connection.request("GET", f"{LIST}?limit=10&offset={len(times)}&location_code=AFG&{IDENTIFIER}")
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise SystemExit(f"a short query: {answer.status}")
        times.append(1000 * (time.perf_counter() - began))
        time.sleep(0.002)
    connection.close()
    times.sort()
    return times[len(times) // 2], times[int(len(times) * 0.99)]


def sent(port):
    """Bytes of all answers of the server."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port + 100}/metrics") as answer:
        lines = answer.read().decode().splitlines()
    return sum(float(line.split()[1]) for line in lines if line.startswith("hdqs_http_response_bytes_total{"))


def beside_exports(port, seconds, limit):
    url = f"http://127.0.0.1:{port}{LIST}/export?{IDENTIFIER}&output_format="
    # In the session of the server: Linux gives each session the same part of the cores, whatever the
    # priorities within it.
    readers = [subprocess.Popen(
        ["chrt", "--idle", "0", "sh", "-c", f"while :; do curl -s --limit-rate {limit} -o /dev/null '{url}{form}'; done"],
        process_group=0) for form in FORMATS]
    try:
        time.sleep(1)
        before, began = sent(port), time.perf_counter()
        p50, p99 = short_queries(port, seconds)
        rate = (sent(port) - before) / (time.perf_counter() - began)
        return p50, p99, limit * len(FORMATS) / 1e6 if limit else rate / 1e6
    finally:
        for reader in readers:
            os.killpg(reader.pid, 9)
            reader.wait()


def wait(port):
    for _ in range(600):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}{LIST}?limit=1&{IDENTIFIER}").read()
        except OSError:
            time.sleep(0.1)
    raise SystemExit(f"no answer at port {port}")


@contextlib.contextmanager
def serving(programs, store, *flags):
    """The ports of servers of some programs, each of which has answered for a while."""
    servers = {PORT + i: subprocess.Popen(
        [program, "serve", "--store", store, "--listen", f"127.0.0.1:{PORT + i}", "--admin", f"127.0.0.1:{PORT + i + 100}",
         "--body-cache", "0", "--log-format", "off", *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for i, program in enumerate(programs)}
    try:
        for port in servers:
            wait(port)
            short_queries(port, 2)
        yield list(servers)
    finally:
        for server in servers.values():
            server.terminate()
            server.wait()


def main():
    programs, store = sys.argv[1].split(","), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 8
    with serving(programs, store, "--max-exports", "16") as ports:
        parts = {port: [] for port in ports}
        for turn in range(rounds):
            for port in sorted(ports, reverse=turn % 2 == 1):
                parts[port].append([(*short_queries(port, seconds), 0), *(beside_exports(port, seconds, limit) for limit in LIMITS)])
        print("| program | exports, MB a second | p50, ms | p99, ms | ratio of the p99 |\n|---|--:|--:|--:|--:|")
        for port, program in zip(ports, programs):
            for i in range(1 + len(LIMITS)):
                p50, p99, rate = (statistics.median(r[i][figure] for r in parts[port]) for figure in range(3))
                ratio = statistics.median(r[i][1] / r[0][1] for r in parts[port])
                print(f"| {program} | {rate:.0f} | {p50:.2f} | {p99:.2f} | {ratio:.1f} |")


if __name__ == "__main__":
    main()
