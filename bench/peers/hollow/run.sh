#!/bin/sh
# Netflix Hollow with the table of refugees of two snapshots: the one that the channel shows, and ID.
#
#     sh bench/peers/hollow/run.sh HDQS STORE ID
#
# Needs a JDK from 17 on, and Maven, which downloads the library.
set -eu
hdqs=$1 store=$2 id=$3
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$hdqs" export "$work/first" --store "$store" --formats csv.gz --tables refugees >/dev/null
"$hdqs" export "$work/second" "$id" --store "$store" --formats csv.gz --tables refugees >/dev/null
cp -r "$here/pom.xml" "$here/src" "$work"
(cd "$work" && mvn -q -B compile dependency:copy-dependencies -DoutputDirectory=lib)
run() { java "$@" 2>/dev/null; } # it logs what it does
run -Xmx6g -cp "$work/lib/*:$work/target/classes" HollowPeer produce "$work/blobs" \
  "$work/first/latest/csv/refugees.csv.gz" "$work/second/latest/csv/refugees.csv.gz"
run -Xmx3g -cp "$work/lib/*:$work/target/classes" HollowPeer consume "$work/blobs"
