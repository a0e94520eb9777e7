"""Reads the results of the test programs from a folder of build/results.

Usage: tools/results.py FOLDER | --self-test

Each program writes an XML file (GoogleTest's format), and ctest writes programs.xml with the exit
status of each program. If a program fails although none of its cases failed (a leak, a crash, a
missing file), this is one failure. Prints for ./dev test:

  passed 57
  skipped NumberTest.Slow
  failed NumberTest.RejectsThirtyNineDigits
"""

import dataclasses
import pathlib
import sys
import tempfile
import xml.etree.ElementTree

import files

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"


@dataclasses.dataclass(frozen=True)
class Case:
    """One run of a test case, with suite and name as GoogleTest writes them, with parameters."""
    suite: str
    name: str
    verdict: str


def verdict_of(node):
    if node.find("failure") is not None or node.find("error") is not None:
        return FAILED
    if node.find("skipped") is not None or node.get("result") in ("skipped", "suppressed"):
        return SKIPPED
    return PASSED


def cases_in(path):
    """The cases in the file of a program; none if the file is missing or incomplete."""
    try:
        tree = xml.etree.ElementTree.parse(path)
    except (OSError, xml.etree.ElementTree.ParseError):
        return []
    return [Case(node.get("classname"), node.get("name"), verdict_of(node))
            for node in tree.iter("testcase") if node.get("status") != "notrun"]


def programs_in(folder):
    """{program: whether it succeeded}, from ctest."""
    path = folder / "programs.xml"
    if not path.exists():
        return {}
    nodes = xml.etree.ElementTree.parse(path).iter("testcase")
    return {node.get("name"): node.get("status") == "run" for node in nodes}


def read(folder):
    """All cases of a folder. A program that failed without a failed case is one failed case."""
    cases = []
    for program, ended_well in sorted(programs_in(folder).items()):
        own = cases_in(folder / f"{program}.xml")
        if not ended_well and all(case.verdict != FAILED for case in own):
            own = [dataclasses.replace(case, verdict=SKIPPED) for case in own]
            own.append(Case(program, "EndsWell", FAILED))
        cases.extend(own)
    return cases


def gtest_xml(suite, name, inner=""):
    return (f'<testsuites><testsuite><testcase name="{name}" status="run" classname="{suite}">'
            f"{inner}</testcase></testsuite></testsuites>")


def self_test():
    """Distinguishes a failed case, a skipped case, a leak after the last case, and a crash."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files.plant(root, {
            "programs.xml": '<testsuite><testcase name="good" status="run"/>'
                            '<testcase name="bad" status="fail"/>'
                            '<testcase name="leaks" status="fail"/>'
                            '<testcase name="crashes" status="fail"/>'
                            '<testcase name="skips" status="run"/></testsuite>',
            "good.xml": gtest_xml("A", "Works"),
            "bad.xml": gtest_xml("B", "Breaks", '<failure message="no"/>'),
            "leaks.xml": gtest_xml("C", "Leaks"),
            "skips.xml": gtest_xml("D", "Waits", "<skipped/>"),
        })
        found = set(read(root))
    assert found == {
        Case("A", "Works", PASSED), Case("B", "Breaks", FAILED), Case("C", "Leaks", SKIPPED),
        Case("leaks", "EndsWell", FAILED), Case("crashes", "EndsWell", FAILED),
        Case("D", "Waits", SKIPPED)}, found
    print("results: 3 planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    cases = read(pathlib.Path(sys.argv[1]))
    print(PASSED, sum(case.verdict == PASSED for case in cases))
    for case in cases:
        if case.verdict != PASSED:
            print(case.verdict, f"{case.suite}.{case.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
