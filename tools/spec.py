"""Shows which numbered statements of the specification are proved, and by which tests.

Usage: tools/spec.py [--summary | --update-copy | --check | --self-test]

A test names the statements that it proves in the comment above it:

  // An expired row counts as absent.
  // Spec: 004-13, 004-14
  TEST(ClaimTest, TakesOverAnExpiredRow) {

A statement is proved when at least one test names it, and every test that names it passed when it
last ran, without a flag: a test that was skipped does not count, and neither does a run with
./dev test --long.

docs/spec holds a copy of every statement, each followed by what changed it: the decisions of
../shared/spec/decisions.md, and the records in docs/decisions. A record lists the statements that
it changed, one list entry for each:

  - 001-06 503 is a second answer after which Slack sends the event again.

--update-copy writes this copy. Without ../shared/spec, docs/spec is what we read.

--check fails when
  a test names a statement that does not exist;
  no test follows a "Spec:" comment;
  a test that names a statement checks less, or nothing, unless a flag is set;
  the number of statements is not 309;
  docs/spec differs from what --update-copy would write;
  DECIDED and the list of decisions do not agree;
  a record in docs/decisions changes a statement that does not exist.
"""

import argparse
import collections
import dataclasses
import pathlib
import re
import sys
import tempfile
import textwrap

import files
import results

STATEMENTS = 309
COPY_COLUMNS = 120
# A statement is one list entry. In the copy it goes on over indented lines, and decisions follow.
ENTRY = re.compile(r"^- (\d{3}-\d{2}) (.*(?:\n  (?!- ).*)*)", re.M)
MARKS = re.compile(r"^(?:\[\w\])+ ")
SECTION = re.compile(r"^(?:## )?([A-Z][^#|.\n]*)\n+(?=- \d{3}-\d{2} )", re.M)
DECISION = re.compile(r"^\| (\d+) \| \w+ \| (.*?) \| (.*?) \|$", re.M)
# A pointer to a page that is not copied.
NOT_COPIED = re.compile(r" \(`semantics\.md`, \w+\)")
NAMED = re.compile(r"^\s*//\s*Spec:\s*(.*)$")
NUMBER = re.compile(r"\d{3}-\d{2}")
TEST = re.compile(r"^\s*(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")
# What a test that proves a statement must not depend on: it would prove it with a flag only.
FLAG = re.compile(r"GTEST_SKIP|TIDEMARK_LONG|\bHasTime\(")
NOT_RUN = "not run"
# The results of ./dev test --long end with this (tools/dev_test.sh).
LONG = "-long"

# Which statements each decision changed or made precise. Decision 29 replaced decision 24.
DECIDED = {
    1: ["001-63", "001-75"],
    2: ["001-12", "001-46"],
    3: ["001-34", "001-35"],
    4: ["001-08", "001-09"],
    5: ["001-48", "001-49"],
    6: ["001-20", "001-70"],
    7: ["002-26", "002-27"],
    8: ["002-28", "002-30"],
    9: ["002-39", "002-40"],
    10: ["002-01", "002-15"],
    11: ["003-01", "003-16"],
    12: ["003-05", "003-16"],
    13: ["003-23", "003-25", "003-26"],
    14: ["003-12"],
    15: ["003-18"],
    16: ["000-07", "000-39"],
    17: ["000-30", "000-31"],
    18: ["004-08", "004-09"],
    19: ["004-04", "004-17"],
    20: ["000-17", "003-10", "004-13"],
    21: ["000-27", "000-33"],
    22: ["000-08", "000-26"],
    23: ["004-04", "004-14"],
    24: [],
    25: ["003-07", "003-21"],
    26: ["000-27", "000-29", "000-31", "000-32", "000-33", "000-34", "000-39"],
    27: ["000-06", "000-26"],
    28: ["004-01"],
    29: ["001-07"],
    30: ["002-63", "002-66", "002-69", "002-72"],
    31: ["003-30", "003-32"],
    32: ["001-04"],
    33: ["002-71"],
}

