"""Checks the alarms of deploy/: their metrics exist, and each alarm is raised when it should be.

Usage: tools/alarms.py | --self-test

Every metric in deploy/alarms.yml must be in docs/metrics.md, which a test compares with the
program. Prometheus's promtool runs deploy/alarms_test.yml. The tool uses the promtool in PATH, or
the one in Debian's package, which it unpacks below build/ without installing it. If there is none,
it prints "skipped" with the reason and checks only the names.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import files

RULES = files.ROOT / "deploy/alarms.yml"
TESTS = files.ROOT / "deploy/alarms_test.yml"
METRICS = files.ROOT / "docs/metrics.md"
TOOLS = files.ROOT / "build/promtool"

METRIC = re.compile(r"\btidemark_[a-z0-9_]+")
DOCUMENTED = re.compile(r"^\| `(tidemark_\w+)` \| (counter|gauge|histogram) \|", re.MULTILINE)
ALERT = re.compile(r"^      - alert: (\w+)$", re.MULTILINE)
FIRING = re.compile(r'alertname="(\w+)"')
# The expression of an alert, up to the next line with less indentation.
EXPRESSION = re.compile(r"(?<=^        expr:)((?: .*)\n(?:          .*\n)*)", re.MULTILINE)


class Unavailable(Exception):
    """There is no promtool, and it cannot be downloaded."""


def complaints(*command, cwd=None):
    """The output of a command that fails, as one text; empty if it succeeds."""
    run = subprocess.run(command, cwd=cwd, text=True, capture_output=True, check=False)
    return run.stdout + run.stderr + f"exit code {run.returncode}" if run.returncode != 0 else ""


def series_of(document):
    """The names of the program's metrics in Prometheus."""
    names = set()
    for name, kind in DOCUMENTED.findall(document):
        ends = ("_bucket", "_count", "_sum") if kind == "histogram" else ("",)
        names |= {name + end for end in ends}
    return names


def unknown_metrics(rules, document):
    used = {name for expression in EXPRESSION.findall(rules) for name in METRIC.findall(expression)}
    return sorted(used - series_of(document))


def download():
    """The error, or an empty text if the package was downloaded."""
    return complaints("apt-get", "download", "-q", "prometheus", cwd=TOOLS)


def unpack_promtool():
    """Unpacks Debian's package without installing it, because installing starts a service."""
    if not shutil.which("apt-get") or not shutil.which("dpkg"):
        raise Unavailable("there is no promtool, and no apt-get to fetch one")
    TOOLS.mkdir(parents=True, exist_ok=True)
    said = download()
    if said and os.geteuid() == 0:  # A new machine has no package lists yet.
        said = complaints("apt-get", "update", "-q") or download()
    if said:
        raise Unavailable(f"'apt-get download prometheus', for promtool, failed: {said.strip()}")
    subprocess.run(["dpkg", "-x", max(TOOLS.glob("prometheus_*.deb")), TOOLS], check=True)


def find_promtool():
    unpacked = TOOLS / "usr/bin/promtool"
    on_path = shutil.which("promtool")
    if on_path:
        return on_path
    if not unpacked.exists():
        unpack_promtool()
    return str(unpacked)


def check():
    rules = RULES.read_text(encoding="utf-8")
    unknown = unknown_metrics(rules, METRICS.read_text(encoding="utf-8"))
    for name in unknown:
        print(f"deploy/alarms.yml: '{name}' is not a metric of docs/metrics.md")
    try:
        promtool = find_promtool()
        said = complaints(promtool, "check", "rules", RULES)
        said += complaints(promtool, "test", "rules", TESTS)
    except Unavailable as reason:
        print(f"skipped running the alarms: {reason}")
        said = ""
    print(said or f"alarms: {len(ALERT.findall(rules))} rules")
    return 1 if unknown or said else 0


def with_expression(rules, expression, numbers=(0,)):
    """The rules, with another expression for the alerts with these numbers."""
    for found in reversed([list(EXPRESSION.finditer(rules))[number] for number in numbers]):
        rules = rules[:found.start()] + f" {expression}\n" + rules[found.end():]
    return rules


def blamed(said):
    """The alerts that promtool expected and did not get, or got and did not expect."""
    names = set()
    for complaint in said.split("exp:")[1:]:
        expected, got = (set(FIRING.findall(half)) for half in complaint.split("got:", 1))
        names |= expected ^ got
    return names


def self_test():
    rules = RULES.read_text(encoding="utf-8")
    document = METRICS.read_text(encoding="utf-8")
    alerts = ALERT.findall(rules)
    assert len(alerts) == len(EXPRESSION.findall(rules)) > 0
    assert unknown_metrics(with_expression(rules, "tidemark_nobody_knows > 0"), document) == [
        "tidemark_nobody_knows"]
    # Prometheus stores a histogram only as its parts.
    seconds = "tidemark_documents_operation_seconds"
    assert unknown_metrics(with_expression(rules, f"{seconds} > 0"), document) == [seconds]
    try:
        promtool = find_promtool()
    except Unavailable as reason:
        print(f"skipped breaking the alarms: {reason}")
        return 0
    # An alarm that is never or always raised must be found. All alarms are broken in one run, since
    # promtool takes most of a second, and it must blame each.
    with tempfile.TemporaryDirectory() as folder:
        broken = pathlib.Path(folder) / RULES.name
        shutil.copy(TESTS, folder)
        for expression in ("vector(0) == 1", "vector(1) == 1"):
            everything = with_expression(rules, expression, range(len(alerts)))
            broken.write_text(everything, encoding="utf-8")
            said = complaints(promtool, "test", "rules", broken.parent / TESTS.name)
            missed = set(alerts) - blamed(said)
            assert not missed, f"{sorted(missed)}: {expression} passes the tests"
    print(f"alarms: self test passed, {2 * len(alerts)} broken rules rejected")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1:]:
        print(__doc__)
        return 2
    return check()


if __name__ == "__main__":
    sys.exit(main())
