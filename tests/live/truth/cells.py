# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What a run leaves for tests/live/matrix: a file, an object of JSON a line.

  kernel    release and version, as the kernel says them
  plant     a question for a page: how it was asked, fields that were claimed,
            fields without an answer, words for what was wrong, and for what
            claims.tsv requires and was not claimed
  skip      what, why, and whether skips.txt has it
  test      any other test that failed
  records   what page_owner's text was compared with
  died      why the run could not go on
  end       the last line: how many tests failed. A run without it is not whole.

Lines are written as things happen, so that a run that is killed leaves what it
had.
"""
import json
import os
import re


def path(directory, name):
    """The file of the run with this name."""
    return os.path.join(directory,
                        name.replace("/", ".").replace(":", ".") + ".jsonl")


class Cells:
    def __init__(self, to):
        """@to None: nobody wants them"""
        self.file = open(to, "w", encoding="utf-8") if to else None

    def add(self, **words):
        if self.file:
            self.file.write(json.dumps(words) + "\n")
            self.file.flush()

    def add_kernel(self, there):
        """@there: what has the functions of machine.py"""
        text = (there.read("/proc/version") or b"").decode("latin-1")
        found = re.match(r"Linux version (\S+) .*?(#\d+ .*)", text, re.DOTALL)
        self.add(kernel=found[1] if found else None,
                 version=found[2].strip() if found else None)
