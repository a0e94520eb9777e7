"""Lists the files of the project for the other tools: all files that git tracks or would track.

As a command it prints them, one on each line: tools/files.py .cc .h
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def project_files(root=ROOT):
    """Paths relative to root, sorted. Outside of a git checkout, all files except in build/."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        capture_output=True, check=False)
    if listed.returncode == 0:
        names = [name for name in listed.stdout.decode().split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
        names = [name for name in names if not name.startswith(("build/", ".git/"))]
    return [pathlib.Path(name) for name in sorted(set(names)) if (root / name).is_file()]


def read(path):
    """The text of a file, or None if it is not text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return None


def plant(root, files):
    """Writes a small tree for a self-test: {relative name: text}."""
    for name, text in files.items():
        path = pathlib.Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in ("-h", "--help"):
        print(__doc__.strip())
    else:
        for file in project_files():
            if len(sys.argv) == 1 or file.suffix in sys.argv[1:]:
                print(file)
