"""Breaks the engine on purpose, one protection at a time, and demands that a test notices.

Usage: tools/broken.py [--build FOLDER] [--jobs N] [--by PROGRAM...] [--half SEED] [VARIANT...]
       tools/broken.py --list
       tools/broken.py --programs | --self-test

Each tests/broken/NAME.variant is a small text:

  # Why the protection is there: what goes wrong without it.
  file: src/tables/embedded/group.cc
  replace:
    words that stand in the file exactly once, however they are broken into lines
  with:
    what stands there instead; may be empty
  rejected_by: embedded_test --gtest_filter=GroupTest.LaterChanges*

`replace` and `with` may come several times. For each variant one object is compiled from a changed
copy of the file, with the file's own command, and linked before the archive that holds the unbroken
one. The test must pass without the variant and fail with it. No line of the program itself knows of
this. The programs named must have been built in FOLDER (build/release unless given). Prints
"rejected" or "SURVIVED" for each; without names, all variants are tried, or with --by those that
one of the programs is to reject, or with --half a half of them that the seed chooses.

Example: tools/broken.py lost_update
"""

import argparse
import concurrent.futures
import dataclasses
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import zlib

import files

VARIANTS = pathlib.Path("tests/broken")
INDENT = "  "
LAUNCHER = ["ccache"] if shutil.which("ccache") else []
# What a variant no longer uses is no fault of it; and it runs once, so it is made quickly: a test
# is to reject it, not a sanitizer, which the rest of the program has anyway.
QUICKLY = ["-w", "-O0", "-g0", "-fno-sanitize=all"]
TIMEOUT_SECONDS = 120
OUTPUT_SHOWN = 2_000  # Characters of it.
PASSED = re.compile(r"^\[  PASSED  \] (\d+) tests?\.", re.MULTILINE)
FAILED = re.compile(r"^\[  FAILED  \] (\d+) tests?, listed below", re.MULTILINE)
CHECKED = re.compile(r"broken invariant")


class Fault(Exception):
    """What is wrong with a variant, or with how it ended."""


@dataclasses.dataclass
class Variant:
    name: str
    why: str
    file: str
    changes: list  # Pairs of texts: what stands there, and what stands there instead.
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
    """The variants of the folder, or those named, sorted; and what is wrong with the others."""
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
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return {entry["file"]: entry for entry in entries}


def without_precompiled(words):
    """The command without the precompiled header that CMake put there, for either compiler."""
    kept = []
    rest = iter(words)
    for word in rest:
        if word == "-include":
            next(rest)
        elif word == "-Xclang":
            argument = next(rest)
            if argument in ("-include", "-include-pch"):
                next(rest), next(rest)
            else:
                kept += [word, argument]
        elif word != "-Winvalid-pch":
            kept.append(word)
    return kept


# One thread makes the header, the others wait for it.
making_header = threading.Lock()


@functools.cache
def quick_header(build):
    """The options that use common headers precompiled for variants; none where there are none."""
    header = build / "CMakeFiles/tidemark_precompiled.dir/cmake_pch.hxx"
    entry = compile_commands(build).get(str(header.with_suffix(".hxx.cxx")))
    if entry is None or "clang" not in entry["command"]:
        return []
    words = without_precompiled(shlex.split(entry["command"]))
    output = build / "broken" / "common.pch"
    output.parent.mkdir(exist_ok=True)
    words[words.index("-o") + 1] = str(output)
    words[words.index(entry["file"])] = str(header)
    run(words + QUICKLY, build)
    return ["-include-pch", str(output)]


def compile_command(build, source, changed, output):
    """(command, name of the unbroken object): as the file's own, but for the changed copy."""
    entry = compile_commands(build).get(str(source))
    if entry is None:
        raise Fault(f"{source} is not compiled in {build}")
    words = without_precompiled(shlex.split(entry["command"]))
    object_name = words[words.index("-o") + 1]
    words[words.index("-o") + 1] = str(output)
    words[words.index(entry["file"])] = str(changed)
    with making_header:
        header = quick_header(build)
    return LAUNCHER + words + QUICKLY + header, object_name


def archive_of(link, object_name):
    """Where in the link command the archive stands that holds the unbroken object."""
    folder = object_name.split("/CMakeFiles/")[0]
    target = object_name.split("/CMakeFiles/")[1].split(".dir/")[0]
    archive = f"{folder}/lib{target}.a"
    if archive not in link:
        raise Fault(f"{archive} is not linked into the program")
    return link.index(archive)


@functools.cache
def own_link_command(build, program):
    """The words of the program's own link command."""
    listed = subprocess.run(["ninja", "-C", str(build), "-t", "commands", "-s", program],
                            capture_output=True, text=True, check=False)
    lines = [line for line in listed.stdout.splitlines() if f"-o {program} " in line]
    if listed.returncode != 0 or not lines:
        raise Fault(f"{build} has no program '{program}'")
    # CMake writes ": && c++ … && :".
    return [word for word in shlex.split(lines[-1]) if word not in (":", "&&")]


def link_command(build, program, object_name, changed_object, output):
    """The program's own link command, with the changed object before its archive."""
    link = list(own_link_command(build, program))
    link[link.index("-o") + 1] = str(output)
    link.insert(archive_of(link, object_name), str(changed_object))
    return link


def make_broken(root, build, variant):
    """Builds the test program with the variant in it, and returns its path."""
    folder = build / "broken" / variant.name
    folder.mkdir(parents=True, exist_ok=True)
    source = root / variant.file
    changed = folder / source.name
    changed.write_text(broken_text(variant, source.read_text(encoding="utf-8")), encoding="utf-8")
    output = folder / (source.name + ".o")
    command, object_name = compile_command(build, source, changed, output)
    run(command, build)
    program = folder / variant.program
    run(link_command(build, variant.program, object_name, output, program), build)
    return program


