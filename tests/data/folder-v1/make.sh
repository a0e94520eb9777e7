#!/usr/bin/env bash
# Writes a data folder with a given program, as `data` beside this script, and what it holds, as
# `expected`. Usage: make.sh PROGRAM
#
# `data` here is not made again: it shows that later programs open what an old one wrote. See
# README.md.
set -euo pipefail
program=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
work=$(mktemp -d)
started=()
stop() {
  for id in "${started[@]}"; do kill "$id" 2>/dev/null || true; done
  wait
  started=()
}
trap 'stop; rm -rf "$work"' EXIT
cd "$work"

tables() { "$program" tables "$@" --data data; }

# A table with all that a table can have, and items with values of every type.
tables create things --key id:S --sort n:N --index by-color:color:S:n:N:include=size \
  --local-index by-size:size:N:keys --stream new-and-old --ttl expires --tag owner=tests
tables put things --item - <"$here/input/items.jsonl"
tables update things --key '{"id":{"S":"a"},"n":{"N":"1"}}' --update 'SET #s = #s + :one' \
  --names '{"#s":"size"}' --values '{":one":{"N":"1"}}'
tables delete things --key '{"id":{"S":"gone"},"n":{"N":"1"}}'
# An index that was added later.
tables alter things --add-index late:flavour:S
tables put things --item '{"id":{"S":"d"},"n":{"N":"1"},"flavour":{"S":"sweet"}}'

# The archive: what a pretend Slack sends, with files.
port() {
  python3 -c 'import socket
probe = socket.socket()
probe.bind(("127.0.0.1", 0))
print(probe.getsockname()[1])'
}
listen=127.0.0.1:$(port)
slack=127.0.0.1:$(port)
SLACK_SIGNING_SECRET=00000000000000000000000000000000 SLACK_BOT_TOKEN=xoxb-demo \
  TIDEMARK_SLACK_API_URL=http://$slack/api TIDEMARK_LISTEN=$listen TIDEMARK_DATA=data \
  TIDEMARK_ARCHIVE_CONSENT=true TIDEMARK_ARCHIVE_FILE_ORIGINS=http://$slack \
  "$program" serve 2>server.log &
started+=($!)
until curl -sf "http://$listen/healthz" >/dev/null; do sleep 0.2; done
"$program" demo --listen "$slack" --to "http://$listen/slack/events" \
  --events 60 --rate 10 --speed 600 >slack.out 2>slack.log &
started+=($!)
sleep "${SECONDS_OF_EVENTS:-30}"
stop

# More of the archive: an export with a thread and an edited message.
TIDEMARK_ARCHIVE_CONSENT=true "$program" archive import "$here/input/export" \
  --team T0EXPORT01 --data data 2>>log

# Attempts, and documents with their objects.
"$program" attempts state ann SUSPENDED --reason 'ticket 7' --data data 2>>log
"$program" attempts lock bob SIGN_IN PASSWORD_RESET --kind PERMANENT \
  --reason 'ticket 8' --data data 2>>log
for id in CHG-2025-001 CHG-2025-002; do
  sed "s/ID/$id/; s/CREATED/$(($(date +%s) - 3600))/" "$here/input/change.json" >"$id.json"
  "$program" documents put "$id.json" --data data 2>>log
done

# What it holds: every row of every table.
rm -rf "$here/data" "$here/expected"
mkdir -p "$here/expected"
for table in $(tables list | sed 's/^{"table":"\([^"]*\)".*/\1/'); do
  tables scan "$table" | sort >"$here/expected/$table.jsonl"
done
tables verify
# Logs and options are RocksDB's notes: they name paths of the machine, and are not needed to open.
rm -f data/tables/LOG* data/tables/OPTIONS-* data/tables/LOCK
cp -r data "$here/data"
