#!/usr/bin/env bash
# Makes a demo data folder and says what to try with it.
#
# Usage: tools/demo.sh PROGRAM FOLDER
# FOLDER is made anew, but only when it is missing or holds an earlier demo.
set -euo pipefail

if (($# != 2)); then
  sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 2
fi
program=$1
folder=$2
mark=$folder.is-a-demo

tables() {
  "$program" tables "$@" --data "$folder"
}

if [[ -e $folder && ! -e $mark ]]; then
  echo "$folder is there and was not made by this script; it is left alone." >&2
  exit 1
fi
rm -rf "$folder"
touch "$mark"

tables create messages --key channel:S --sort ts:S --index by-user:user:S:ts:S \
  --stream new-and-old --ttl expires >/dev/null
tables put messages --item - >/dev/null <<'ITEMS'
{"channel":{"S":"C1"},"ts":{"S":"1700000001"},"user":{"S":"ann"},"text":{"S":"Is the ferry late?"}}
{"channel":{"S":"C1"},"ts":{"S":"1700000002"},"user":{"S":"ben"},"text":{"S":"Ten minutes."}}
{"channel":{"S":"C2"},"ts":{"S":"1700000003"},"user":{"S":"ann"},"text":{"S":"Lunch?"}}
ITEMS

cat <<TEXT

$folder now holds a table 'messages' with three items, an index by user and a stream.
There is no server yet: each command opens the folder by itself. Try:

  $program tables describe messages --data $folder

  $program tables query messages --data $folder \\
      --key-condition 'channel = :c' --values '{":c":{"S":"C1"}}'

  $program tables query messages --data $folder --index by-user \\
      --key-condition '#u = :u' --names '{"#u":"user"}' --values '{":u":{"S":"ann"}}'

  $program tables update messages --data $folder \\
      --key '{"channel":{"S":"C1"},"ts":{"S":"1700000001"}}' \\
      --update 'ADD likes :one' --values '{":one":{"N":"1"}}' --return new

  $program tables streams tail messages --data $folder

  $program tables --help
TEXT