# ---- Running ----


def run_tests(program, arguments):
    """How it ended, and its output."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("GTEST_")}
    try:
        done = subprocess.run([str(program), *arguments], capture_output=True, text=True,
                              check=False, errors="replace", timeout=TIMEOUT_SECONDS,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise Fault(f"{program.name} did not end within {TIMEOUT_SECONDS} s") from None
    return done.returncode, done.stdout + done.stderr


@functools.cache
def expect_pass(program, arguments):
    """The test without the variant: it must exist and pass. Asked once for all its variants."""
    code, output = run_tests(program, arguments)
    passed = PASSED.search(output)
    command = f"{program.name} {' '.join(arguments)}"
    if code != 0 or passed is None:
        raise Fault(f"{command} fails without the variant\n{output[-OUTPUT_SHOWN:]}")
    if passed.group(1) == "0":
        raise Fault(f"{command} matches no test; mend the filter")


def is_rejected(program, arguments):
    """True when a test failed, or a CHECK of ours stopped it; False when all passed."""
    code, output = run_tests(program, arguments + ("--gtest_fail_fast",))
    if code == 0:
        return False
    if FAILED.search(output) or (code < 0 and CHECKED.search(output)):
        return True
    raise Fault(f"ends with {code}, but no test failed\n{output[-OUTPUT_SHOWN:]}")


def try_variant(root, build, variant):
    """The line to print, and whether it is as it must be."""
    try:
        unbroken = build / variant.program
        if not unbroken.exists():
            raise Fault(f"{unbroken} is not there: build it first")
        expect_pass(unbroken, variant.arguments)
        program = make_broken(root, build, variant)
        rejected = is_rejected(program, variant.arguments)
        program.unlink()  # It is large, and made again in a moment.
        if rejected:
            return f"rejected  {variant.name}", True
        return f"SURVIVED  {variant.name}: {variant.why}", False
    except Fault as fault:
        return f"FAULTY    {variant.name}: {fault}", False


def half_of(variants, seed):
    """A half of them; with another seed another one."""
    by_chance = sorted(variants, key=lambda one: zlib.crc32(f"{seed} {one.name}".encode()))
    chosen = {variant.name for variant in by_chance[:(len(variants) + 1) // 2]}
    return [variant for variant in variants if variant.name in chosen]


def try_all(root, build, given):
    """Prints a line for each variant; the number that is not as it must be."""
    variants, faults = load(root, given.variants)
    if given.by is not None:
        variants = [variant for variant in variants if variant.program in given.by]
    if given.half is not None:
        variants = half_of(variants, given.half)
    for fault in faults:
        print(f"FAULTY    {fault}")
    with concurrent.futures.ThreadPoolExecutor(given.jobs) as pool:
        tried = [pool.submit(try_variant, root, build, variant) for variant in variants]
        wrong = len(faults)
        for line, good in (one.result() for one in tried):
            print(line, flush=True)
            wrong += not good
    print(f"{len(variants)} variants, {wrong} not rejected")
    return wrong


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
    """Variants that do not fit, and tests that end otherwise than by failing, are told apart."""
    variant = parse("good", GOOD)
    before = "  a();\n  if (guarded)\n    return;\n  go();\n"
    assert broken_text(variant, before) == "  a();\n  go();\n", broken_text(variant, before)
    assert "occurs 0 times" in fault_of(lambda: broken_text(variant, "other"))
    assert "occurs 2 times" in fault_of(lambda: broken_text(variant, before * 2))
    for missing in ("# Why.", "file: src/a.cc", "rejected_by: a_test --gtest_filter=A.B", "with:"):
        assert fault_of(lambda text=missing: parse("bad", GOOD.replace(text, ""))), missing
    many = [dataclasses.replace(variant, name=str(number)) for number in range(99)]
    assert len(half_of(many, "a")) == 50 and half_of(many, "a") == half_of(many, "a")
    assert half_of(many, "a") != half_of(many, "b")
    with tempfile.TemporaryDirectory() as folder:
        passes = fake_program(folder, "passes", "echo '[  PASSED  ] 1 test.'\n")
        fails = fake_program(folder, "fails", "echo '[  FAILED  ] 1 test, listed below:'\nexit 1\n")
        empty = fake_program(folder, "empty", "echo '[  PASSED  ] 0 tests.'\n")
        absent = fake_program(folder, "absent", "echo no such library\nexit 127\n")
        checks = fake_program(folder, "checks", "echo broken invariant >&2\nkill -ABRT $$\n")
        assert not fault_of(lambda: expect_pass(passes, ()))
        for program in (fails, empty, absent):
            assert fault_of(lambda one=program: expect_pass(one, ())), program
        assert is_rejected(fails, ()) and is_rejected(checks, ()) and not is_rejected(passes, ())
        assert "no test failed" in fault_of(lambda: is_rejected(absent, ()))
    print("broken: 11 planted faults found")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/release", metavar="FOLDER")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N")
    parser.add_argument("--by", action="append", metavar="PROGRAM",
                        help="only variants that this test program is to reject; may be repeated")
    parser.add_argument("--half", metavar="SEED", help="only a half of them, chosen by the seed")
    parser.add_argument("--list", action="store_true", help="print the variants and end")
    parser.add_argument("--programs", action="store_true", help="print the test programs and end")
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("variants", nargs="*", metavar="VARIANT")
    given = parser.parse_args()
    if given.self_test:
        self_test()
        return 0
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
