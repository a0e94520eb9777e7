"""Sends the same random requests to the port and to dynoxide, and compares the answers.

Usage: tests/clients/differential.py URL DYNOXIDE [SEED [REQUESTS]]

DYNOXIDE is its program, which runs in memory until the end. What is known to differ is in
KNOWN_DIFFERENCES, and docs/compatibility.md says whom AWS's documentation supports. It prints "ok"
at its end, or each other difference.
"""

import http.client
import json
import random
import socket
import subprocess
import sys
from urllib.parse import urlparse

# Both accept every signature.
AUTHORIZATION = ("AWS4-HMAC-SHA256 Credential=a/20260101/us-east-1/dynamodb/aws4_request, "
                 "SignedHeaders=host, Signature=b")

TABLE = {
    "TableName": "differential", "BillingMode": "PAY_PER_REQUEST",
    "AttributeDefinitions": [{"AttributeName": name, "AttributeType": kind}
                             for name, kind in (("p", "S"), ("c", "N"), ("g", "S"), ("l", "S"))],
    "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"},
                  {"AttributeName": "c", "KeyType": "RANGE"}],
    "GlobalSecondaryIndexes": [{"IndexName": "by-g", "Projection": {"ProjectionType": "ALL"},
                                "KeySchema": [{"AttributeName": "g", "KeyType": "HASH"}]}],
    "LocalSecondaryIndexes": [{"IndexName": "by-l", "Projection": {"ProjectionType": "KEYS_ONLY"},
                               "KeySchema": [{"AttributeName": "p", "KeyType": "HASH"},
                                             {"AttributeName": "l", "KeyType": "RANGE"}]}],
}


class Peer:
    """One connection to a server."""

    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address, timeout=30)

    def ask(self, operation, request):
        self.connection.request("POST", "/", json.dumps(request), {
            "Content-Type": "application/x-amz-json-1.0", "X-Amz-Date": "20260101T000000Z",
            "X-Amz-Target": f"DynamoDB_20120810.{operation}", "Authorization": AUTHORIZATION})
        response = self.connection.getresponse()
        return response.status, json.loads(response.read() or "{}")


