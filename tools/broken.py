"""Removes one protection of the program at a time, and checks that a test fails.

Usage: tools/broken.py [--build FOLDER] [--jobs N] [--rotate SEED --seconds N] [VARIANT...]
       tools/broken.py --check | --list
       tools/broken.py --programs | --self-test

Each tests/broken/NAME.variant is a small text:

  # Why the protection is there: what goes wrong without it.
  file: src/tables/embedded/group.cc
  replace:
    text that occurs exactly once in the file; line breaks do not matter
  with:
    the new text; it may be empty
  rejected_by: embedded_test --gtest_filter=GroupTest.LaterChanges*

`replace` and `with` may come several times.

The tool compiles a changed copy of the file into a small shared library and runs the test with that
library in LD_PRELOAD. The folders of the dev preset are shared libraries, so the dynamic linker
takes each function from the changed file first. This also holds for programs that the test starts.
First the test must pass with the unchanged file preloaded in the same way; then it must fail with
the changed one. No line of the program itself knows of this.

The programs named must have been built in FOLDER (build/dev unless given). The tool prints
"rejected" or "SURVIVED" for each variant. Without names it tries all of them. With --seconds it
starts no variant after so many seconds; --rotate chooses by its seed which variants come first.
--check compiles nothing: it only looks whether the text that each variant replaces is still there.

Example: tools/broken.py lost_update
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import itertools
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
import zlib

import files

VARIANTS = pathlib.Path("tests/broken")
INDENT = "  "
# A variant runs once, so it is compiled without optimisation. A test must reject it, not a
# sanitizer, so it has none; the rest of the program has them. Warnings are off, because a variant
# may leave code unused.
QUICKLY = ["-w", "-O0", "-g0", "-fno-sanitize=all", "-fPIC"]
# Most sources include these.
COMMON_HEADERS = (
    "algorithm", "array", "atomic", "charconv", "chrono", "condition_variable", "deque",
    "filesystem", "fstream", "functional", "map", "memory", "mutex", "optional", "set", "span",
    "sstream", "string", "string_view", "thread", "utility", "variant", "vector")
TIMEOUT_SECONDS = 300
OUTPUT_SHOWN = 2_000  # Characters of it.
PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below", re.MULTILINE)
FAILURE = re.compile(r": Failure$", re.MULTILINE)
CHECKED = re.compile(r"broken invariant")
INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


class Fault(Exception):
    """What is wrong with a variant, or with how it ended."""


@dataclasses.dataclass
class Variant:
    name: str
    why: str
    file: str
    changes: list  # Pairs of texts: the old text and the new text.
    program: str
    arguments: tuple


# ---- Reading variants ----


def block(lines):
    """Takes the indented lines from the front."""
    taken = []
    while lines and (lines[0].startswith(INDENT) or not lines[0].strip()):
        taken.append(lines.pop(0)[len(INDENT):])
    while taken and not taken[-1].strip():
        taken.pop()
    return "\n".join(taken)


def parse(name, text):
    """The variant that a text describes."""
    lines = text.splitlines()
    comments, fields, changes = [], {}, []
    while lines:
        line = lines.pop(0)
        key, colon, value = line.partition(":")
        if line.startswith("#"):
            comments.append(line[1:].strip())
        elif line == "replace:":
            changes.append([block(lines), None])
        elif line == "with:" and changes and changes[-1][1] is None:
            changes[-1][1] = block(lines)
        elif colon and key in ("file", "rejected_by") and key not in fields:
            fields[key] = value.strip()
        elif line.strip():
            raise Fault(f"does not understand the line '{line}'")
    words = shlex.split(fields.get("rejected_by", ""))
    if not comments or "file" not in fields or not changes or len(words) < 2:
        raise Fault("needs a comment, file, replace, with and rejected_by PROGRAM --gtest_filter=…")
    if any(not old or new is None or old == new for old, new in changes):
        raise Fault("each replace needs lines and a with that differs")
    return Variant(name, " ".join(comments), fields["file"], changes, words[0], tuple(words[1:]))


def load(root, names):
    """The variants of the folder, or those named, sorted; and the errors of the others."""
    found, faults = [], []
    for path in sorted((root / VARIANTS).glob("*.variant")):
        if names and path.stem not in names:
            continue
        try:
            found.append(parse(path.stem, path.read_text(encoding="utf-8")))
        except Fault as fault:
            faults.append(f"{path.relative_to(root)}: {fault}")
    missing = set(names) - {variant.name for variant in found} if not faults else set()
    faults += [f"{VARIANTS}/{name}.variant: there is no such file" for name in sorted(missing)]
    return found, faults


def broken_text(variant, text):
    """The file's text with the protection removed."""
    for old, new in variant.changes:
        places = list(re.finditer(r"\s+".join(map(re.escape, old.split())), text))
        if len(places) != 1:
            raise Fault(f"the text to replace occurs {len(places)} times in {variant.file}: the "
                        f"protection moved; mend the variant. It is:\n{old}")
        text = text[:places[0].start()] + new.strip() + text[places[0].end():]
    return text


