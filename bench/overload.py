"""Measures the server under more load than it can take, once a release: seven minutes.

    overload.py BENCH START [ROUNDS [SECONDS]]

BENCH is the program of bench, START the command of our server. The load comes from core 1. Four parts
take turns: three times the connections; three times the rate in an open loop, where callers wait for
a second; connections that retry at once when they are refused; the usual load beside 10,000 idle
connections, for which both sides need as many open files. Each is divided by the usual load just
before and after it, because the speed of a machine changes within a round. The query costs the
server so much CPU that one core of clients can ask for three times what one core answers. Prints
Markdown.
"""

import datetime
import json
import os
import platform
import shlex
import socket
import statistics
import subprocess
import sys
import time

QUERY, USUAL, FACTOR, WIDE, IDLE = "conflict-scattered-10k", 8, 3, 512, 10000


class Server:
    def __init__(self, bench, command):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.address = s.getsockname()
        self.bench = bench
        self.process = subprocess.Popen(shlex.split(command.replace("{listen}", "%s:%d" % self.address)))
        while True:
            try:
                return socket.create_connection(self.address).close()
            except OSError:
                if self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def load(self, connections, seconds, rate=0):
        """What `bench load` measures: good answers, CPU of each, latencies, bad answers."""
        command = ["taskset", "-c", "1", self.bench, "load", "--json", "--url", "http://%s:%d" % self.address, "--pid",
                   str(self.process.pid), "--only", QUERY, "--encodings", "gzip", "--connections", str(connections),
                   "--duration", f"{seconds}s", "--rate", str(rate), "--patience", "1s" if rate else "0"]
        return json.loads(subprocess.check_output(command, stderr=subprocess.DEVNULL))[0]

    def resident(self):
        with open(f"/proc/{self.process.pid}/status") as f:
            return next(int(line.split()[1]) << 10 for line in f if line.startswith("VmRSS"))

    def idle(self):
        """A connection that was used once."""
        conn = socket.create_connection(self.address)
        conn.sendall(b"GET /favicon.ico HTTP/1.1\r\nHost: x\r\n\r\n")
        conn.recv(1 << 16)
        return conn


class Overload:
    def __init__(self, server, seconds):
        self.server, self.seconds = server, seconds
        self.recoveries, self.memory = [], []
        self.parts = {
            f"{FACTOR * USUAL} connections": lambda usual: server.load(FACTOR * USUAL, seconds),
            f"{FACTOR} times the usual rate due, {WIDE} connections, callers wait 1s": self.open,
            # The first tenth of a second has many of the slow answers, so it is three times as long.
            f"{WIDE} connections that retry at once when refused": lambda usual: server.load(WIDE, 3 * seconds),
            f"usual, beside {IDLE} idle connections": self.beside,
        }

    def usual(self, part=1):
        return self.server.load(USUAL, self.seconds * part)

    def open(self, usual):
        result = self.server.load(WIDE, 3 * self.seconds, FACTOR * usual["PerSecond"])
        began = time.time()
        while self.usual(0.1)["PerSecond"] < 0.9 * usual["PerSecond"] and time.time() < began + 20:
            pass
        self.recoveries.append(time.time() - began)
        return result

    def beside(self, _):
        before = self.server.resident()
        connections = [self.server.idle() for _ in range(IDLE)]
        result = self.usual()
        self.memory.append(self.server.resident() - before)
        for conn in connections:
            conn.close()
        return result

    def run(self, rounds):
        """The results of each part, each with the usual load before and after it."""
        results = {name: [] for name in self.parts}
        self.usual()  # a warm-up
        for _ in range(rounds):
            before = self.usual()
            for name, part in self.parts.items():
                result = part(before)
                after = self.usual()
                results[name].append((before, result, after))
                before = after
        return results


def spread(figures):
    return f"{statistics.median(figures):.3g} ({min(figures):.3g}-{max(figures):.3g})"


def main(bench, command, rounds="7", seconds="4"):
    server = Server(bench, command)
    try:
        overload = Overload(server, float(seconds))
        results = overload.run(int(rounds))
    finally:
        server.process.terminate()
        server.process.wait()
    revision = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    print(f"# Overload, measured {datetime.date.today()} at {revision}\n\n{platform.processor() or platform.machine()}, "
          f"{os.cpu_count()} cores, {platform.release()}. {QUERY}, gzip; the usual load is {USUAL} connections in a closed "
          f"loop. {rounds} rounds; median (lowest-highest). Nine tenths of the usual rate again after "
          f"{spread(overload.recoveries)} s. The idle connections cost {max(overload.memory) / 1e6:.0f} MB of the server's "
          "memory.\n\n| part | good answers, of the usual rate | CPU per good answer, of the usual | p99, of the usual "
          "| good/s | p99, ms | refused | late | unsent |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for name, rows in results.items():
        ratios = [spread([2 * part[field] / (before[field] + after[field]) for before, part, after in rows])
                  for field in ("PerSecond", "CPUMicros", "P99")]
        middle = [statistics.median(part[field] for _, part, _ in rows)
                  for field in ("PerSecond", "P99", "Wrong", "Late", "Unsent")]
        print(f"| {name} | {' | '.join(ratios)} | {middle[0]:.0f} | {middle[1] / 1e6:.1f} | "
              + " | ".join(f"{n:.0f}" for n in middle[2:]) + " |")


main(*sys.argv[1:])
