# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Finds the kernels to boot: the newest of each line that any suite of Debian
has, and those of build-kernel."""
import contextlib
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
# Metapackages of a kernel. The release of Debian decides which kernel line a
# metapackage installs.
META = {"6.1": ["linux-image-cloud-%s"],
        "6.12": ["linux-image-6.12-cloud-%s", "linux-image-cloud-%s"]}
# Suites with kernels of other lines, and the names of these kernels. An entry
# named after a suite means the newest kernel of the suite.
SUITES = {"5.10": ("bullseye", r"5\.10\.0"),
          "6.16": ("trixie-backports", r"6\.16\.[0-9]+"),
          "6.17": ("trixie-backports", r"6\.17\.[0-9]+"),
          "6.18": ("trixie-backports", r"6\.18\.[0-9]+"),
          "6.19": ("trixie-backports", r"6\.19\.[0-9]+"),
          "7.0": ("trixie-backports", r"7\.0\.[0-9]+"),
          "7.1": ("trixie-backports", r"7\.1\.[0-9]+"),
          "7.2": ("trixie-backports", r"7\.2\.[0-9]+"),
          "7.3": ("trixie-backports", r"7\.3\.[0-9]+"),
          "newest": ("trixie-backports", r"[0-9.]+"),
          "sid": ("sid", r"[0-9.]+"),
          "experimental": ("experimental", r"[0-9.]+(~rc[0-9]+)?")}
# The kernels that build-kernel makes, with the command line each one needs.
# With KASAN, reading the firmware's table of interrupts takes too long.
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


def fetch(arch, package, pattern=None, suite=None, match=False):
    """A package's file; see fetch-deb."""
    command = [os.path.join(TOP, "scripts", "fetch-deb")]
    command += ["-d", pattern] if pattern else []
    command += ["-s", suite] if suite else []
    command += ["-m"] if match else []
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


def together(kind, name, debs):
    """What several packages have, as one directory of the cache."""
    def unpack(new):
        for deb in debs:
            subprocess.run(["dpkg-deb", "-x", deb, new], check=True)

    key = cache.digest(*map(os.path.basename, debs))
    return cache.entry(kind, name, key, unpack, only=True)


def sysroot(arch, packages):
    return together("sysroot", arch, [fetch(arch, p) for p in packages])


def boot_files(top):
    """The image below @top, its release, and its configuration. Debian keeps
    them with the modules since 7.2."""
    for image in glob.glob(os.path.join(top, "boot", "vmlinuz-*")):
        release = os.path.basename(image)[len("vmlinuz-"):]
        return image, release, os.path.join(top, "boot", "config-" + release)
    for image in glob.glob(os.path.join(top, "usr/lib/modules/*/vmlinuz")):
        where = os.path.dirname(image)
        return image, os.path.basename(where), os.path.join(where, "config")
    raise Missing("%s has no kernel" % top)


def read_config(path):
    with contextlib.suppress(FileNotFoundError):
        with open(path) as f:
            return dict(line.rstrip("\n").split("=", 1) for line in f
                        if line.startswith("CONFIG_"))
    return {}


class Kernel:
    """An image, its configuration and its modules."""

    def __init__(self, arch, top, id_, append=""):
        """@id_: what tells it from all others"""
        self.arch, self.id, self.append = arch, id_, append
        self.image, self.release, config = boot_files(top)
        self.config = read_config(config)
        # Modules are built with this tree if we built the kernel.
        self.tree = os.path.join(top, "tree")
        self.files = {}
        for path in glob.glob("%s/**/lib/modules/%s/kernel/**/*.ko*" % (
                top, self.release), recursive=True):
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
            # Insert a module after the modules it needs.
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
    if name in SUITES and arch in DEBIAN_ARCH:
        return of_suite(name, arch)
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


def of_suite(name, arch):
    """A kernel of another suite: one package; or since 6.19 an image, and a
    configuration and modules, which the mirror may not have any more."""
    suite, version = SUITES[name]
    flavour = r"[^~]*-cloud-" + DEBIAN_ARCH[arch] + "(-unsigned)?"
    try:
        debs = [fetch(arch, "linux-binary-" + version + flavour, suite=suite,
                      match=True)]
    except Missing:
        debs = [fetch(arch, "linux-image-" + version + flavour, suite=suite,
                      match=True)]
    package = os.path.basename(debs[0]).split("_")[0]
    for part in ("base", "modules") if "-binary-" in package else ():
        with contextlib.suppress(Missing):
            debs.append(fetch(arch, package.replace("binary", part, 1),
                              suite=suite))
    top = together("kernel", arch + "-" + name, debs)
    return Kernel(arch, top, os.path.basename(debs[0])[:-len(".deb")])


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
        # The build takes minutes and reports its progress.
        print(line.decode("utf-8", "replace"), end="", file=sys.stderr)
        said += line.decode("utf-8", "replace")
    top = p.stdout.read().decode().strip()
    if p.wait():
        raise Missing(said.strip())
    return own_at(top, name, arch)


def own_at(top, name, arch):
    return Kernel(arch, top, os.path.basename(top), OWN[name])


def busybox(arch):
    """A static busybox, which Debian 13 has below usr."""
    top, _ = unpacked(arch, "busybox-static")
    found = glob.glob(os.path.join(top, "bin", "busybox")) or \
        glob.glob(os.path.join(top, "usr", "bin", "busybox"))
    if not found:
        raise Missing("there is no busybox in busybox-static")
    return found[0]
