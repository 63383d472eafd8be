#!/bin/sh
# Installs the samples of this folder where first-deployment.md expects them. `make install` runs it.
#
#	install.sh PROGRAM   the program, its units and settings, and the samples for nginx and Prometheus
#	install.sh           only those for nginx and Prometheus: a package has the rest
#
# Files in /etc/hdqs, hdqs.conf and prometheus.yml stay as they are if they are there. DESTDIR names a folder
# below which all is installed, for a look at it.
set -eu
program=${1:-}
here=$(dirname "$0")
etc=${DESTDIR:-}/etc

install -d "$etc/nginx/conf.d" "$etc/nginx/hdqs" "$etc/prometheus" "${DESTDIR:-}/var/cache/nginx"
install -m 644 "$here/nginx/params.conf" "$etc/nginx/hdqs"
install -m 644 "$here/prometheus/hdqs.rules.yml" "$etc/prometheus"
[ -e "$etc/nginx/conf.d/hdqs.conf" ] || install -m 644 "$here/nginx/hdqs.conf" "$etc/nginx/conf.d"
[ -e "$etc/prometheus/prometheus.yml" ] || install -m 644 "$here/prometheus/prometheus.yml" "$etc/prometheus"
[ -n "$program" ] || exit 0

install -D -m 755 "$program" "${DESTDIR:-}/usr/local/bin/hdqs"
install -d "$etc/systemd/system" "$etc/hdqs"
install -m 644 "$here"/systemd/*.service "$here"/systemd/*.socket "$here"/systemd/*.timer "$etc/systemd/system"
for file in serve.env build.env; do
	[ -e "$etc/hdqs/$file" ] || install -m 600 "$here/systemd/$file" "$etc/hdqs"
done
[ -e "$etc/hdqs/exceptions.txt" ] || install -m 644 "$here/systemd/exceptions.txt" "$etc/hdqs"
[ -e "$etc/hdqs/hdqs.yaml" ] || "$program" init "$etc/hdqs/hdqs.yaml"
