#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""What is the page behind an address? The question: "quickstart.py PID
ADDRESS", or an address of our own, the one of the variable "item". The answer:
one field by hand, then all as JSON."""
import ctypes
import os
import sys

import pagedet

item = ctypes.c_uint64(1)
place = (os.getpid(), ctypes.addressof(item))
if len(sys.argv) > 2:
    place = (int(sys.argv[1], 0), int(sys.argv[2], 0))

try:
    with pagedet.open() as pd, pd.query(virt=place) as query:
        row = next(query)

        # Every field says whether it is answered: without privilege the page
        # frame number is not, and zero would be a lie.
        if row.state("pfn") == "have":
            print("pfn", row["pfn"])

        # The same question once more, all of the answer as a line of JSON.
        query.retarget(place).emit(sys.stdout)
except pagedet.Error as error:
    sys.exit(str(error))