class Requests:
    """Random requests about few items, so that most of them meet items."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def key(self):
        return {"p": {"S": self.random.choice("ab")}, "c": {"N": str(self.random.randrange(4))}}

    def value(self, depth=0):
        # dynoxide also makes a map of an attribute that is NULL, so there is none.
        kinds = ["S", "N", "BOOL", "SS", "NS"]
        kinds += (["L", "M"] if depth < 2 else []) + (["NULL"] if depth > 0 else [])
        kind = self.random.choice(kinds)
        members = range(self.random.randrange(1, 4))
        return {kind: {
            "S": lambda: self.random.choice(["", "x", "yy", "ä"]),
            "N": lambda: self.random.choice(["0", "1", "-1.5", "1e3", "100", "0.001"]),
            "BOOL": lambda: self.random.random() < 0.5,
            "NULL": lambda: True,
            "SS": lambda: sorted({self.random.choice("xyz") for _ in members}),
            "NS": lambda: sorted({self.random.choice(["1", "2", "30"]) for _ in members}),
            "L": lambda: [self.value(depth + 1) for _ in members],
            "M": lambda: {self.random.choice("uvw"): self.value(depth + 1) for _ in members},
        }[kind]()}

    def item(self):
        item = self.key()
        for name in "xyz":
            if self.random.random() < 0.6:
                item[name] = self.value()
        for name in "gl":
            if self.random.random() < 0.5:
                item[name] = {"S": self.random.choice("mn")}
        return item

    def path(self):
        return self.random.choice(["x", "y", "z", "x.u", "y[0]", "z.v[1]", "g", "l"])

    def condition(self):
        return self.random.choice([
            "attribute_exists(%s)", "attribute_not_exists(%s)", "%s = :v", "%s <> :v", "%s < :v",
            "NOT %s = :v", "contains(%s, :v)", "size(%s) > :n", "attribute_type(%s, :t)",
            "attribute_exists(p) AND %s >= :v", "%s IN (:v, :n)"]) % self.path()

    def bound(self, request, *texts):
        """The request with the values that its expressions use."""
        values = {":v": self.value(), ":n": {"N": str(self.random.randrange(3))},
                  ":t": {"S": self.random.choice(["S", "N", "L"])}, ":s": {"SS": ["x", "y"]},
                  ":e": {"L": [{"S": "end"}]}, ":p": {"S": self.random.choice("ab")}}
        used = {name: value for name, value in values.items() if any(name in t for t in texts)}
        return {**request, **({"ExpressionAttributeValues": used} if used else {})}

    def put(self):
        request = {"TableName": TABLE["TableName"], "Item": self.item(), "ReturnValues": "ALL_OLD"}
        if self.random.random() < 0.6:
            return "PutItem", request
        condition = self.condition()
        return "PutItem", self.bound({**request, "ConditionExpression": condition}, condition)

    def update(self):
        # Without paths into lists, and with few into maps: where these are missing, dynoxide
        # removes nothing or makes them, and its items are others from then on.
        text = self.random.choice([
            "SET %s = :v", "SET %s = if_not_exists(x, :n)", "SET %s = list_append(y, :e)",
            "SET %s = z + :n", "SET %s = :v REMOVE q"]) % self.random.choice(["x", "y", "z", "x.u"])
        if self.random.random() < 0.4:
            text = self.random.choice(["SET q = :n REMOVE %s", "ADD %s :n", "ADD %s :s",
                                       "SET q = :n DELETE %s :s"]) % self.random.choice("xyz")
        request = {"TableName": TABLE["TableName"], "Key": self.key(), "UpdateExpression": text,
                   "ReturnValues": self.random.choice(["ALL_NEW", "UPDATED_OLD", "UPDATED_NEW"])}
        return "UpdateItem", self.bound(request, text)

    def remove(self):
        condition = self.condition()
        return "DeleteItem", self.bound({
            "TableName": TABLE["TableName"], "Key": self.key(), "ReturnValues": "ALL_OLD",
            "ConditionExpression": condition}, condition)

    def get(self):
        return "GetItem", {"TableName": TABLE["TableName"], "Key": self.key(),
                           "ProjectionExpression": self.random.choice(
                               ["x", "p, y[0]", "z.v, z.u", "g, l"])}

    def query(self):
        text = self.random.choice(["p = :p", "p = :p AND c > :n", "p = :p AND c BETWEEN :n AND :n"])
        request = {"TableName": TABLE["TableName"], "KeyConditionExpression": text,
                   "ScanIndexForward": self.random.random() < 0.5}
        if self.random.random() < 0.5:
            request["Limit"] = self.random.randrange(1, 4)
        if self.random.random() < 0.3:
            request["IndexName"] = "by-l"
            request["KeyConditionExpression"] = text = "p = :p"
        return "Query", self.bound(request, text)

    def scan(self):
        condition = self.condition()
        return "Scan", self.bound({"TableName": TABLE["TableName"],
                                   "FilterExpression": condition}, condition)

    def transact(self):
        kind = self.random.choice(["Put", "Delete"])
        action = {"Item": self.item()} if kind == "Put" else {"Key": self.key()}
        condition = self.condition()
        return "TransactWriteItems", {"TransactItems": [{kind: self.bound({
            "TableName": TABLE["TableName"], **action, "ConditionExpression": condition,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}, condition)}]}

    def next(self):
        make = self.random.choices(
            [self.put, self.update, self.remove, self.get, self.query, self.scan, self.transact],
            [6, 8, 1, 2, 2, 2, 2])[0]
        return make()


def text_of(value):
    return json.dumps(value, sort_keys=True)


def normal(value, operation):
    """Without what may have any order: sets, and the items of a scan."""
    if isinstance(value, list):
        return [normal(one, operation) for one in value]
    if not isinstance(value, dict):
        return value
    shown = {}
    for name, one in value.items():
        one = normal(one, operation)
        is_set = name in ("SS", "NS", "BS") and isinstance(one, list)
        is_page = name == "Items" and operation == "Scan"
        shown[name] = sorted(one, key=text_of) if is_set or is_page else one
    return shown


def kind_of(answer):
    """The status, and the name of the exception."""
    status, body = answer
    return status, body.get("__type", "").rpartition("#")[2]


# What our message begins with, and why dynoxide's answer is another one.
KNOWN_DIFFERENCES = {
    "Incorrect operand type for operator or function":
        "AWS refuses to compare what has no order; dynoxide finds that the condition is false",
}


def is_known(ours):
    message = ours[1].get("message", "")
    return any(text in message for text in KNOWN_DIFFERENCES)


def compare(ours, theirs, requests, count):
    differences = 0
    for _ in range(count):
        operation, request = requests.next()
        answers = [peer.ask(operation, request) for peer in (ours, theirs)]
        kinds = [kind_of(answer) for answer in answers]
        bodies = [normal(body, operation) if "__type" not in body else None for _, body in answers]
        if kinds[0] == kinds[1] and bodies[0] == bodies[1]:
            continue
        if is_known(answers[0]):
            continue
        differences += 1
        print(operation, json.dumps(request), *map(json.dumps, answers), sep="\n  ")
    return differences


def start(program):
    """Starts dynoxide in memory. Returns its process and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([program, "--port", str(port)], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    for line in process.stdout:
        if "listening on" in line:
            return process, f"127.0.0.1:{port}"
    raise RuntimeError("dynoxide ended before it listened")


def main(url, program, seed="1", count="600"):
    process, address = start(program)
    try:
        ours, theirs = Peer(urlparse(url).netloc), Peer(address)
        for peer in (ours, theirs):
            status, body = peer.ask("CreateTable", TABLE)
            assert status == 200, body
        differences = compare(ours, theirs, Requests(int(seed)), int(count))
    finally:
        process.kill()
        process.wait()
    print("ok" if differences == 0 else f"seed {seed}: {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
