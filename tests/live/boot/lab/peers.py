# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Provides other programs that read dumps, and their debug files: from
Debian's packages, unpacked below the cache and run from there. Nothing is
installed; their libraries must be on this machine."""
import os
import subprocess

import cache
import kernels

LIBRARY = "usr/lib/x86_64-linux-gnu"


def crash():
    """The program."""
    return os.path.join(kernels.unpacked("x86_64", "crash")[0],
                        "usr/bin/crash")


def kdumpfile():
    """A directory with the library and its header."""
    return kernels.sysroot("x86_64", ["libkdumpfile10", "libkdumpfile-dev"])


def drgn():
    """The environment in which Debian's python3 has it."""
    module = kernels.unpacked("x86_64", "python3-drgn")[0]
    return dict(os.environ, LC_ALL="C", PYTHONDONTWRITEBYTECODE="1",
                PYTHONPATH=os.path.join(module, "usr/lib/python3/"
                                        "dist-packages"),
                LD_LIBRARY_PATH=os.path.join(kdumpfile(), LIBRARY))


def vmlinux(kernel):
    """A Debian kernel's image with all of its debug information."""
    name, version, _ = kernel.id.split("_")
    deb = kernels.fetch("x86_64", name + "-dbg")
    if os.path.basename(deb).split("_")[1] != version:
        raise kernels.Missing("there are no debug files of %s any more" %
                              kernel.id)
    path = "usr/lib/debug/boot/vmlinux-" + kernel.release

    def take(new):
        tar = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb],
                               stdout=subprocess.PIPE)
        subprocess.run(["tar", "-C", new, "-xf", "-", "./" + path],
                       stdin=tar.stdout, check=True)
        tar.stdout.close()
        if tar.wait():
            raise kernels.Missing("cannot unpack " + deb)

    top = cache.entry("vmlinux", kernel.arch, cache.digest(kernel.id), take,
                      only=True)
    return os.path.join(top, path)
