#!/bin/sh
# Not at an update: dpkg then says upgrade, rpm 1.
case ${1:-} in upgrade | 1) exit 0 ;; esac
[ ! -d /run/systemd/system ] || systemctl disable --now 'hdqs*.timer' hdqs.service 'hdqs@*' || true
