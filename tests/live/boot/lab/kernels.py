# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""The kernels that are booted: Debian's, by meta package, so that it is the
newest of its line; and those of our own (build-kernel)."""
import glob
import lzma
import os
import re
import shutil
import subprocess
import sys

import cache

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.abspath(os.path.join(HERE, "..", "..", ".."))

DEBIAN_ARCH = {"x86_64": "amd64", "aarch64": "arm64"}
# Packages that name a kernel; which line it is of depends on the release of
# Debian.
META = {"6.1": ["linux-image-cloud-%s"],
        "6.12": ["linux-image-6.12-cloud-%s", "linux-image-cloud-%s"]}
# What build-kernel makes, and the command line that it needs: with KASAN the
# firmware's table of interrupts takes longer to read than may be.
OWN = {"own": "", "debug": "acpi=noirq noapic"}


class Missing(Exception):
    """A kernel or a program that cannot be had here."""


def need(program, package):
    """The path of a program, which may be an administrator's."""
    found = shutil.which(program) or shutil.which(program, path="/sbin")
    if not found:
        raise Missing("needs %s (on Debian: apt-get install %s)" % (program,
                                                                    package))
    return found


def fetch(arch, package, pattern=None):
    """A package's file."""
    command = [os.path.join(TOP, "scripts", "fetch-deb")]
    command += ["-d", pattern] if pattern else []
    p = subprocess.run(command + [DEBIAN_ARCH[arch], package],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode:
        raise Missing(p.stderr.decode().strip())
    return p.stdout.decode().strip()


def unpacked(arch, package, pattern=None):
    """A package's content, as a directory of the cache, and its name with
    its version."""
    deb = fetch(arch, package, pattern)
    name = os.path.basename(deb)[:-len(".deb")]
    top = cache.entry("unpacked", arch + "-" + package, cache.digest(name),
                      lambda new: subprocess.run(
                          ["dpkg-deb", "-x", deb, new], check=True), only=True)
    return top, name


def sysroot(arch, packages):
    """What several packages have, as one directory of the cache."""
    debs = [fetch(arch, package) for package in packages]

    def unpack(new):
        for deb in debs:
            subprocess.run(["dpkg-deb", "-x", deb, new], check=True)

    key = cache.digest(*map(os.path.basename, debs))
    return cache.entry("sysroot", arch, key, unpack, only=True)


class Kernel:
    """An image, its configuration and its modules."""

    def __init__(self, arch, top, id_, append=""):
        """@id_: what tells it from all others"""
        self.arch, self.id, self.append = arch, id_, append
        self.image, = glob.glob(os.path.join(top, "boot", "vmlinuz-*"))
        self.release = os.path.basename(self.image)[len("vmlinuz-"):]
        with open(os.path.join(top, "boot", "config-" + self.release)) as f:
            self.config = dict(line.rstrip("\n").split("=", 1) for line in f
                               if line.startswith("CONFIG_"))
        # to build modules with, of what we built
        self.tree = os.path.join(top, "tree")
        self.files = {}
        modules = os.path.join(top, "lib", "modules", self.release)
        for path in glob.glob(modules + "/kernel/**/*.ko*", recursive=True):
            name = os.path.basename(path).split(".")[0].replace("-", "_")
            self.files[name] = path

    def modules(self, wanted):
        """(name, bytes) of modules and all that they need, in the order to
        load them; what is built in or not there at all is left out."""
        done = {}

        def add(name):
            if name in done or name not in self.files:
                return
            data = module_bytes(self.files[name])
            done[name] = None
            for other in needed(data):
                add(other)
            # after what it needs
            del done[name]
            done[name] = data

        for name in wanted:
            add(name)
        return list(done.items())


def module_bytes(path):
    with open(path, "rb") as f:
        data = f.read()
    return lzma.decompress(data) if path.endswith(".xz") else data


def needed(module):
    """The modules that one depends on, by its .modinfo section."""
    found = re.search(rb"\0depends=([^\0]*)\0", module)
    names = found.group(1).decode() if found else ""
    return [n.replace("-", "_") for n in names.split(",") if n]


def get(name, arch):
    if name in OWN:
        return own(name, arch)
    if name not in META or arch not in DEBIAN_ARCH:
        raise Missing("there is no kernel %s for %s" % (name, arch))
    missing = None
    for meta in META[name]:
        try:
            return Kernel(arch, *unpacked(
                arch, meta % DEBIAN_ARCH[arch],
                "^linux-image-%s\\." % name.replace(".", "\\.")))
        except Missing as e:
            missing = missing or e
    raise missing


def own(name, arch):
    """A kernel that build-kernel makes: some 10 minutes, so that with
    LAB_OWN=built it is only taken where it is there already."""
    if arch != "x86_64":
        raise Missing("our own kernels are built for x86_64 only")
    command = [os.path.join(HERE, "build-kernel"), name]
    if os.environ.get("LAB_OWN") == "built":
        p = subprocess.run(command[:1] + ["--check", name],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        if p.returncode:
            raise Missing("not built here: make check-lab-own")
        return own_at(p.stdout.decode().strip(), name, arch)
    p = subprocess.Popen(command, stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    said = ""
    for line in p.stderr:
        # it takes minutes, and says so
        print(line.decode("utf-8", "replace"), end="", file=sys.stderr)
        said += line.decode("utf-8", "replace")
    top = p.stdout.read().decode().strip()
    if p.wait():
        raise Missing(said.strip())
    return own_at(top, name, arch)


def own_at(top, name, arch):
    return Kernel(arch, top, os.path.basename(top), OWN[name])


def busybox(arch):
    """A static busybox."""
    top, _ = unpacked(arch, "busybox-static")
    return os.path.join(top, "bin", "busybox")
