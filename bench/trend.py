"""Puts the last run of compare.py into results/trend.csv, in place of the lines of the same version and processor.

    trend.py VERSION [REPORT [TREND]]

A line is a target, or one of our answers without a target beside nginx's.
"""

import csv
import datetime
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def main(version, report="tmp/bench/bench.json", trend=os.path.join(HERE, "results", "trend.csv")):
    with open(report) as f:
        run = json.load(f)
    with open(trend, newline="") as f:
        head, *lines = csv.reader(f)
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], capture_output=True, text=True).stdout.strip()
    with open("/proc/cpuinfo") as f:
        processor = next(line.split(": ", 1)[1].strip() for line in f if line.startswith("model name"))
    base = [version, commit, datetime.date.today().isoformat(), processor]

    def line(of, control, ratio):
        spread = [digits(ratio[name]) for name in ("Median", "Low", "High")]
        micros = of.get("CPUMicros", of.get("Micros"))
        return base + [of["Query"], of["Encoding"], digits(micros), control if ratio["Median"] else "", *spread]

    new = [line(v, v["Control"], v["Got"]) for v in run["Targets"]]
    judged = {(v["Query"], v["Encoding"]) for v in run["Targets"]}
    for c in run["Cells"]:
        if c["Server"] == "ours" and (c["Query"], c["Encoding"]) not in judged:
            nginx = [o["CPURatio"] for o in run["Cells"] if o["Server"] == "nginx" and
                     (o["Query"], o["Encoding"]) == (c["Query"], c["Encoding"])]
            new.append(line(c, "nginx, the same bytes from a file", nginx[0] if nginx else c["CPURatio"]))
    lines = [old for old in lines if (old[0], old[3]) != (version, base[3])] + new
    lines.sort(key=lambda of: (of[4], of[5], of[7], of[2], of[0]))
    with open(trend, "w", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([head] + lines)


def digits(number):
    return f"{number:.4g}" if number else ""


main(*sys.argv[1:])
