#!/usr/bin/env bash
# Runs a demo: the server with an empty data folder, and a simulated Slack that sends events to it.
#
# Usage: tools/demo.sh PROGRAM FOLDER [--try]
# FOLDER is created. If it exists, it must be from an earlier demo, and is replaced. The demo runs
# until Ctrl-C. With --try it uses free ports, runs the commands that it prints, and ends.
set -euo pipefail

if (($# < 2 || $# > 3)) || [[ ${3:---try} != --try ]]; then
  sed -n '2,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 2
fi
program=$(realpath "$1")
folder=$2
try=${3:-}
mark=$folder.is-a-demo
here=127.0.0.1:8080
slack=127.0.0.1:8090
dynamodb=127.0.0.1:8000
started=()

free_port() {
  python3 -c 'import socket
probe = socket.socket()
probe.bind(("127.0.0.1", 0))
print(probe.getsockname()[1])'
}

stop() {
  local id
  for id in "${started[@]}"; do kill "$id" 2>/dev/null || true; done
  wait
}

# await WHAT COMMAND...: waits until the command succeeds, for at most 30 seconds.
await() {
  local what=$1 end=$((SECONDS + 30))
  shift
  until "$@" >/dev/null 2>&1; do
    if ((SECONDS > end)) || ! kill -0 "${started[@]}" 2>/dev/null; then
      echo "$what did not start. See the logs $folder/server.log and $folder/slack.log:" >&2
      tail -n 5 "$folder/server.log" "$folder/slack.log" >&2
      exit 1
    fi
    sleep 0.1
  done
}

if [[ -e $folder && ! -e $mark ]]; then
  echo "$folder exists and is not from an earlier demo. Remove it or name another folder." >&2
  exit 1
fi
if [[ -n $try ]]; then
  here=127.0.0.1:$(free_port)
  slack=127.0.0.1:$(free_port)
  dynamodb=127.0.0.1:$(free_port)
fi
rm -rf "$folder"
mkdir -p "$folder"
touch "$mark"
folder=$(realpath "$folder")
trap stop EXIT
trap 'exit 0' INT TERM

cd "$folder"
token=$("$program" token create demo 2>/dev/null)
SLACK_SIGNING_SECRET=00000000000000000000000000000000 SLACK_BOT_TOKEN=xoxb-demo \
  TIDEMARK_SLACK_API_URL=http://$slack/api TIDEMARK_LISTEN=$here \
  TIDEMARK_ARCHIVE_CONSENT=true TIDEMARK_ARCHIVE_FILE_ORIGINS=http://$slack \
  TIDEMARK_DYNAMODB_LISTEN=$dynamodb TIDEMARK_DYNAMODB_OPEN=true \
  "$program" serve 2>server.log &
started+=($!)
"$program" demo --listen "$slack" --to "http://$here/slack/events" >slack.out 2>slack.log &
started+=($!)
await 'The server' curl -sf "http://$here/healthz"
await 'The DynamoDB port' curl -sf "http://$dynamodb/"
await 'The simulated Slack' grep -q acknowledged slack.log

team=$(curl -sf -H 'Authorization: Bearer xoxb-demo' "http://$slack/api/auth.test" |
  sed 's/.*"team_id":"\([^"]*\)".*/\1/')
bearer="-H 'Authorization: Bearer $token'"
printf '%s\n' "$token" >token
server="--server http://$here --token-file $folder/token"
ask() { TIDEMARK_API_TOKEN=$token "$program" archive "$@" --server "http://$here" --json; }
has_messages() {
  busiest=$(ask channels | sed -n '1s/.*"channel_id":"\([^"]*\)".*/\1/p')
  [[ -n $busiest ]] && ask messages "$busiest" | grep -q .
}
has_people() { (($(ask people | wc -l) > 100)); }
await 'The archive' has_messages
await 'The list of people' has_people
commands=(
  "$program archive channels $server --table"
  "$program archive messages $busiest $server --limit 10 --table"
  "curl -s $bearer 'http://$here/api/v1/teams/$team/channels/$busiest/messages?order=desc&limit=3'"
)

cat <<TEXT

A simulated Slack at $slack sends ten events per second to http://$here/slack/events: messages,
edits, deletions, threads and files, with retries, duplicates and some out of order. The server
checks every event and archives it once. It is on disk before the server acknowledges it. All files
are in $folder.

The tables answer DynamoDB's own protocol at http://$dynamodb, for AWS's SDKs and tools, with any
access key: this demo has dynamodb.open = true, so that every program on this machine may use them.

Try these commands in another terminal:

  # the channels so far
  ${commands[0]}

  # the messages of one channel
  ${commands[1]}

  # the same over HTTP, newest first
  ${commands[2]}

  # a table with the AWS CLI, if it is installed
  AWS_ACCESS_KEY_ID=any AWS_SECRET_ACCESS_KEY=any aws --region us-east-1 \\
    --endpoint-url http://$dynamodb dynamodb list-tables

Press Ctrl-C to stop.

TEXT

if [[ -n $try ]]; then
  for command in "${commands[@]}"; do bash -c "$command" && echo; done >tried.out
  for expected in VISIBILITY 'TIME (UTC)' '"messages":[{'; do
    grep -qF "$expected" tried.out || {
      echo "One of the suggested commands did not print $expected:" >&2
      cat tried.out >&2
      exit 1
    }
  done
  # Nothing may be refused, not even for a lack of look-ups right after the start.
  refused=$(curl -sf -H "Authorization: Bearer $token" "http://$here/metrics" |
    sed -n 's/^tidemark_events_total{result="\(refused\|quarantined\)"} //p' | sort -u)
  if [[ $refused != 0 ]]; then
    echo "The server refused or quarantined events. See the log $folder/server.log." >&2
    exit 1
  fi
  if grep -qE '  U0[0-9A-Z]{9}  ' tried.out; then
    echo "One of the suggested commands shows the id of a person in place of the name:" >&2
    cat tried.out >&2
    exit 1
  fi
  exit 0
fi
tail -n 0 -f slack.log &
started+=($!)
wait "${started[0]}"