COPY_HEAD = """# {seed}

This page has the numbered statements of one part of the specification, in full. A test names the
statements that it proves. The letters in brackets say where a statement comes from:

- [S]: the seed asks for it. The seed is the description of a program that Tidemark replaces.
- [O]: the original program of the seed, called the origin, did it.
- [F]: the origin had this flaw, and Tidemark must not have it.

The lines below a statement say what changed it or made it precise. A decision with a number
answers a question that the specification left open; if it changed several statements, its text is
below the first of them. A link leads to a decision record.

`./dev spec --update-copy` writes this page.
"""


@dataclasses.dataclass(frozen=True)
class Test:
    """A test as written: a run of it may carry a prefix and parameters."""
    suite: str
    name: str
    where: str


@dataclasses.dataclass(frozen=True)
class Statement:
    """A numbered statement, with its marks such as "[S] " in front of the text."""
    number: str
    text: str

    def title(self):
        return MARKS.sub("", self.text)


@dataclasses.dataclass(frozen=True)
class Decision:
    """A row of decisions.md: a question that the specification left open, and the answer."""
    number: int
    question: str
    answer: str


@dataclasses.dataclass(frozen=True)
class Change:
    """What a record in docs/decisions says about a statement that it changed."""
    record: str  # The name of its file, such as "0016-answers-to-slack.md".
    number: str
    text: str


def spec_folder(root):
    original = root.parent / "shared" / "spec"
    return original if original.is_dir() else root / "docs" / "spec"


def statements_of(text):
    """The statements of one page, in order. A statement may go on over several lines."""
    return [Statement(number, " ".join(body.split())) for number, body in ENTRY.findall(text)]


def pages_in(folder):
    """{seed file's stem: text}, in order."""
    return {path.stem: path.read_text(encoding="utf-8")
            for path in sorted(folder.glob("00[0-4]-*.md"))}


def statements_in(folder):
    """{seed file's stem: [Statement]}, in order."""
    return {seed: statements_of(text) for seed, text in pages_in(folder).items()}


def decisions_in(folder):
    """The rows of decisions.md."""
    text = files.read(folder / "decisions.md") or ""
    return [Decision(int(number), question, NOT_COPIED.sub("", answer))
            for number, question, answer in DECISION.findall(text)]


def changes_in(root):
    """What the records in docs/decisions changed, in the order of the records."""
    return [Change(path.name, one.number, one.text)
            for path in sorted((root / "docs" / "decisions").glob("*.md"))
            for one in statements_of(path.read_text(encoding="utf-8"))]


def wrapped(mark, text):
    """A list entry of at most COPY_COLUMNS columns."""
    lines = textwrap.wrap(text, COPY_COLUMNS, initial_indent=mark,
                          subsequent_indent=" " * len(mark), break_long_words=False,
                          break_on_hyphens=False)
    return "\n".join(lines) + "\n"


def lines_below(number, decisions, decided, told_at):
    """What decisions.md says about a statement. told_at: decision -> where its text is."""
    for decision in decisions:
        if number not in decided.get(decision.number, []):
            continue
        first = told_at.setdefault(decision.number, number)
        yield f"Decision {decision.number}" + (
            f". Question: {decision.question}. Answer: {decision.answer}." if first == number
            else f" also applies: see {first}.")


def copy_of(seed, text, decisions, decided, changes):
    """The page of docs/spec for a seed: its sections, its statements, and what changed them."""
    headings = {match.end(): match.group(1).strip() for match in SECTION.finditer(text)}
    written = COPY_HEAD.format(seed=seed)
    told_at = {}  # decision: the statement that it follows in full
    for entry in ENTRY.finditer(text):
        if entry.start() in headings:
            written += f"\n## {headings[entry.start()]}\n\n"
        number = entry.group(1)
        written += wrapped("- ", f"{number} {' '.join(entry.group(2).split())}")
        for line in lines_below(number, decisions, decided, told_at):
            written += wrapped("  - ", line)
        for change in changes:
            if change.number == number:
                written += wrapped("  - ", f"[Decision record {change.record[:4]}]"
                                           f"(../decisions/{change.record}): {change.text}")
    return written


