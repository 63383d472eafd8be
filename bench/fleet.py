"""What a publish costs the replicas that follow a store: bytes, seconds, CPU and memory.

    python3 bench/fleet.py HDQS STORE ID [REPLICAS]

HDQS is the program. STORE is a store of which the channel stable shows one snapshot and which has the
snapshot ID too, as after 'hdqs build --channel next'; it is copied. A web server in this process serves the
copy to so many replicas (8), which poll it four times a second. Then ID is published, twice, each time to new
replicas: with deltas and without.

Prints a line for each form: seconds from the move of the channel until the first and the last replica
serve the snapshot, bytes of segments that a replica received, CPU seconds of a replica meanwhile, and the
peak of its memory: all pages, in the time before and with the change; then pages of its own (without mapped
files): now, the peak while segments arrive, and the peak of the swap that follows. Ratios are those of the
replica for which they are highest.
"""
import functools
import http.server
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Files(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            pass  # a replica has ended


class Replica:
    def __init__(self, hdqs, store, folder):
        self.admin = "127.0.0.1:%d" % free_port()
        self.log = open(folder + ".log", "w")
        self.process = subprocess.Popen(
            [hdqs, "serve", "--store", store, "--allow-http", "--allow-private-hosts", "--data-dir", folder,
             "--snapshot-poll", "250ms", "--listen", "127.0.0.1:%d" % free_port(), "--admin", self.admin],
            stdout=self.log, stderr=self.log)
        self.own_peak, self.arriving, self.arrived_peak = 0, [], 0
        self.folder = folder

    def get(self, path):
        try:
            with urllib.request.urlopen("http://%s%s" % (self.admin, path), timeout=5) as answer:
                return answer.read().decode()
        except OSError:
            return ""

    def shows(self):
        try:
            return json.loads(self.get("/readyz"))["snapshot"]
        except (ValueError, KeyError):
            return ""

    def metrics(self):
        return dict(re.findall(r"^(\S+) (\S+)$", self.get("/metrics"), re.M))

    def status(self, name):
        with open("/proc/%d/status" % self.process.pid) as f:
            return int(re.search(name + r":\s+(\d+) kB", f.read()).group(1)) * 1024

    def cpu(self):
        with open("/proc/%d/stat" % self.process.pid) as f:
            fields = f.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def forget_peak(self):
        with open("/proc/%d/clear_refs" % self.process.pid, "w") as f:
            f.write("5")
        self.own_peak = 0

    def sample(self):
        if self.process.poll() is not None:
            sys.exit("a replica has ended: " + open(self.log.name).read())
        self.own_peak = max(self.own_peak, self.status("RssAnon"))
        if self.arriving:
            self.arrived_peak = self.own_peak
            if all(os.path.exists(os.path.join(self.folder, "store", "segments", s + ".seg")) for s in self.arriving):
                self.arriving = []


def wait(replicas, want, began):
    """Waits until all replicas show a snapshot; returns when each was seen to."""
    seen, turn = {}, 0
    while len(seen) < len(replicas):
        for r in replicas:
            r.sample()
            if turn % 2 == 0 and r not in seen and r.shows() == want:
                seen[r] = time.time() - began
        turn += 1
        time.sleep(0.05)
    return sorted(seen.values())


def shown(store):
    with open(os.path.join(store, "channels", "stable.json")) as f:
        return json.load(f)["id"]


def measure(hdqs, source, new, count, deltas, folder):
    store = os.path.join(folder, "store")
    shutil.copytree(source, store)
    shutil.rmtree(os.path.join(store, "deltas"), ignore_errors=True)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Files, directory=store))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = "http://127.0.0.1:%d" % server.server_address[1]
    replicas = [Replica(hdqs, address, os.path.join(folder, "replica%d" % i)) for i in range(count)]
    try:
        wait(replicas, shown(store), time.time())
        time.sleep(10)  # what a start makes is collected
        for r in replicas:
            r.sample()
            r.all_before = r.status("VmHWM")
            r.own_now = r.status("RssAnon")
        with open(os.path.join(store, "manifests", new + ".json")) as f:
            tables = json.load(f)["tables"]
        for r in replicas:
            r.forget_peak()
            r.arriving = [t["sha256"] for t in tables]
            r.cpu_before = r.cpu()
            r.metrics_before = r.metrics()
        began = time.time()
        out = subprocess.run([hdqs, "publish", "--store", store, "--deltas", str(deltas), new], check=True,
                             capture_output=True, text=True)
        moved = os.stat(os.path.join(store, "channels", "stable.json")).st_mtime
        took = wait(replicas, new, moved)
        publish = moved - began
        for _ in range(40):
            for r in replicas:
                r.sample()
            time.sleep(0.1)
        received, fallbacks = [], 0
        for r in replicas:
            after = r.metrics()
            name = 'hdqs_fetched_segment_bytes_total{form="%s"}'
            received.append(sum(float(after[name % f]) - float(r.metrics_before[name % f]) for f in ("delta", "whole")))
            fallbacks += float(after["hdqs_delta_fallbacks_total"])
        whole = sum(t["bytes"] for t in tables)
        mib = lambda values: "%.0f" % (max(values) / 2**20)
        print("%s | %.1f | %.2f to %.2f | %.2f MiB, %.2f %% | %d | %.2f | %s → %s (%.2f) | %s → %s (%.2f) → %s" % (
            "deltas" if deltas else "whole segments", publish, took[0], took[-1],
            max(received) / 2**20, 100 * max(received) / whole, fallbacks,
            statistics.median(r.cpu() - r.cpu_before for r in replicas),
            mib(r.all_before for r in replicas), mib(r.status("VmHWM") for r in replicas),
            max(r.status("VmHWM") / r.all_before for r in replicas),
            mib(r.own_now for r in replicas), mib(r.arrived_peak for r in replicas),
            max(r.arrived_peak / r.own_now for r in replicas), mib(r.own_peak for r in replicas)), flush=True)
        if os.environ.get("FLEET_VERBOSE"):
            print(out.stderr, flush=True)
    finally:
        for r in replicas:
            r.process.terminate()
        for r in replicas:
            r.process.wait()
        server.shutdown()
        server.server_close()


def main():
    hdqs, source, new = sys.argv[1:4]
    count = int(sys.argv[4]) if len(sys.argv) > 4 else 8
    print("form | publish, s | live after, s | received | fallbacks | CPU, s | all memory, MiB | own memory, MiB")
    print("---|---|---|---|---|---|---|---")
    for deltas in (1, 0):
        with tempfile.TemporaryDirectory() as folder:
            measure(os.path.abspath(hdqs), source, new, count, deltas, folder)


if __name__ == "__main__":
    main()
