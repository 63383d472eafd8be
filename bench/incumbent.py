"""Compares the server with the recorded figures of incumbent.txt, once a release.

    incumbent.py BENCH START [SECONDS]

BENCH is the program of bench, START the command of our server. Prints Markdown: the rate of theirs
and of ours over each number of connections, and their ratio.
"""

import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CONNECTIONS = (1, 8, 64)


def start(command):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        address = "%s:%d" % s.getsockname()
    server = subprocess.Popen(shlex.split(command.replace("{listen}", address)))
    while server.poll() is None:
        try:
            socket.create_connection(address.split(":")).close()
            return server, "http://" + address
        except OSError:
            time.sleep(0.1)
    sys.exit("the server ended")


def main(bench, command, seconds="3"):
    server, url = start(command)
    print("| query | target | " + "".join(f"{c} connections | times | " for c in CONNECTIONS) + "|\n|---|--:|" +
          "---|--:|" * len(CONNECTIONS) + "---|")
    try:
        with open(os.path.join(HERE, "incumbent.txt")) as f:
            recorded = [line.split() for line in f if line.strip() and not line.startswith("#")]
        for name, target, _, *rest in recorded:
            figures, request = rest[:2 * len(CONNECTIONS)], rest[2 * len(CONNECTIONS):]
            row, missed = [], []
            with tempfile.NamedTemporaryFile("w") as mix:
                print("1", name, *request, file=mix, flush=True)
                for connections, theirs, p50 in zip(CONNECTIONS, figures[::2], figures[1::2]):
                    [got] = json.loads(subprocess.check_output([
                        bench, "load", "--json", "--url", url, "--pid", str(server.pid), "--mix", mix.name,
                        "--encodings", "identity", "--connections", str(connections), "--duration", seconds + "s"]))
                    if got["Wrong"] + got["Failed"]:
                        sys.exit(f"{name}: {got}")
                    times = got["PerSecond"] / float(theirs)
                    row.append(f"{theirs}/s, {p50} ms → {got['PerSecond']:.0f}/s, {got['P50'] / 1e6:.2g} ms "
                               f"({got['CPUMicros']:.1f} µs) | {times:.3g}")
                    if times < float(target):
                        missed.append(str(connections))
            print(f"| {name} | {target} | " + " | ".join(row) +
                  f" | {'missed over ' + ', '.join(missed) if missed else 'met'} |", flush=True)
    finally:
        server.terminate()
        server.wait()


main(*sys.argv[1:])
