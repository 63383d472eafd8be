"""Latencies of short queries beside eight exports, and without them, in turns.

    beside.py HDQS[,HDQS...] STORE [ROUNDS] [SECONDS]

HDQS is the program; several are compared, each with a server of its own. A client asks a list for ten
records again and again over one connection, each time with other filters. In every second part four
exports of all conflict events as Arrow and four as CSV are read by processes of a low priority, which
stand for programs on other machines. Prints the medians of the rounds, and the median of the ratios of
neighbouring parts.
The bytes of exports are counted when they end, so a part has to be longer than one of them takes.
"""

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


def short_queries(port, seconds):
    """The p50 and the p99 of short queries in milliseconds."""
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


def beside_exports(port, seconds):
    url = f"http://127.0.0.1:{port}{LIST}/export?{IDENTIFIER}&output_format="
    readers = [subprocess.Popen(
        ["nice", "-n", "19", "sh", "-c", f"while :; do curl -s -o /dev/null '{url}{form}'; done"],
        start_new_session=True) for form in ["arrow", "csv"] * 4]
    try:
        time.sleep(1)
        before, began = sent(port), time.perf_counter()
        p50, p99 = short_queries(port, seconds)
        return p50, p99, (sent(port) - before) / (time.perf_counter() - began) / 1e6
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


def main():
    programs, store = sys.argv[1].split(","), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 8
    servers = {PORT + i: subprocess.Popen(
        [program, "serve", "--store", store, "--listen", f"127.0.0.1:{PORT + i}", "--admin", f"127.0.0.1:{PORT + i + 100}",
         "--body-cache", "0", "--log-format", "off"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for i, program in enumerate(programs)}
    try:
        for port in servers:
            wait(port)
            short_queries(port, 2)
        parts = {port: [] for port in servers}
        for turn in range(rounds):
            for port in sorted(servers, reverse=turn % 2 == 1):
                parts[port].append((short_queries(port, seconds), beside_exports(port, seconds)))
        print("| program | alone: p50, ms | p99, ms | beside 8 exports: p50, ms | p99, ms | ratio of the p99 | exports, MB a second |")
        print("|---|--:|--:|--:|--:|--:|--:|")
        for port, program in zip(servers, programs):
            alone, beside = zip(*parts[port])
            figures = [statistics.median(part[i] for part in part_of) for part_of in (alone, beside) for i in (0, 1)]
            ratio = statistics.median(b[1] / a[1] for a, b in parts[port])
            print(f"| {program} | " + " | ".join(f"{figure:.2f}" for figure in figures) + f" | {ratio:.1f} | "
                  f"{statistics.median(part[2] for part in beside):.0f} |")
    finally:
        for server in servers.values():
            server.terminate()
            server.wait()


if __name__ == "__main__":
    main()
