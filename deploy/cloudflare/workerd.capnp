# Runs worker.js with workerd, for `make edge` and for a look at it without an account:
#
#   workerd serve workerd.capnp
#
# workerd has no cache of its own: the service "cache" keeps what the Worker puts into the Cache API.
using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [
    (name = "main", worker = .hdqs),
    (name = "origin", network = (allow = ["private", "local", "public"])),
    (name = "cache", external = (address = "127.0.0.1:8070", http = ())),
  ],
  sockets = [(name = "http", address = "127.0.0.1:8081", http = (), service = "main")],
);

const hdqs :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "ORIGIN", text = "http://127.0.0.1:8080")],
  globalOutbound = "origin",
  cacheApiOutbound = "cache",
);
