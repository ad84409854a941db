#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Which versions of Debian's packages the gate was last green with, and what
differs from that here: Debian moves on, and so may what a test sees.

usage: versions.py           what differs
       versions.py --record  write what is here into scripts/seen-green.txt,
                             behind a green gate
"""
import contextlib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "..", "..", "scripts", "seen-green.txt")
HEAD = "# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause\n" \
    "# Written by tests/gate/versions.py --record: package, version\n"
# What tests are made with, and what they look at.
PACKAGES = ("btrfs-progs", "check", "dwarves", "e2fsprogs", "gcc",
            "gcc-aarch64-linux-gnu", "libc6", "libelf-dev", "libunwind-dev",
            "linux-source-6.12", "python3", "qemu-system-arm",
            "qemu-system-x86", "valgrind", "xfsprogs")


def kernels(names):
    """Of the files of packages of kernels that were fetched, the newest of a
    line and an architecture: {line: version}"""
    found = {}
    for name in names:
        match = re.match(r"linux-image-(\d+\.\d+)\.\S*?_(\S+)_(\w+)\.deb$",
                         name)
        if match:
            line = "linux-image-%s_%s" % (match[1], match[3])
            found[line] = max(found.get(line, ""), match[2], key=numbers)
    return found


def numbers(version):
    """To compare by."""
    return [int(n) for n in re.findall(r"\d+", version)]


def installed():
    p = subprocess.run(
        ["dpkg-query", "-W", "-f", "${Package} ${db:Status-Status} ${Version}"
         "\\n", *PACKAGES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    words = [line.split() for line in p.stdout.decode().splitlines()]
    return {w[0]: w[2] for w in words if len(w) == 3 and w[1] == "installed"}


def here():
    cache = os.environ.get("XDG_CACHE_HOME") or \
        os.path.expanduser("~/.cache")
    found = {}
    with contextlib.suppress(OSError):
        found.update(installed())
    with contextlib.suppress(OSError):
        found.update(kernels(os.listdir(
            os.path.join(cache, "pagedet", "lab", "deb"))))
    return found


def seen():
    with open(TABLE) as f:
        return dict(line.split() for line in f if not line.startswith("#"))


def changes(before, now):
    """What is said of each that is another one."""
    return ["%s: %s here, green with %s" % (name, now[name],
                                            before.get(name, "none"))
            for name in sorted(now) if before.get(name) != now[name]]


def lines():
    return changes(seen(), here())


if __name__ == "__main__":
    if sys.argv[1:] == ["--record"]:
        with open(TABLE, "w") as f:
            f.write(HEAD + "".join("%s %s\n" % pair for pair in
                                   sorted(here().items())))
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        print("\n".join(lines()) or "nothing differs")
