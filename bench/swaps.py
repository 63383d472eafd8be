"""Latencies right after starts of a server, and while it swaps its data, under a load at an even rate.

    swaps.py [--mix FILES] [--encodings CODINGS] [--rounds N] [--window SECONDS] [--wrap PREFIX]
        --swap COMMAND 'COMMAND {listen}'

--swap is a command after which the server swaps its data once it gets SIGHUP, such as
'hdqs rollback --store DIR'. The p99 of the window from a swap on is divided by that of the window before
it, and the one after a start, from /readyz on, by that two windows later: at most twice is the target.
"""
import argparse
import http.client
import os
import shlex
import signal
import socket
import subprocess
import sys
import time

from servers import Server, divide, read_mixes, running, spread, targets

# A load that a replica has in practice, so that a delay shows as latency and not as a queue.
RATE, CONNECTIONS, MOST_DELAYED = "220", "16", 2


def p99(server, queries, coding, window):
    found = server.load(queries, coding, "--rate", RATE, "--connections", CONNECTIONS, "--duration", f"{window}s")
    if found["wrong"] + found["failed"]:
        sys.exit("{wrong} answers were wrong, {failed} requests failed: {first_wrong}".format(**found))
    return found["p99_us"]


def swap(server, command, queries, coding, window):
    """The p99 from a swap on and before it."""
    tags = [server.get(q, "identity")[0]["ETag"] for q in queries if q.body]
    before = p99(server, queries, coding, window)
    subprocess.run(shlex.split(command), check=True, stdout=subprocess.DEVNULL)
    os.kill(server.pid, signal.SIGHUP)
    during = p99(server, queries, coding, window)
    if tags == [server.get(q, "identity")[0]["ETag"] for q in queries if q.body]:
        sys.exit(f"{command}: all answers are those of before, {window} s later")
    return during, before


def is_ready(admin):
    """Whether a server takes its full load. Its first answer is earlier, so that a single one is back soon."""
    connection = http.client.HTTPConnection(admin, timeout=10)
    connection.request("GET", "/readyz")
    return connection.getresponse().status == 200


def start(line, wrap, queries, coding, window):
    """The p99 right after a start, once the server says that it is ready, and two windows later."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        admin = "%s:%d" % free.getsockname()
    with running(Server(f"ours={line} --admin {admin}", wrap), queries) as server:
        while not is_ready(admin):
            time.sleep(0.005)
        first = p99(server, queries, coding, window)
        time.sleep(window)
        return first, p99(server, queries, coding, window)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--mix", default="bench/mixes/short.txt")
    p.add_argument("--encodings", default="identity,gzip")
    p.add_argument("--rounds", type=int, default=10, help="starts, and swaps")
    p.add_argument("--window", type=float, default=1, help="seconds")
    p.add_argument("--wrap", default="")
    p.add_argument("--swap", required=True)
    p.add_argument("server")
    args = p.parse_args()
    # Conditional queries name answers of the data before a swap.
    queries = [q for q in read_mixes(args.mix) if not q.conditional]
    verdicts = []
    with running(Server("ours=" + args.server, args.wrap), queries) as server:
        for coding in args.encodings.split(","):
            for what, control, pair in [
                ("swap", "right before it", lambda: swap(server, args.swap, queries, coding, args.window)),
                ("start", "two windows later", lambda: start(args.server, args.wrap, queries, coding, args.window)),
            ]:
                after, usual = zip(*[pair() for _ in range(args.rounds)])
                verdicts.append({"Query": f"p99 right after a {what}, {RATE}/s", "Encoding": coding, "Control": control,
                                 "Micros": spread(after)["Median"], "Most": MOST_DELAYED, "Got": divide(after, usual)})
    if not targets(verdicts):
        sys.exit("a target is not met")


main()
