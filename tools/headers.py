"""Compiles headers on their own, and twice: each includes what it uses. And all of a folder of src/
together: two types of one name would be one to the linker, which nobody else notices.

Usage: tools/headers.py [--jobs N] [--self-test]

A header that begins with #pragma once, and that a source of its own name includes before anything
else, is left out: the build compiles it on its own already. Only looks at the code (clang++
-fsyntax-only); the sources go to build/headers.
"""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys
import tempfile

import files

COMPILER = ["clang++", "-fsyntax-only", "-std=c++20", "-Wall", "-Wextra", "-Werror",
            "-Wno-missing-field-initializers", "-Isrc", "-I."]


def name_of(header):
    """The header as an include names it."""
    return str(header.relative_to("src")) if header.parts[0] == "src" else str(header)


def complaint(root, source, headers):
    """What the compiler says about a source that includes these headers; empty: nothing."""
    source.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(f'#include "{name_of(header)}"\n' for header in headers)
    if not source.exists() or files.read(source) != text:
        source.write_text(text, encoding="utf-8")
    done = subprocess.run(COMPILER + [str(source)], cwd=root, capture_output=True, text=True,
                          check=False)
    return "" if done.returncode == 0 else done.stderr


def compile_alone(root, header, out):
    """The finding about a header, or None."""
    said = complaint(root, out / (str(header) + ".cc"), [header, header])
    return f"{header}: does not compile alone\n{said}" if said else None


def compile_together(root, folder, headers, out):
    """The finding about a folder's headers, or None."""
    said = complaint(root, out / folder / "together.cc", headers)
    return f"{folder}: its headers do not go together\n{said}" if said else None


def is_first_somewhere(root, header):
    """Whether the source beside the header, or its test, begins by including it."""
    if "#pragma once" not in (files.read(root / header) or ""):
        return False
    for ending in (".cc", "_test.cc"):
        source = root / header.with_name(header.stem + ending)
        lines = (files.read(source) or "").splitlines() if source.exists() else []
        first = next((line for line in lines if line.startswith("#include")), "")
        if first == f'#include "{name_of(header)}"':
            return True
    return False


def check(root, out, jobs):
    """All findings, and how many headers were compiled."""
    every = [path for path in files.project_files(root) if path.suffix == ".h"]
    alone = [path for path in every if not is_first_somewhere(root, path)]
    folders = {}
    for path in every:
        if path.parts[0] == "src":
            folders.setdefault(path.parent, []).append(path)
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda header: compile_alone(root, header, out), alone))
        # What does not compile alone spoils its folder, and is told of already.
        if not any(found):
            found += pool.map(lambda one: compile_together(root, one[0], one[1], out),
                              sorted(folders.items()))
        return [fault for fault in found if fault], len(alone)


def self_test():
    """A header that forgets an include is found, as is one without a guard; a whole one is not."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files.plant(root, {
            "src/a/good.h": "#pragma once\n#include <string>\nstd::string F();\n",
            "src/a/forgets.h": "#pragma once\ninline std::string G() { return {}; }\n",
            "src/a/twice.h": "struct Twice {};\n",
            "src/a/twice.cc": '#include "a/twice.h"\n',
            "src/a/first.h": "#pragma once\n#include <string>\n",
            "src/a/first.cc": '#include "a/first.h"\n#include <vector>\n',
            "src/a/later.h": "#pragma once\ninline std::string H() { return {}; }\n",
            "src/a/later.cc": '#include <string>\n#include "a/later.h"\n',
        })
        found, looked_at = check(root, root / "build", 2)
        names = [fault.split(":")[0] for fault in found]
        assert looked_at == 4, looked_at
        assert names == ["src/a/forgets.h", "src/a/later.h", "src/a/twice.h"], names
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files.plant(root, {
            "src/a/one.h": "#pragma once\nstruct Options { int a; };\n",
            "src/a/two.h": "#pragma once\nstruct Options { char b; };\n",
            "src/b/three.h": "#pragma once\nnamespace b {\nstruct Options { int c; };\n}\n",
        })
        found, _ = check(root, root / "build", 2)
        assert [fault.split(":")[0] for fault in found] == ["src/a"], found
    print("headers: 4 planted faults found")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--self-test", action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        self_test()
        return 0
    found, looked_at = check(files.ROOT, files.ROOT / "build" / "headers", arguments.jobs)
    print("\n".join(found + [f"headers: {looked_at} compiled, {len(found)} findings"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
