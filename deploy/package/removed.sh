#!/bin/sh
# After a removal or an update. With purge dpkg asks to forget what was enabled, too.
[ "${1:-}" != purge ] || rm -f "${DPKG_ROOT:-}/var/lib/hdqs-units"
[ -n "${DPKG_ROOT:-}" ] || [ ! -d /run/systemd/system ] || systemctl daemon-reload || true
