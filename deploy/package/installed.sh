#!/bin/sh
# After an installation or an update. Units are neither enabled nor started, except those that were so
# when the package was removed. Running ones go on with the old program until a restart.
command -v systemctl >/dev/null || exit 0
root=${DPKG_ROOT:-}
list=$root/var/lib/hdqs-units
running=no
[ -n "$root" ] || [ ! -d /run/systemd/system ] || running=yes
[ $running = no ] || systemctl daemon-reload || true
[ -e "$list" ] || exit 0
while read -r action unit; do
	case $action in
	enable) systemctl ${root:+--root="$root"} --quiet enable "$unit" || true ;;
	start) [ $running = no ] || systemctl --no-block start "$unit" || true ;;
	esac
done <"$list"
rm -f "$list"
