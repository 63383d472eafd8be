"""Latencies of short queries beside a flood of calls of find by agents, and without it, in turns.

    agents.py HDQS[,HDQS...] STORE [ROUNDS] [SECONDS]

HDQS is the program; several are compared, each with a server of its own. As in export/beside.py a client
asks for ten records again and again, with a real-time priority, and what disturbs it runs only when a core
has nothing else to do, in the same session. The flood is eight connections that each send a call as soon
as the last one is answered, with other words each time. Prints the medians of the rounds, and the median
of the ratios within a round.
"""

import json
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parent / "export"))
from beside import PORT, serving, short_queries  # noqa: E402

CONNECTIONS = 8
WORDS = ["refugees", "sudan", "food prices kabul", "people in need in afghanistan", "north", "unicef", "wheat", "goma"]


def flood(port):
    """Sends calls until it is ended; then prints how many were answered and refused."""
    messages = []
    for words in WORDS:
        params = {"name": "find", "arguments": {"words": words}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
        messages.append((f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
                         f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
    connection, answered, refused = None, 0, 0
    until = time.monotonic() + float(os.environ["SECONDS"])
    while time.monotonic() < until:
        if connection is None:
            connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(messages[(answered + refused) % len(messages)])
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += connection.recv(1 << 16) or sys.exit("the connection was closed")
        head, _, rest = answer.partition(b"\r\n\r\n")
        length = next(int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:"))
        while len(rest) < length:
            rest += connection.recv(1 << 16)
        if b" 200 " in head[:20]:
            answered += 1
        else:
            refused += 1
    print(answered, refused)


def beside_flood(port, seconds):
    environment = {**os.environ, "SECONDS": str(seconds + 2)}
    callers = [subprocess.Popen(["chrt", "--idle", "0", sys.executable, __file__, "flood", str(port)],
                                stdout=subprocess.PIPE, env=environment) for _ in range(CONNECTIONS)]
    time.sleep(1)
    p50, p99 = short_queries(port, seconds)
    counts = [[int(n) for n in caller.communicate()[0].split()] for caller in callers]
    answered, refused = (sum(column) / (seconds + 2) for column in zip(*counts))
    return p50, p99, answered, refused


def main():
    programs, store = sys.argv[1].split(","), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    seconds = float(sys.argv[4]) if len(sys.argv) > 4 else 8
    with serving(programs, store, "--mcp") as ports:
        parts = {port: [] for port in ports}
        for turn in range(rounds):
            for port in sorted(ports, reverse=turn % 2 == 1):
                parts[port].append([(*short_queries(port, seconds), 0, 0), beside_flood(port, seconds)])
        print("| program | calls answered a second | refused | p50, ms | p99, ms | ratio of the p99 |\n|---|--:|--:|--:|--:|--:|")
        for port, program in zip(ports, programs):
            for i in range(2):
                p50, p99, answered, refused = (statistics.median(r[i][figure] for r in parts[port]) for figure in range(4))
                ratio = statistics.median(r[i][1] / r[0][1] for r in parts[port])
                print(f"| {program} | {answered:.0f} | {refused:.0f} | {p50:.2f} | {p99:.2f} | {ratio:.1f} |")


if __name__ == "__main__":
    if sys.argv[1] == "flood":
        flood(int(sys.argv[2]))
    else:
        main()