# ---- Building ----


def run(command, cwd):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Fault(f"does not build: the variant must be valid code\n{done.stdout}{done.stderr}")


@functools.cache
def compile_commands(build):
    """{source: its command}; a source that is compiled in a batch has the command of the batch."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        if words[0].endswith("ccache"):
            words = words[1:]
        sources = [entry["file"]]
        if "/Unity/" in entry["file"]:
            sources = INCLUDED.findall(pathlib.Path(entry["file"]).read_text(encoding="utf-8"))
        for source in sources:
            found.setdefault(source, (words, entry["file"]))
    return found


def compile_words(build, source):
    """The compiler and the options with which the build compiles a source."""
    if str(source) not in compile_commands(build):
        raise Fault(f"{source} is not compiled in {build}")
    words, compiled = compile_commands(build)[str(source)]
    words = [word for word in words if word not in ("-c", compiled)]
    if "-Winvalid-pch" in words:  # The precompiled headers come last; common_header replaces them.
        header = words.index("-Winvalid-pch")
        words = words[:header] + words[words.index("-o"):]
    output = words.index("-o")
    return words[:output] + words[output + 2:] + QUICKLY


# One thread makes a header, the others wait for it.
making_header = threading.Lock()


@functools.cache
def common_header(build, folder, is_batch, words):
    """The options that use the headers of a folder precompiled, together with what they include.
    Most of the time to compile a source goes into headers. None where the compiler is not clang."""
    if "clang" not in words[0]:
        return []
    header = build / "broken" / "headers" / (str(folder).replace("/", "_") + ".h")
    header.parent.mkdir(parents=True, exist_ok=True)
    included = [f"<{name}>" for name in COMMON_HEADERS]
    if is_batch:  # Else the headers of the folder may not fit together.
        included += [f'"{path}"' for path in sorted(folder.glob("*.h"))]
    header.write_text("".join(f"#include {name}\n" for name in included), encoding="utf-8")
    output = header.with_suffix(".pch")
    run([*words, "-x", "c++-header", str(header), "-o", str(output)], build)
    return ["-include-pch", str(output)]


def preloaded(root, build, name, file, text):
    """Compiles this text of the file into a shared library for LD_PRELOAD; returns its path."""
    folder = build / "broken" / name
    folder.mkdir(parents=True, exist_ok=True)
    source = root / file
    words = compile_words(build, source)
    with making_header:
        is_batch = compile_commands(build)[str(source)][1] != str(source)
        header = common_header(build, source.parent, is_batch, tuple(words))
    changed = folder / source.name
    changed.write_text(text, encoding="utf-8")
    library = folder / "preloaded.so"
    run([*words, *header, "-shared", "-fuse-ld=lld", str(changed), "-o", str(library)], build)
    return library


# ---- Running ----


def run_tests(program, arguments, library):
    """How it ended, and its output."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GTEST_")}
    if library is not None:
        environment["LD_PRELOAD"] = str(library)
    try:
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True,
                              check=False, errors="replace", timeout=TIMEOUT_SECONDS,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise Fault(f"{program.name} did not end within {TIMEOUT_SECONDS} s") from None
    return done.returncode, done.stdout + done.stderr


