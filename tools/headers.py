"""Compiles every header on its own, and twice: it includes what it uses.

Usage: tools/headers.py [--jobs N] [--self-test]

Uses g++ through ccache when that is there, so only what changed costs time. Objects go to
build/headers.
"""

import argparse
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys
import tempfile

import files

COMPILER = (["ccache"] if shutil.which("ccache") else []) + ["g++"]
FLAGS = ["-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror", "-Isrc", "-I.", "-c"]


def compile_alone(root, header, out):
    """The compiler's complaint about a header, or None."""
    name = str(header.relative_to("src")) if header.parts[0] == "src" else str(header)
    source = out / (str(header) + ".cc")
    source.parent.mkdir(parents=True, exist_ok=True)
    text = f'#include "{name}"\n#include "{name}"\n'
    if not source.exists() or files.read(source) != text:
        source.write_text(text, encoding="utf-8")
    done = subprocess.run(
        COMPILER + FLAGS + [str(source), "-o", str(source.with_suffix(".o"))],
        cwd=root, capture_output=True, text=True, check=False)
    return None if done.returncode == 0 else f"{header}: does not compile alone\n{done.stderr}"


def check(root, out, jobs):
    """All findings, and how many headers were compiled."""
    headers = [path for path in files.project_files(root)
               if path.suffix == ".h"]
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        found = pool.map(lambda header: compile_alone(root, header, out), headers)
        return [fault for fault in found if fault], len(headers)


def self_test():
    """A header that forgets an include is found, as is one without a guard; a whole one is not."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        files.plant(root, {
            "src/a/good.h": "#pragma once\n#include <string>\nstd::string F();\n",
            "src/a/forgets.h": "#pragma once\ninline std::string G() { return {}; }\n",
            "src/a/twice.h": "struct Twice {};\n",
        })
        found, looked_at = check(root, root / "build", 2)
        names = [fault.split(":")[0] for fault in found]
        assert looked_at == 3 and names == ["src/a/forgets.h", "src/a/twice.h"], names
    print("headers: 2 planted faults found")


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
    print("\n".join(found + [f"headers: {looked_at} compiled, {len(found)} do not stand alone"]))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