def copies(root, decided):
    """{seed: the page that docs/spec should have}, or nothing where only the copy is at hand."""
    folder = spec_folder(root)
    if folder == root / "docs" / "spec":
        return {}
    decisions, changes = decisions_in(folder), changes_in(root)
    return {seed: copy_of(seed, text, decisions, decided, changes)
            for seed, text in pages_in(folder).items()}


def update_copy(root, decided=DECIDED):
    folder = root / "docs" / "spec"
    folder.mkdir(parents=True, exist_ok=True)
    for seed, text in copies(root, decided).items():
        (folder / f"{seed}.md").write_text(text, encoding="utf-8")


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


def test_files(root):
    """(path, text) of the C++ of src/ and tests/ that may have tests."""
    for path in files.project_files(root):
        in_tests = path.parts[0] == "tests" and path.suffix in (".cc", ".h")
        if in_tests or path.name.endswith("_test.cc"):
            yield path, files.read(root / path) or ""


def named_tests(root):
    """Everything that a "Spec:" comment names."""
    for path, text in test_files(root):
        yield from tests_in(path, text)


def tests_with_flags(root):
    """Places where a test that names a statement looks at a flag."""
    for path, text in test_files(root):
        begins = {int(test.where.rpartition(":")[2])
                  for _, test, _ in tests_in(path, text) if test is not None}
        inside = False
        for number, line in enumerate(text.splitlines(), 1):
            inside = number in begins or (inside and line != "}")
            if inside and FLAG.search(line):
                yield f"{path}:{number}"


def copy_faults(root, known, decided):
    """Where docs/spec or DECIDED do not agree with ../shared/spec, if that is at hand."""
    for seed, text in copies(root, decided).items():
        if files.read(root / "docs" / "spec" / f"{seed}.md") != text:
            yield f"docs/spec/{seed}.md is out of date: run ./dev spec --update-copy"
    if spec_folder(root) == root / "docs" / "spec":
        return
    written = {decision.number for decision in decisions_in(spec_folder(root))}
    for number in sorted(written ^ set(decided)):
        where = "DECIDED" if number in written else "decisions.md"
        yield f"tools/spec.py: {where} lacks decision {number}"
    for number, changed in decided.items():
        for missing in sorted(set(changed) - known):
            yield f"tools/spec.py: decision {number} names {missing}, which is no statement"


def faults(root, decided=DECIDED):
    """What is wrong with the statements, their copy, or the comments that name them."""
    known = {one.number for page in statements_in(spec_folder(root)).values() for one in page}
    if len(known) != STATEMENTS:
        yield f"{spec_folder(root)} has {len(known)} statements, not {STATEMENTS}"
    yield from copy_faults(root, known, decided)
    for change in changes_in(root):
        if change.number not in known:
            yield f"docs/decisions/{change.record}: there is no statement '{change.number}'"
    for number, test, place in named_tests(root):
        if number not in known:
            yield f"{place}: there is no statement '{number}'"
        elif test is None:
            yield f"{place}: names {number}, but no test follows"
    for place in tests_with_flags(root):
        yield f"{place}: this test names a statement, so it must not depend on a flag"


def last_runs(root):
    """{(suite, name) without parameters: verdicts}. A filtered run counts when it is the newer."""
    runs = collections.defaultdict(list)
    whole = {}
    by_age = sorted(
        (folder for folder in (root / "build" / "results").glob("*")
         if folder.is_dir() and not folder.name.endswith(LONG)),
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
        seed: [(one.number, one.title(),
                [(test, verdict_of(test, runs)) for test in by_number[one.number]])
               for one in page]
        for seed, page in statements_in(spec_folder(root)).items()}


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