def expect_pass(program, arguments, library):
    """The test with the unchanged file: it must exist and pass."""
    code, output = run_tests(program, arguments, library)
    passed = PASSED.search(output)
    command = f"{program.name} {' '.join(arguments)}"
    if code != 0 or passed is None:
        raise Fault(f"{command} fails without the variant\n{output[-OUTPUT_SHOWN:]}")
    if passed.group(1) == "0":
        raise Fault(f"{command} matches no test; mend the filter")


def is_rejected(program, arguments, library):
    """True when a test failed, or a CHECK of ours stopped it; False when all passed."""
    code, output = run_tests(program, (*arguments, "--gtest_fail_fast"), library)
    if code == 0:
        return False
    if FAILED.search(output) or (code < 0 and CHECKED.search(output)):
        return True
    if FAILURE.search(output):  # It failed, and then went on with the wrong value until it died.
        return True
    raise Fault(f"ends with {code}, but no test failed\n{output[-OUTPUT_SHOWN:]}")


@functools.cache
def unchanged(root, build, file):
    """The library of the unchanged file: one for all its variants."""
    name = "unchanged/" + file.replace("/", "_")
    return preloaded(root, build, name, file, (root / file).read_text(encoding="utf-8"))


@functools.cache
def expect_pass_once(root, build, program, arguments, file):
    expect_pass(build / program, arguments, unchanged(root, build, file))


def try_variant(root, build, variant):
    """The line to print, and whether the variant was rejected as it must be."""
    try:
        program = build / variant.program
        if not program.exists():
            raise Fault(f"{program} is not there: build it first")
        text = broken_text(variant, (root / variant.file).read_text(encoding="utf-8"))
        expect_pass_once(root, build, variant.program, variant.arguments, variant.file)
        library = preloaded(root, build, variant.name, variant.file, text)
        if is_rejected(program, variant.arguments, library):
            return f"rejected  {variant.name}", True
        return f"SURVIVED  {variant.name}: {variant.why}", False
    except Fault as fault:
        return f"FAULTY    {variant.name}: {fault}", False


def rotated(variants, seed):
    """The same variants in an order that the seed chooses. Variants of one file stay together, so
    that their common parts are built only once, also when the time is not enough for all."""
    def place(variant):
        return zlib.crc32(f"{seed} {variant.file}".encode()), variant.file, variant.name
    return sorted(variants, key=place)


def try_all(root, build, given):
    """Prints a line for each variant; the number that is not as it must be."""
    variants, faults = load(root, given.variants)
    variants = rotated(variants, given.rotate or "")
    for fault in faults:
        print(f"FAULTY    {fault}")
    end = None if given.seconds is None else time.monotonic() + given.seconds
    tried, wrong = 0, len(faults)

    def try_in_time(of_one_file):
        """One thread tries all variants of a file, because they share libraries and test runs."""
        return [try_variant(root, build, variant) for variant in of_one_file
                if end is None or time.monotonic() < end]

    files_variants = [list(group) for _, group in
                      itertools.groupby(variants, key=lambda variant: variant.file)]
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        for outcomes in pool.map(try_in_time, files_variants):
            for line, good in outcomes:
                print(line, flush=True)
                tried += 1
                wrong += not good
    print(f"{tried} of {len(variants)} variants tried, {wrong} not rejected")
    return wrong


