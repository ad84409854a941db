# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Builds this project's programs for guests, static and for their
architecture."""
import glob
import os
import pathlib
import subprocess
import tempfile

import cache
import kernels
from kernels import HERE, TOP, Missing

FLAGS = ["-std=gnu11", "-O2", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64",
         "-static"]
# Objects are compiled once, not for a shared library as well, and nobody
# debugs them: it takes 4/10 of the time.
CONFIGURE = ["--disable-shared", "CFLAGS=-O2"]
# These programs make the dumps. A changed source makes the dumps anew.
SOURCES = {
    "agent": [os.path.join(HERE, "agent.c")],
    "planter": sorted(glob.glob(os.path.join(HERE, "..", "planter*.c"))),
    "narrow": [os.path.join(HERE, "..", "narrow.c")],
}
# of some programs
MORE_FLAGS = {
    "narrow": ["-m32", "-nostdlib", "-ffreestanding", "-fno-pie",
               "-fno-stack-protector", "-fasynchronous-unwind-tables",
               "-Wl,--build-id"],
}
HEADERS = glob.glob(os.path.join(HERE, "..", "planter*.h"))
# These programs are in no dump.
FAULT = os.path.join(HERE, "..", "fault")
KMOD = os.path.join(HERE, "..", "kmod")
OTHERS = {
    "subject": sorted(glob.glob(os.path.join(FAULT, "*.[ch]"))),
    "user": sorted(glob.glob(os.path.join(KMOD, "*.[ch]"))),
    "messages": [os.path.join(HERE, "..", "messages.c")],
    "seeker": [os.path.join(HERE, "..", "seeker.c")],
    "page-detective-write": [os.path.join(
        TOP, "libpagedet", "libexec", "page-detective-write.c")],
}
# libpagedet requires the first libraries. The others decompress dumps that
# another machine wrote. snappy would need a C++ compiler.
LIBRARIES = ["libelf-dev", "zlib1g-dev", "libxxhash-dev",
             "libzstd-dev", "liblzma-dev", "liblzo2-dev", "libdeflate-dev"]


def is_ours(arch):
    return arch == os.uname().machine


def compiler(arch):
    if is_ours(arch):
        return os.environ.get("CC") or "cc"
    return arch + "-linux-gnu-gcc"


def program(name, arch):
    """The path of a built program."""
    cc = compiler(arch)
    try:
        version = subprocess.run(cc.split() + ["--version"], check=True,
                                 stdout=subprocess.PIPE).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        raise Missing("cannot compile for %s: %s" % (arch, e))
    files = OTHERS[name] if name in OTHERS else SOURCES[name] + HEADERS
    flags = FLAGS + MORE_FLAGS.get(name, [])
    key = cache.digest(cc, version, *flags, *map(pathlib.Path, files))

    def build(new):
        subprocess.run(cc.split() + flags +
                       ["-o", os.path.join(new, name)] +
                       [path for path in files if path.endswith(".c")],
                       check=True)

    return os.path.join(cache.entry("program", name + "-" + arch, key, build,
                                    only=True), name)


def builds(arch, flags):
    """Whether the compiler is there, and builds an empty program with them."""
    with tempfile.TemporaryDirectory() as top:
        argv = [*compiler(arch).split(), *flags, "-x", "c", "-",
                "-o", os.path.join(top, "empty")]
        try:
            return not subprocess.run(argv, input=b"void _start(void) {}\n",
                                      stderr=subprocess.DEVNULL).returncode
        except OSError:
            return False


def narrow(arch):
    """The 32-bit program; None: guests of this architecture have none, or no
    compiler builds such programs here."""
    if arch != "x86_64" or not builds(arch, FLAGS + MORE_FLAGS["narrow"]):
        return None
    return program("narrow", arch)


def pagedet(arch):
    """The static command for another architecture, from a build tree of the
    cache that is brought up to date."""
    root = kernels.sysroot(arch, LIBRARIES)
    top = os.path.join(cache.TOP, "build", arch + "-" +
                       cache.digest(TOP, root, *CONFIGURE))
    # Do not pass on the variables of a calling make.
    env = {name: value for name, value in os.environ.items()
           if name not in ("CC", "MAKEFLAGS", "MAKELEVEL", "PKG_CONFIG")}
    env["PKG_CONFIG_SYSROOT_DIR"] = root
    env["PKG_CONFIG_LIBDIR"] = "%s/usr/lib/%s-linux-gnu/pkgconfig" % (root,
                                                                      arch)
    with cache.locked("build-" + arch):
        os.makedirs(top, exist_ok=True)
        if not os.path.exists(os.path.join(top, "Makefile")):
            must_build(arch, top, env, os.path.join(TOP, "configure"),
                       "--host=%s-linux-gnu" % arch, *CONFIGURE)
        must_build(arch, top, env, "make", "-j%d" % os.cpu_count(),
                   "pagedet-static")
    return os.path.join(top, "pagedet-static")


def must_build(arch, top, env, *argv):
    log = os.path.join(top, "lab.log")
    with open(log, "wb") as f:
        p = subprocess.run(argv, cwd=top, env=env, stdout=f, stderr=f,
                           stdin=subprocess.DEVNULL)
    if p.returncode:
        with open(log, errors="replace") as f:
            raise Missing("cannot build pagedet for %s:\n%s" % (
                arch, "".join(f.readlines()[-20:])))
