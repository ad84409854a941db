# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The answers that the command pagedet reads in the module's log."""
import json
import subprocess

import facts

KINDS = ("anon", "file", "shmem", "hugetlb")


def read(program, log):
    """Its records of answers."""
    p = subprocess.run([program, "-q", "from-log", "--text-only", "--json"],
                       input=log, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    if p.returncode:
        raise ValueError(p.stderr.decode())
    return [r for r in map(json.loads, p.stdout.decode().splitlines())
            if r.get("report") == "page_detective"]


def check(program, log, plant, a):
    """That it is what the lines say: @a, and what is true."""
    try:
        said, = read(program, log)
    except ValueError as e:
        return ["not one answer: %s" % e]
    truth = {"pfn": a.pfn, "refcount": int(a.page["refcount"]),
             "order": int(a.page["order"]), "kernel_maps": a.counts[0],
             "user_maps": a.counts[1]}
    if plant.expect["kind"] in KINDS:
        truth["kind"] = plant.expect["kind"]
    if "memcg_path" in plant.expect:
        truth["memcg_path"] = plant.expect["memcg_path"]
    if plant.file:
        truth["inode"] = plant.file["inode"]
        truth["index"] = plant.file["index"]
    wrong = []
    for name, value in truth.items():
        wrong += facts.differ("the library's " + name, said.get(name), value)
    return wrong