def self_test_marks():
    """Faults in comments are found. A failing, skipped or missing run does not prove."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "project"
        many = "".join(f"- 000-{n:02} [S] Given {n}\n" for n in range(1, 6))
        files.plant(root, {
            "docs/spec/000-x.md": many,
            "src/a/a_test.cc": "// Spec: 000-01, 000-02\n// why\nTEST(A, One) {\n"
                               "// Spec: 000-02\nTEST_P(A, Two) {\n// Spec: 000-03\nint x;\n"
                               "// Spec: 999-01\nTEST(A, Three) {\n"
                               "// Spec: 000-04\nTEST(A, Four) {\n  GTEST_SKIP();\n}\n"
                               "// Spec: 000-05\nTEST(A, Five) {\n}\n",
            "build/results/dev/programs.xml":
                '<testsuite><testcase name="a" status="run"/><testcase name="b" status="fail"/>'
                "</testsuite>",
            "build/results/dev/a.xml": results.gtest_xml("A", "One"),
            "build/results/dev/b.xml": results.gtest_xml("All/A", "Two/0", "<failure/>"),
            "build/results/dev-long/programs.xml":
                '<testsuite><testcase name="c" status="run"/></testsuite>',
            "build/results/dev-long/c.xml": results.gtest_xml("A", "Five"),
        })
        found = " ".join(faults(root))
        for fault in ("5 statements, not 309", "test.cc:6: names 000-03", "no statement '999-01'",
                      "test.cc:12: this test names a statement"):
            assert fault in found, (fault, found)
        lines = list(report(root, summary=False))
        assert lines[-1] == "proved 1 of 5", lines
        for line in ("failed   A.Two", "not run  A.Four", "not run  A.Five"):
            assert line in "\n".join(lines), lines


def self_test_copy():
    """The copy has every word of a statement and its decision, and its faults are found."""
    long_text = "Given " + "many words " * 30 + "then `x`"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "project"
        shared = pathlib.Path(folder) / "shared"
        files.plant(shared, {
            "spec/000-x.md": f"# Seed\n\nFlaws\n- one\n\n### Statements\nKeys\n"
                             f"- 000-01 [S][F] {long_text}\n- 000-02 [O] Short.\n",
            "spec/decisions.md": "| # | Seed | Conflict | Decision |\n| --- | --- | --- | --- |\n"
                                 f"| 1 | 000 | a or b | {long_text} (`semantics.md`, Gate) |\n",
        })
        files.plant(root, {"docs/decisions/0007-y.md": "# 0007\n\n- 000-02 It is\n  longer.\n"})
        update_copy(root, {1: ["000-01", "000-02"]})
        assert "- Decision 1 also applies: see 000-01.\n" in files.read(root / "docs/spec/000-x.md")
        update_copy(root, {1: ["000-02"]})
        text = files.read(root / "docs/spec/000-x.md")
        assert max(map(len, text.splitlines())) <= COPY_COLUMNS, text
        assert "\n## Keys\n" in text and "Flaws" not in text and "semantics" not in text, text
        assert " ".join(text.split()).endswith(
            f"- 000-02 [O] Short. - Decision 1. Question: a or b. Answer: {long_text}. "
            "- [Decision record 0007](../decisions/0007-y.md): It is longer."), text
        assert statements_of(text) == statements_in(shared / "spec")["000-x"], text

        agreed = list(faults(root, {1: ["000-02"]}))
        assert len(agreed) == 1 and agreed[0].endswith("2 statements, not 309"), agreed
        for decided, fault in (({1: ["000-01"]}, "docs/spec/000-x.md is out of date"),
                               ({}, "DECIDED lacks decision 1"),
                               ({1: ["000-02"], 2: []}, "decisions.md lacks decision 2"),
                               ({1: ["000-02", "000-09"]}, "names 000-09, which is no statement")):
            assert fault in " ".join(faults(root, decided)), fault
        files.plant(root, {"docs/decisions/0007-y.md": "- 000-08 No such statement.\n"})
        assert "0007-y.md: there is no statement '000-08'" in " ".join(faults(root)), root


def self_test():
    self_test_marks()
    self_test_copy()
    print("spec: 13 planted faults found, and a copy has every word")


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
