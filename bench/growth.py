"""CPU of answers, time to open and memory of a replica, for stores of different sizes.

    python3 bench/growth.py HDQS STORE...

HDQS is the program, each STORE a store. The program is started with --identifier off --body-cache 0,
so that every answer is made anew. Each request is sent once after the start (first) and then 30 times
(again), over one connection; a figure is the program's CPU, from /proc, divided by the number of
requests. The figures are medians of three starts.

Prints a table in Markdown, with the cost at the largest store divided by that at the smallest.
"""
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
import urllib.request

TIMES = 30
HAPI = "/api/v2/"
CONFLICT = HAPI + "coordination-context/conflict-events"
PRICES = HAPI + "food-security-nutrition-poverty/food-prices-market-monitor"
NEEDS = HAPI + "affected-people/humanitarian-needs"
REQUESTS = [  # class, accepted coding, address
    ("a short list", "gzip", HAPI + "metadata/location?limit=50"),
    ("100 rows of one country", "gzip", CONFLICT + "?location_code=AFG&limit=100"),
    ("100 rows far into a list", "gzip", CONFLICT + "?limit=100&offset=1500000"),
    ("100 rows that four filters choose", "gzip", NEEDS + "?location_code=TCD&admin_level=1&population_group=all&category=total&limit=100"),
    ("100 rows by a part of a name", "gzip", PRICES + "?market_name=ark&limit=100"),
    ("10,000 neighbouring rows, gzip", "gzip", CONFLICT + "?limit=10000"),
    ("10,000 neighbouring rows, plain", "identity", CONFLICT + "?limit=10000"),
    ("10,000 scattered rows, gzip", "gzip", CONFLICT + "?event_type=demonstration&limit=10000"),
    ("a headline figure of one country", "gzip", HAPI + "figures/people_in_need?location_code=SDN"),
    ("a headline figure of all countries", "gzip", HAPI + "figures/people_in_need"),
    ("events by country and type", "gzip", CONFLICT + "/aggregate?group_by=location_code,event_type&measures=count"),
    ("the page of a country", "gzip", "/country/SDN"),
    ("a search", "gzip", "/search?q=people+in+need+sudan"),
]


def cpu_of_start(pid):
    """Also of threads that have ended, in hundredths of a second."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def cpu(pid):
    """Seconds of all threads, of which none ends while it answers."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        total += int(open(f"/proc/{pid}/task/{thread}/schedstat").read().split()[0])
    return total / 1e9


def memory(pid, name):
    return int(re.search(rf"^{name}:\s+(\d+)", open(f"/proc/{pid}/status").read(), re.M)[1]) * 1024


def measure(program, store):
    begun = time.monotonic()
    p = subprocess.Popen(
        [program, "serve", "--store", store, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--identifier", "off",
         "--body-cache", "0"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines, found = [], threading.Event()

    def read():
        for line in p.stdout:
            lines.append(line)
            if len(re.findall(r"127\.0\.0\.1:\d+", "".join(lines))) >= 2 and "/readyz" in "".join(lines):
                found.set()
    threading.Thread(target=read, daemon=True).start()
    found.wait(120)
    text = "".join(lines)
    admin = re.search(r"http://(127\.0\.0\.1:\d+)/readyz", text)[1]
    while True:
        try:
            if urllib.request.urlopen(f"http://{admin}/readyz", timeout=5).status == 200:
                break
        except OSError:
            time.sleep(0.002)
    figures = {"ready, s": time.monotonic() - begun, "CPU until ready, s": cpu_of_start(p.pid)}
    while True:
        text = "".join(lines)
        public = [a for a in re.findall(r"127\.0\.0\.1:\d+", text) if a != admin]
        if public:
            break
        time.sleep(0.01)
    time.sleep(3)  # what warms up after the start
    figures["own memory after the start, MiB"] = memory(p.pid, "RssAnon") / 2**20
    c = http.client.HTTPConnection(public[0])

    def ask(target, coding):
        c.request("GET", target, headers={"Accept-Encoding": coding})
        r = c.getresponse()
        body = r.read()
        if r.status != 200:
            sys.exit(f"{target}: status {r.status}: {body[:300]}")
    for name, coding, target in REQUESTS:
        before = cpu(p.pid)
        ask(target, coding)
        after = cpu(p.pid)
        for _ in range(TIMES):
            ask(target, coding)
        figures[name + ": first"] = (after - before) * 1000
        figures[name + ": again"] = (cpu(p.pid) - after) * 1000 / TIMES
    figures["own memory after all, MiB"] = memory(p.pid, "RssAnon") / 2**20
    p.terminate()
    p.wait()
    return figures


def rows_of(store):
    channel = json.load(open(os.path.join(store, "channels", "stable.json")))
    manifest = json.load(open(os.path.join(store, "manifests", channel["id"] + ".json")))
    return sum(t["rows"] for t in manifest["tables"]), sum(t["bytes"] for t in manifest["tables"])


def main():
    program, stores = sys.argv[1], sys.argv[2:]
    sizes = [rows_of(s) for s in stores]
    rounds = [[measure(program, s) for s in stores] for _ in range(3)]
    print("| | " + " | ".join(f"{rows / 1e6:.1f} million rows" for rows, _ in sizes) + " | ratio |")
    print("|---|" + "--:|" * (len(stores) + 1))
    print("| bytes per row in the store | " + " | ".join(f"{b / r:.1f}" for r, b in sizes) + " | |")
    for name in rounds[0][0]:
        values = [sorted(r[i][name] for r in rounds)[1] for i in range(len(stores))]
        unit = "" if "," in name.rsplit(":", 1)[-1] or name.endswith(("s", "MiB")) else ", ms of CPU"
        ratio = f"{values[-1] / values[0]:.2f}" if values[0] > 0.001 else ""
        print(f"| {name}{unit} | " + " | ".join(f"{v:.3g}" for v in values) + f" | {ratio} |")


main()