def check_texts(root, given):
    """Prints each variant whose protection moved; their number."""
    variants, faults = load(root, given.variants)
    for variant in variants:
        try:
            broken_text(variant, (root / variant.file).read_text(encoding="utf-8"))
        except (Fault, OSError) as fault:
            faults.append(f"{VARIANTS}/{variant.name}.variant: {fault}")
    print("\n".join(faults + [f"broken: {len(variants)} variants, {len(faults)} findings"]))
    return len(faults)


# ---- Itself ----

GOOD = """# Why.
file: src/a.cc
replace:
    if (guarded) return;

    go();
with:
    go();
rejected_by: a_test --gtest_filter=A.B
"""


def fault_of(action):
    try:
        action()
    except Fault as fault:
        return str(fault)
    return ""


def fake_program(folder, name, script):
    path = pathlib.Path(folder) / name
    path.write_text("#!/bin/sh\n" + script, encoding="utf-8")
    path.chmod(0o755)
    return path


def self_test():
    """Checks that the tool distinguishes variants that do not apply, tests that fail, and tests
    that end in another way."""
    variant = parse("good", GOOD)
    before = "  a();\n  if (guarded)\n    return;\n  go();\n"
    assert broken_text(variant, before) == "  a();\n  go();\n", broken_text(variant, before)
    assert "occurs 0 times" in fault_of(lambda: broken_text(variant, "other"))
    assert "occurs 2 times" in fault_of(lambda: broken_text(variant, before * 2))
    for missing in ("# Why.", "file: src/a.cc", "rejected_by: a_test --gtest_filter=A.B", "with:"):
        assert fault_of(lambda text=missing: parse("bad", GOOD.replace(text, ""))), missing
    many = [dataclasses.replace(variant, name=str(number)) for number in range(99)]
    many = [dataclasses.replace(one, file=f"src/{one.name}.cc") for one in many]
    assert rotated(many, "a") == rotated(many, "a") != rotated(many, "b")
    assert sorted(one.name for one in rotated(many, "a")) == sorted(one.name for one in many)
    with tempfile.TemporaryDirectory() as folder:
        passes = fake_program(folder, "passes", "echo '[  PASSED  ] 1 test.'\n")
        fails = fake_program(folder, "fails", "echo '[  FAILED  ] 1 test, listed below:'\nexit 1\n")
        empty = fake_program(folder, "empty", "echo '[  PASSED  ] 0 tests.'\n")
        absent = fake_program(folder, "absent", "echo no such library\nexit 127\n")
        checks = fake_program(folder, "checks", "echo broken invariant >&2\nkill -ABRT $$\n")
        assert not fault_of(lambda: expect_pass(passes, (), None))
        for program in (fails, empty, absent):
            assert fault_of(lambda one=program: expect_pass(one, (), None)), program
        assert is_rejected(fails, (), None) and is_rejected(checks, (), None)
        assert not is_rejected(passes, (), None)
        assert "no test failed" in fault_of(lambda: is_rejected(absent, (), None))
    print("broken: 11 planted faults found")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/dev", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--rotate", metavar="SEED", help="the order in which variants are tried")
    parser.add_argument("--seconds", type=int, metavar="N",
                        help="start no variant after so many seconds")
    parser.add_argument("--check", action="store_true", help="look only at the texts to replace")
    parser.add_argument("--list", action="store_true", help="print the variants and end")
    parser.add_argument("--programs", action="store_true", help="print the test programs and end")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("variants", nargs="*", metavar="VARIANT")
    given = parser.parse_args()
    if given.self_test:
        self_test()
        return 0
    if given.check:
        return 1 if check_texts(files.ROOT, given) else 0
    variants, _ = load(files.ROOT, given.variants)
    if given.list:
        print("\n".join(f"{variant.name}: {variant.why}" for variant in variants))
        return 0
    if given.programs:
        print("\n".join(sorted({variant.program for variant in variants})))
        return 0
    build = pathlib.Path(given.build).resolve()
    return 1 if try_all(files.ROOT, build, given) else 0


if __name__ == "__main__":
    sys.exit(main())
