#!/bin/sh
# Before a removal: dpkg says remove, rpm 0, and both something else at an update. Stops and disables
# the units. What was enabled or active is written to a file, for installed.sh.
case ${1:-} in remove | 0) ;; *) exit 0 ;; esac
command -v systemctl >/dev/null || exit 0
root=${DPKG_ROOT:-} # empty, unless dpkg --root works on another system
list=$root/var/lib/hdqs-units
running=no
[ -n "$root" ] || [ ! -d /run/systemd/system ] || running=yes
for link in "$root"/etc/systemd/system/*.*/*; do
	case ${link##*/} in
	hdqs.service | hdqs@*.service | hdqs@*.socket | hdqs-build.timer | hdqs-gc.timer)
		[ ! -L "$link" ] || echo "enable ${link##*/}"
		;;
	esac
done | sort -u >"$list"
if [ $running = yes ]; then
	set -f # the patterns are for systemctl
	serving="hdqs.service hdqs@*.service hdqs@*.socket hdqs-build.timer hdqs-gc.timer"
	systemctl list-units --plain --no-legend --state=active,activating,reloading $serving |
		while read -r unit rest; do echo "start $unit"; done >>"$list"
	# A replica that went on without its unit would be killed: systemd would ignore its watchdog messages.
	systemctl stop $serving hdqs-build.service hdqs-gc.service || true
fi
# Unlike stop, disable takes no patterns.
sed -n 's/^enable //p' "$list" | while read -r unit; do
	systemctl ${root:+--root="$root"} --quiet disable "$unit" || true
done
[ -s "$list" ] || rm -f "$list"
