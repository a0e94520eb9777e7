"""The server side of a sign-in page that asks Tidemark before it verifies a password.

Usage: sign_in.py < tries

Each line of the input is one attempt, "ADDRESS PASSWORD [DEVICE]". Each line of the output is what
the page would show. TIDEMARK_URL is the address of Tidemark, and TIDEMARK_API_TOKEN an API token.
DEVICE is the value of a signed cookie that the page set after an earlier success.

A wrong password, a locked account and an unknown account get the same answer after the same time.
"""

import hashlib
import hmac
import json
import os
import secrets
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

URL = os.environ.get("TIDEMARK_URL", "http://127.0.0.1:8080")
TOKEN = os.environ.get("TIDEMARK_API_TOKEN", "")
PASSWORD = {"journey": "SIGN_IN", "count_type": "ERROR_COUNT", "classifier": "PASSWORD_ENTRY"}

WELCOME = "Welcome."
REFUSED = "That did not work. Wait a while before you try again, or reset your password."
LATER = "We cannot sign you in at the moment. Try again later."
# No answer comes sooner, so the time reveals nothing.
LEAST_SECONDS = 0.25


def hash_of(password, salt):
    return hashlib.scrypt(password.encode(), salt=salt, n=2**12, r=8, p=1)


def person(subject, password):
    salt = secrets.token_bytes(16)
    return {"subject": subject, "salt": salt, "hash": hash_of(password, salt)}


# A real page has a database instead.
PEOPLE = {"ann@example.com": person("ann", "north-sea"), "ben@example.com": person("ben", "dogger")}
# Used if there is no account, so that the verification takes as long.
NOBODY = person(None, secrets.token_hex(16))


class CannotDecide(Exception):
    """Tidemark did not answer or cannot decide. This is never a permission."""


def call(path, body):
    request = urllib.request.Request(
        URL + path, json.dumps(body).encode(),
        {"Authorization": "Bearer " + TOKEN, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=5) as answer:
            return json.load(answer)
    except (urllib.error.URLError, TimeoutError, ValueError) as error:
        raise CannotDecide(error) from error


def is_right(account, password):
    return hmac.compare_digest(hash_of(password, account["salt"]), account["hash"])


def tell_owner(account, lock):
    """A real page sends a mail. Only the owner of the account is told about the lock."""
    print(f"mail to {account['subject']}: locked until {lock['until']}", file=sys.stderr)


def verify_password(address, password, device):
    # Attempts without an account are counted too, under the hash of the address. So the calls are
    # the same for everybody, and a lock does not reveal whether an account exists.
    stand_in = call("/api/v1/subjects/identify", {"email": address})["id"]
    account = PEOPLE.get(address.lower())
    subject = urllib.parse.quote(account["subject"] if account else stand_in, safe="~")
    attempt = {**PASSWORD, "attempt_id": secrets.token_hex(16), "device": device}

    slot = call(f"/api/v1/subjects/{subject}/attempts/reserve", attempt)
    right = is_right(account or NOBODY, password) and account is not None
    # Without a slot the result of the verification is ignored.
    if slot["verdict"] != "permitted":
        return False
    after = call(f"/api/v1/subjects/{subject}/attempts/settle", {**attempt, "right": right})
    if account and after["just_reached"]:
        tell_owner(account, after["lock"])
    # Use the answer of Tidemark: if a right password was settled too late, it counts as wrong.
    return after["right"]


def sign_in(address, password, device=""):
    began = time.monotonic()
    try:
        answer = WELCOME if verify_password(address, password, device) else REFUSED
    except CannotDecide as error:
        print(error, file=sys.stderr)
        answer = LATER
    time.sleep(max(0.0, began + LEAST_SECONDS - time.monotonic()))
    return answer


for line in sys.stdin:
    print(sign_in(*line.split()), flush=True)
