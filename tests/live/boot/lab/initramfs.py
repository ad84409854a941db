# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Makes the initramfs of a guest: an archive in the form of cpio -H newc. It
needs neither cpio nor root."""
import os
import stat

import kernels
import programs

# What a guest may need that Debian has as modules.
MODULES = ("virtio_pci virtio_console virtio_blk crc32c_generic ext4 "
           "qemu_fw_cfg lzo_rle zram").split()


class Archive:
    def __init__(self):
        self.parts = []
        self.size = 0
        self.known = set()
        self.count = 0

    def add(self, path, data=b"", mode=stat.S_IFREG | 0o644, device=(0, 0)):
        """Any kind of file; directories above it come by themselves."""
        above = os.path.dirname(path)
        if above and above not in self.known:
            self.directory(above)
        self.count += 1
        name = path.encode() + b"\0"
        fields = (self.count, mode, 0, 0, 1, 0, len(data), 0, 0, *device,
                  len(name), 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields)
        self.put(head + name)
        self.put(data)

    def put(self, data):
        data += b"\0" * (-len(data) % 4)
        self.parts.append(data)
        self.size += len(data)

    def directory(self, path):
        self.add(path, mode=stat.S_IFDIR | 0o755)
        self.known.add(path)

    def program(self, path, source):
        with open(source, "rb") as f:
            self.add(path, f.read(), stat.S_IFREG | 0o755)

    def bytes(self):
        self.add("TRAILER!!!")
        return b"".join(self.parts)


def build(kernel, files, more=()):
    """Everything a guest starts with. @files: path in the guest -> path of a
    file here, executable; @more: modules to be loaded."""
    archive = Archive()
    for path in ("dev", "proc", "sys", "tmp"):
        archive.directory(path)
    # This shows errors of the early boot.
    archive.add("dev/console", mode=stat.S_IFCHR | 0o600, device=(5, 1))
    archive.program("init", os.path.join(kernels.HERE, "init"))
    archive.program("bin/busybox", kernels.busybox(kernel.arch))
    for name in ("agent", "planter"):
        archive.program("bin/" + name, programs.program(name, kernel.arch))
    narrow = programs.narrow(kernel.arch)
    if narrow:
        archive.program("bin/narrow", narrow)
    modules = kernel.modules([*MODULES, *more])
    for name, data in modules:
        archive.add("lib/lab/%s.ko" % name, data)
    archive.add("lib/lab/modules",
                "".join(name + "\n" for name, _ in modules).encode())
    archive.add("etc/passwd", b"root:x:0:0::/:/bin/sh\n"
                b"nobody:x:65534:65534::/:/bin/sh\n")
    archive.add("etc/group", b"root:x:0:\nnogroup:x:65534:\n")
    for path, source in files.items():
        archive.program(path.lstrip("/"), source)
    return archive.bytes()
