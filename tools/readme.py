"""Runs the commands of README.md and compares their output.

Usage: tools/readme.py PROGRAM_FOLDER | --self-test

Runs each "$ command" of the console blocks in order, in one shell and in an empty folder, with
PROGRAM_FOLDER first in PATH. Standard output followed by standard error must match the lines below
the command. In these lines … matches any text on the line, and a line with only ⋮ matches any
number of lines. 127.0.0.1:8080 is replaced by a free port. Background processes are ended at the
end.
"""

import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

import files

BLOCK = re.compile(r"^```console\n(.*?)^```", re.M | re.S)


def steps_in(text):
    """(command, expected output) pairs. A backslash at the end of a line continues the command."""
    steps = []
    for block in BLOCK.findall(text):
        going_on = False
        for line in block.splitlines():
            if line.startswith("$ "):
                steps.append(([line[2:]], []))
            elif not steps:
                raise ValueError("a console block begins with a '$ ' line")
            elif going_on:
                steps[-1][0].append(line)
            else:
                steps[-1][1].append(line)
            going_on = line.endswith("\\") and (line.startswith("$ ") or going_on)
    return [("\n".join(command), "\n".join(expected)) for command, expected in steps]


def pattern_of(expected):
    """A pattern that matches an expected output."""
    parts = []
    for line in expected.splitlines():
        if line.strip() == "⋮":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*".join(re.escape(part) for part in line.split("…")) + r"\n")
    return re.compile("".join(parts))


def script_of(steps):
    """A shell script that writes the output of step I to I.out and I.err."""
    lines = ["mkdir printed"]
    for number, (command, _) in enumerate(steps):
        lines.append(f"{{ {command}\n}} >printed/{number}.out 2>printed/{number}.err </dev/null")
    lines.append("kill $(jobs -p) 2>/dev/null; wait; true")
    return "\n".join(lines)


def free_address():
    """A loopback address with a free port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def run(steps, folder, program_folder):
    """The first command with another output than expected, or None."""
    environment = dict(os.environ, PATH=f"{program_folder}{os.pathsep}{os.environ['PATH']}")
    environment = {name: value for name, value in environment.items()
                   if not name.startswith(("TIDEMARK_", "SLACK_"))}
    address = free_address()
    environment["TIDEMARK_LISTEN"] = address
    steps = [[text.replace("127.0.0.1:8080", address) for text in step] for step in steps]
    subprocess.run(
        ["bash", "-c", script_of(steps)], cwd=folder, env=environment, check=False,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=300)
    for number, (command, expected) in enumerate(steps):
        place = pathlib.Path(folder) / "printed"
        printed = "".join((place / f"{number}.{end}").read_text() for end in ("out", "err"))
        # The last line of an output may have no line end.
        if printed and not printed.endswith("\n"):
            printed += "\n"
        if not pattern_of(expected).fullmatch(printed):
            return f"$ {command}\nexpected:\n{expected}\nprinted:\n{printed}"
    return None


def self_test():
    """Finds a wrong, a missing and an extra line. Wildcards match."""
    def outcome(block):
        with tempfile.TemporaryDirectory() as folder:
            return run(steps_in(f"text\n```console\n{block}```\n"), folder, folder)
    assert outcome("$ echo a b c\na … c\n$ printf 'x\\ny\\nz\\n'\nx\n⋮\n") is None
    assert outcome("$ echo a \\\n    b\na b\n$ true\n") is None
    assert outcome("$ WORD=kept; sleep 60 &\n$ WORD=kept\n$ printf $WORD\nkept\n") is None
    for block in ("$ echo a\nb\n", "$ echo a\n", "$ true\na\n", "$ nothing-like-this\n"):
        assert outcome(block) is not None, block
    print("readme: 4 planted faults found")


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if len(sys.argv) != 2 or sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    steps = steps_in(files.read(files.ROOT / "README.md"))
    with tempfile.TemporaryDirectory() as folder:
        fault = run(steps, folder, pathlib.Path(sys.argv[1]).resolve())
    if fault:
        print(fault)
    verdict = "one is not as written" if fault else "all as written"
    print(f"readme: {len(steps)} commands, {verdict}")
    return 1 if fault or not steps else 0


if __name__ == "__main__":
    sys.exit(main())
