"""Makes an export as Slack does, of messages that are made up, to measure the import with.

Usage: tools/make_export.py OUT.zip [--messages N] [--channels N] [--days N] [--seed N]

A few channels have most of the messages; every eighth is a reply in a thread, every tenth was
edited, every twentieth has a file, every third a reaction, and some are joins and topics.
"""

import argparse
import datetime
import json
import random
import zipfile

START = 1_640_995_200
DAY = 86_400
TEAM = "T01234567"
WORDS = ("the build is green again and we ship on Monday unless somebody finds one more "
         "thing in the release notes that nobody has read so far").split()


def people(count):
    """users.json"""
    return [{"id": f"U{i:08d}", "team_id": TEAM, "name": f"user{i}", "deleted": False,
             "updated": START + i, "is_bot": False,
             "profile": {"real_name": f"User {i}", "display_name": f"u{i}",
                         "image_72": f"https://avatars.example.com/{i}.png"}}
            for i in range(count)]


def channels(count):
    """channels.json"""
    return [{"id": f"C{i:08d}", "name": f"channel-{i}", "created": START - DAY,
             "is_archived": False, "is_general": i == 0, "members": [],
             "topic": {"value": f"Topic {i}", "creator": "U00000001", "last_set": START},
             "purpose": {"value": "", "creator": "", "last_set": 0}}
            for i in range(count)]


def blocks(text):
    """What Slack's clients send with every text."""
    return [{"type": "rich_text", "block_id": "Zq1", "elements": [
        {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}]}]


def add_extras(message, number, user, rng):
    """What some messages have."""
    seconds = int(message["ts"][:10])
    if number % 10 == 0:
        message["edited"] = {"user": user, "ts": f"{seconds + 60}.000000"}
    if number % 20 == 0:
        message["files"] = [{
            "id": f"F{number:09d}", "created": seconds, "name": "plan.pdf", "title": "plan",
            "mimetype": "application/pdf", "filetype": "pdf", "user": user, "size": 123_456,
            "mode": "hosted", "is_external": False,
            "url_private": f"https://files.slack.com/files-pri/{TEAM}-F{number:09d}/plan.pdf",
            "thumb_64": "https://files.slack.com/x.png"}]
    if number % 3 == 0:
        users = [f"U{rng.randrange(200):08d}" for _ in range(1 + number % 2)]
        message["reactions"] = [{"name": "thumbsup", "users": sorted(set(users)),
                                 "count": len(set(users))}]


def day_of(date, count, state, rng):
    """The messages of one day in one channel, in the order of time."""
    rows = []
    for i in range(count):
        state["number"] += 1
        number = state["number"]
        user = f"U{rng.randrange(200):08d}"
        text = " ".join(rng.choices(WORDS, k=rng.randrange(4, 40)))
        ts = f"{date + i * DAY // count}.{number % 1_000_000:06d}"
        message = {"client_msg_id": f"{number:032x}", "type": "message", "user": user,
                   "text": text, "ts": ts, "team": TEAM, "user_team": TEAM, "source_team": TEAM,
                   "user_profile": {"avatar_hash": "abc", "real_name": user, "name": user},
                   "blocks": blocks(text)}
        if number % 50 == 1:
            message = {"type": "message", "subtype": "channel_join", "ts": ts, "user": user,
                       "text": f"<@{user}> has joined the channel"}
        elif number % 8 == 0 and state["root"]:
            message["thread_ts"] = state["root"]
            message["parent_user_id"] = user
        else:
            state["root"] = ts
        if "subtype" not in message:
            add_extras(message, number, user, rng)
        rows.append(message)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.strip().splitlines()[0])
    parser.add_argument("out")
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--channels", type=int, default=20)
    parser.add_argument("--days", type=int, default=730)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    listed = channels(options.channels)
    # The first has the largest share, as in real workspaces.
    weights = [1 / (i + 3) for i in range(options.channels)]
    state = {"number": 0, "root": None}
    with zipfile.ZipFile(options.out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("channels.json", json.dumps(listed, indent=4))
        archive.writestr("users.json", json.dumps(people(200), indent=4))
        for channel, weight in zip(listed, weights):
            state["root"] = None
            total = round(options.messages * weight / sum(weights))
            for day in range(options.days):
                count = total * (day + 1) // options.days - total * day // options.days
                date = START + day * DAY
                name = datetime.datetime.fromtimestamp(date, datetime.timezone.utc).date()
                if count:
                    archive.writestr(f"{channel['name']}/{name}.json",
                                     json.dumps(day_of(date, count, state, rng), indent=4))


if __name__ == "__main__":
    main()
