"""Which numbered statements of the spec are proved, by which tests.

Usage: tools/spec.py [--summary | --update-copy | --check | --self-test]

A test names what it proves in the comment above it:

  // An expired row counts as absent.
  // Spec: 004-13, 004-14
  TEST(ClaimTest, TakesOverAnExpiredRow) {

A statement is proved when at least one test names it and all that do passed when they last ran.
--check fails when a test names a statement that does not exist, when a "Spec:" comment stands above
no test, when there are not 309 statements, or when docs/spec has fallen behind.
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import sys
import tempfile

import files
import results

STATEMENTS = 309
COPY_WORDS = 12
STATEMENT = re.compile(r"^- (\d{3}-\d{2}) (?:(?:\[\w\])+ )?(.*)$", re.M)
NAMED = re.compile(r"^\s*//\s*Spec:\s*(.*)$")
NUMBER = re.compile(r"\d{3}-\d{2}")
TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")
NOT_RUN = "not run"


@dataclasses.dataclass(frozen=True)
class Test:
    """A test as written: a run of it may carry a prefix and parameters."""
    suite: str
    name: str
    where: str


def spec_folder(root):
    original = root.parent / "shared" / "spec"
    return original if original.is_dir() else root / "docs" / "spec"


def statements_in(folder):
    """{seed file's stem: {number: title}}, in order."""
    seeds = {}
    for path in sorted(folder.glob("00[0-4]-*.md")):
        seeds[path.stem] = dict(STATEMENT.findall(path.read_text(encoding="utf-8")))
    return seeds


def copy_of(seed, titles):
    """The text of a seed's page in docs/spec: each number with the first words of its statement."""
    lines = [f"# {seed}", "",
             "The numbers, and how each statement begins. Made by `./dev spec --update-copy`.", ""]
    for number, title in titles.items():
        words = title.split()
        short = " ".join(words[:COPY_WORDS]) + (" …" if len(words) > COPY_WORDS else "")
        lines.append(f"- {number} {short}")
    return "\n".join(lines) + "\n"


def update_copy(root):
    folder = root / "docs" / "spec"
    folder.mkdir(parents=True, exist_ok=True)
    for seed, titles in statements_in(spec_folder(root)).items():
        (folder / f"{seed}.md").write_text(copy_of(seed, titles), encoding="utf-8")


def tests_in(path, text):
    """(number, test or None, place) for each number named; None when no test follows."""
    waiting = []
    for line_number, line in enumerate(text.splitlines() + [""], 1):
        named, test = NAMED.match(line), TEST.match(line)
        if named:
            place = f"{path}:{line_number}"
            numbers = NUMBER.findall(named.group(1)) or [named.group(1)]
            waiting += [(number, place) for number in numbers]
        elif test:
            found = Test(test.group(1), test.group(2), f"{path}:{line_number}")
            yield from ((number, found, place) for number, place in waiting)
            waiting = []
        elif not line.lstrip().startswith("//"):
            yield from ((number, None, place) for number, place in waiting)
            waiting = []


def named_tests(root):
    """Everything that a "Spec:" comment names in the C++ of src/ and tests/."""
    for path in files.project_files(root):
        in_tests = path.parts[0] == "tests" and path.suffix in (".cc", ".h")
        if in_tests or path.name.endswith("_test.cc"):
            yield from tests_in(path, files.read(root / path) or "")


def faults(root):
    """What is wrong with the statements, their copy, or the comments that name them."""
    seeds = statements_in(spec_folder(root))
    known = {number for titles in seeds.values() for number in titles}
    if len(known) != STATEMENTS:
        yield f"{spec_folder(root)} has {len(known)} statements, not {STATEMENTS}"
    for seed, titles in seeds.items():
        copy = root / "docs" / "spec" / f"{seed}.md"
        if spec_folder(root) != copy.parent and (
                not copy.exists() or files.read(copy) != copy_of(seed, titles)):
            yield f"docs/spec/{seed}.md has fallen behind: ./dev spec --update-copy"
    for number, test, place in named_tests(root):
        if number not in known:
            yield f"{place}: there is no statement '{number}'"
        elif test is None:
            yield f"{place}: names {number}, but no test follows"


def last_runs(root):
    """{(suite, name) without parameters: verdicts}. A filtered run counts when it is the newer."""
    runs = collections.defaultdict(list)
    whole = {}
    by_age = sorted(
        (folder for folder in (root / "build" / "results").glob("*") if folder.is_dir()),
        key=lambda folder: folder.stat().st_mtime)
    for folder in by_age:
        preset = folder.name.removesuffix("-filtered")
        for case in results.read(folder):
            whole[(preset, case.suite, case.name)] = case.verdict
    for (_, suite, name), verdict in whole.items():
        # GoogleTest writes Prefix/Suite and Name/0 for tests with parameters, Suite/0 for types.
        for part in suite.split("/"):
            runs[(part, name.split("/")[0])].append(verdict)
    return runs


def verdict_of(test, runs):
    verdicts = runs.get((test.suite, test.name), [])
    for verdict in (results.FAILED, results.SKIPPED, results.PASSED):
        if verdict in verdicts:
            return verdict
    return NOT_RUN


def gather(root):
    """{seed: [(number, title, [(test, verdict)])]}"""
    by_number = collections.defaultdict(list)
    for number, test, _ in named_tests(root):
        if test is not None:
            by_number[number].append(test)
    runs = last_runs(root)
    return {
        seed: [(number, title, [(test, verdict_of(test, runs)) for test in by_number[number]])
               for number, title in titles.items()]
        for seed, titles in statements_in(spec_folder(root)).items()}


def proved(tests):
    return bool(tests) and all(verdict == results.PASSED for _, verdict in tests)


def report(root, summary):
    """The lines that ./dev spec prints."""
    total = count = 0
    if summary:
        yield f"{'seed':24} {'statements':>10} {'named':>6} {'proved':>6}"
    for seed, rows in gather(root).items():
        named = sum(bool(tests) for _, _, tests in rows)
        done = sum(proved(tests) for _, _, tests in rows)
        total, count = total + len(rows), count + done
        if summary:
            yield f"{seed:24} {len(rows):10} {named:6} {done:6}"
            continue
        for number, title, tests in rows:
            yield f"{number} {'proved' if proved(tests) else '-':6} {title}"
            for test, verdict in tests:
                yield f"    {verdict:8} {test.suite}.{test.name}  {test.where}"
    yield f"proved {count} of {total}"


def self_test():
    """Faults in comments are found; a failing, skipped or missing run does not prove."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "project"
        many = "".join(f"- 000-{n:02} [S] Given {n}\n" for n in range(1, 6))
        files.plant(root, {
            "docs/spec/000-x.md": many,
            "src/a/a_test.cc": "// Spec: 000-01, 000-02\n// why\nTEST(A, One) {\n"
                               "// Spec: 000-02\nTEST_P(A, Two) {\n// Spec: 000-03\nint x;\n"
                               "// Spec: 999-01\nTEST(A, Three) {\n"
                               "// Spec: 000-04\nTEST(A, Four) {\n",
            "build/results/dev/programs.xml":
                '<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail"/>'
                "</testsuite>",
            "build/results/dev/a.xml": results.gtest_xml("A", "One"),
            "build/results/dev/b.xml": results.gtest_xml("All/A", "Two/0", "<failure/>"),
        })
        found = " ".join(faults(root))
        for fault in ("5 statements, not 309", "test.cc:6: names 000-03", "no statement '999-01'"):
            assert fault in found, (fault, found)
        lines = list(report(root, summary=False))
        assert lines[-1] == "proved 1 of 5", lines
        assert "failed   A.Two" in "\n".join(lines) and "not run  A.Four" in "\n".join(lines), lines
    print("spec: 6 planted faults found")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--summary", "--update-copy", "--check", "--self-test"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    if arguments.update_copy:
        update_copy(files.ROOT)
    found = list(faults(files.ROOT))
    if not arguments.check and not arguments.update_copy:
        print("\n".join(report(files.ROOT, arguments.summary)))
    print("\n".join(found), end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
