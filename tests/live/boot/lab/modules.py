# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Builds this project's modules with the headers of a kernel."""
import glob
import os
import pathlib
import re
import subprocess

import cache
import kernels

# of the release that a headers package is for
PARTS = (r"^linux-headers-.*-common$", r"^linux-kbuild-")


def headers(kernel):
    """The build tree for modules: the kernel's own, or that of packages that
    are not installed."""
    if os.path.isdir(kernel.tree):
        return kernel.tree
    package = "linux-headers-" + kernel.release
    debs = [kernels.fetch(kernel.arch, package)]
    debs += [kernels.fetch(kernel.arch, package, part) for part in PARTS]

    def unpack(new):
        for deb in debs:
            subprocess.run(["dpkg-deb", "-x", deb, new], check=True)
        path = os.path.join(new, "usr", "src", package, "Makefile")
        with open(path) as f:
            text = f.read()
        with open(path, "w") as f:
            # Make the headers work where they are, without an installation.
            f.write(re.sub(r"/usr/src", "$(dir $(lastword "
                           "$(MAKEFILE_LIST)))..", text))

    top = cache.entry("headers", kernel.arch + "-" + kernel.release,
                      cache.digest(*map(os.path.basename, debs)), unpack)
    return os.path.join(top, "usr", "src", package)


def module(name, kernel, source):
    """The path of NAME.ko, built from a directory that stays as it is."""
    tree = headers(kernel)
    files = sorted(glob.glob(source + "/*.[ch]") +
                   [os.path.join(source, file)
                    for file in ("Kbuild", "Makefile")])
    key = cache.digest(kernel.id, *map(pathlib.Path, files))

    def build(new):
        for path in files:
            with open(path, "rb") as f:
                pathlib.Path(new, os.path.basename(path)).write_bytes(
                    f.read())
        p = subprocess.run(["make", "-C", new, "KDIR=" + tree, "W=1"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        text = p.stdout.decode("utf-8", "replace")
        pathlib.Path(new, "build.log").write_text(text)
        if p.returncode:
            raise kernels.Missing("cannot build %s:\n%s" % (name, text))

    # The cache keeps one module for each kernel.
    top = cache.entry("module", "%s-%s-%s" % (name, kernel.arch,
                                              kernel.release), key, build,
                      only=True)
    return os.path.join(top, name + ".ko"), os.path.join(top, "build.log")
