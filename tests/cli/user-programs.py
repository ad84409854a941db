#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
# needs: procfs
"""User stacks of programs in other languages, and of odd ones: their functions
are those that sleep, in this order, and gdb shows the same addresses. What
cannot be unwound says why. Compilers that are not there are skipped."""

import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from userprograms import (CHAIN, NO_TABLE, TABLE_LESS,  # noqa: E402
                          Missing, Program, build, check_naps,
                          check_table_less, compile_naps, cut, run_all,
                          same_as_gdb, test, whole)
from userstack import (has_chain, skip_without_stacks,  # noqa: E402
                       stacks, wait_for)


# --- how C is compiled ---

@test("C")
def plain():
    return check_naps(compile_naps())


@test("a static program")
def static():
    return check_naps(compile_naps("-static"))


@test("a static program at a random address")
def static_pie():
    return check_naps(compile_naps("-static-pie", "-fPIE"))


@test("without frame pointers, and stripped")
def stripped():
    path = compile_naps("-fomit-frame-pointer")
    with Program(path) as p:
        names = [f["address"] for f in p.stack()][-6:]
    build(["strip"], path)
    with Program(path) as p:
        frames = p.stack()
        return ([] if len(names) == 6 and len(frames) >= 6 else
                [str(frames)]) + same_as_gdb(p.pid, frames)


@test("without section headers")
def no_sections():
    path = compile_naps("-Wl,--build-id=none", "-rdynamic")
    build(["strip"], path)
    data = bytearray(open(path, "rb").read())
    struct.pack_into("<Q", data, 0x28, 0)
    struct.pack_into("<3H", data, 0x3a, 64, 0, 0)
    open(path, "wb").write(data)
    # gdb guesses then.
    with Program(path) as p:
        return whole(p.stack(), ["main"])


@test("compressed debug information")
def compressed():
    return check_naps(compile_naps("-g", "-gz"))


@test("only .debug_frame")
def debug_frame():
    return check_naps(compile_naps("-g", *TABLE_LESS))


@test("only a compressed .debug_frame")
def debug_frame_compressed():
    return check_naps(compile_naps("-g", "-gz=zlib", *TABLE_LESS))


@test("only .debug_frame, version 4")
def debug_frame_4():
    return check_naps(compile_naps("-gdwarf-4", *TABLE_LESS))


@test("no table")
def no_table():
    return check_table_less(compile_naps(*TABLE_LESS))


# --- where it sleeps ---

@test("10,000 frames")
def deep():
    with Program(compile_naps(), "deep") as p:
        frames = p.stack()
        return cut(frames, "there are more frames") + (
            [] if len(frames) == 129 and
            has_chain(frames, [*CHAIN, *["deep"] * 100]) else [str(frames)])


def check_signal(frames, name=None):
    at = [i for i, f in enumerate(frames) if f["type"] == "signal"]
    if len(at) == 1 and (not name or frames[at[0]].get("function") == name):
        return []
    return [f"there is not one frame of a signal: {frames}"]


@test("a handler on a stack of its own")
def stack():
    with Program(compile_naps(), "stack") as p:
        frames = p.stack()
        return whole(frames, [*CHAIN, "handle"]) + whole(
            frames, ["raised", "stack", "main"]) + check_signal(
                frames) + same_as_gdb(p.pid, frames)


@test("a handler that returns to code without a table")
def restorer():
    # gdb does not cross it.
    with Program(compile_naps(), "restorer") as p:
        frames = p.stack()
        return whole(frames, [*CHAIN, "handle", "naps_restorer"]) + whole(
            frames, ["raised", "restorer", "main"]) + check_signal(
                frames, "naps_restorer")


@test("a handler that interrupted the vdso")
def vdso():
    with Program(compile_naps(), "vdso") as p:
        frames = p.stack()
        at = [f["type"] for f in frames].index("signal") + 1
        return whole(frames, ["vdso", "main"]) + (
            [] if frames[at]["type"] == "vdso" else [str(frames)]
        ) + same_as_gdb(p.pid, frames)


@test("the parent of a child of vfork()")
def vfork():
    # gdb would wait for it.
    with Program(compile_naps(), "vfork") as p:
        return whole(p.stack("D"), ["vfork", "stay", "main"])


@test("code that belongs to no file")
def jit():
    with Program(compile_naps(), "jit") as p:
        frames = p.stack()
        # What is inside nap() is the C library's.
        types = [f["type"] for f in frames]
        is_so = types[-3:] == ["user", "jit", "unknown"] and \
            set(types[:-2]) == {"user"} and frames[-3].get("function") == "nap"
        return cut(frames, NO_TABLE) + ([] if is_so else [str(frames)])


# --- where the file is ---

@test("a file that was replaced")
def replaced():
    path = compile_naps()
    with Program(path) as p:
        os.unlink(path)
        shutil.copy("/bin/true", path)
        frames = p.stack()
        modules = {f.get("module") for f in frames}
        return whole(frames) + (
            [] if f"{path} (deleted)" in modules else [str(modules)])


@test("a file that has no name")
def memfd():
    fd = os.memfd_create("naps", 0)
    with open(compile_naps(), "rb") as f:
        os.sendfile(fd, f.fileno(), 0, os.fstat(f.fileno()).st_size)
    path = f"/proc/self/fd/{fd}"
    try:
        with Program(path, pass_fds=[fd]) as p:
            return whole(p.stack())
    finally:
        os.close(fd)


@test("a file in another mount namespace")
def namespace():
    path = compile_naps()
    where = tempfile.mkdtemp(dir=".")
    script = ('mount -t tmpfs none "$1" && cp "$2" "$1/naps" && '
              'cd "$1" || exit 1; exec "$PWD/naps"')
    if not shutil.which("unshare") or subprocess.run(
            ["unshare", "-m", "true"], stderr=subprocess.DEVNULL,
            check=False).returncode:
        raise Missing("there is no other mount namespace")
    return check_naps(path, "unshare", "-m", "sh", "-c", script, "sh", where,
                      path, gdb=False)


@test("a process of another user")
def user():
    if os.geteuid():
        raise Missing("only root can change the user")
    path = compile_naps()
    os.chmod(".", 0o755)
    try:
        return check_naps(path, user=65534)
    except PermissionError as e:
        raise Missing("another user cannot run it") from e


# --- other machines and C libraries ---

@test("musl")
def musl():
    # Debian's has no tables, so gdb guesses.
    with Program(compile_naps("-static", compiler=["musl-gcc"])) as p:
        frames = p.stack()
        return cut(frames, NO_TABLE) if len(frames) < 4 else whole(frames)


# --- other languages ---

CXX = """
#include <cstdio>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <vector>
template <int N> struct deep {
    template <class T> static int go(std::map<std::string, T> &m)
    { int r = deep<N - 1>::go(m); asm volatile(""); return r + 1; }
};
template <> struct deep<0> {
    template <class T> static int go(std::map<std::string, T> &m)
    {
        try {
            throw std::runtime_error("caught");
        } catch (const std::exception &) {
            puts(""); fflush(stdout); pause();
            m["a"] = T();
        }
        return 1;
    }
};
namespace {
struct local {
    int run(std::function<int(int)> f) { int r = f(3); asm volatile("");
                                         return r + 1; }
};
}
int main()
{
    std::map<std::string, std::vector<double>> m;
    return local().run([&](int i) { int r = deep<3>::go(m); asm volatile("");
                                    return r + i; });
}
"""


@test("C++")
def cxx():
    open("sleep.cc", "w").write(CXX)
    build(["g++"], "-O2", "-fno-inline", "-w", "-o", "sleep", "sleep.cc")
    with Program("./sleep") as p:
        frames = p.stack()
        text = "\n".join(f.get("function", "?") for f in frames)
        problems = whole(frames, ["main"]) + same_as_gdb(p.pid, frames)
    if shutil.which("c++filt"):
        text = subprocess.run(["c++filt"], input=text, text=True, check=True,
                              stdout=subprocess.PIPE).stdout
        order = [text.find(name) for name in (
            "deep<0>::go<", "deep<1>::go<", "deep<2>::go<", "deep<3>::go<",
            "std::function<int (int)>::operator()", "local::run")]
        if order != sorted(order) or order[0] < 0:
            problems.append(text)
    return problems


RUST = """
use std::io::Write;
use std::hint::black_box;
trait Nap { fn nap(&self) -> u32; }
struct A<T>(T);
impl<T: std::fmt::Debug> Nap for A<Vec<Option<T>>> {
    #[inline(never)]
    fn nap(&self) -> u32 {
        println!("");
        std::io::stdout().flush().unwrap();
        std::thread::sleep(std::time::Duration::from_secs(100000));
        black_box(1)
    }
}
#[inline(never)]
fn middle<F: Fn() -> u32>(f: F) -> u32 { let r = f(); black_box(r) + 1 }
fn main() {
    let a: Box<dyn Nap> = Box::new(A(vec![Some(1u8)]));
    middle(|| a.nap());
}
"""


@test("Rust")
def rust():
    open("sleep.rs", "w").write(RUST)
    build(["rustc"], "-O", "-o", "sleep", "sleep.rs")
    with Program("./sleep") as p:
        frames = p.stack()
        names = " ".join(f.get("function", "?") for f in frames)
        return whole(frames, ["main"]) + same_as_gdb(p.pid, frames) + (
            [] if re.search(r"3nap17h.* \S*6middle17h", names) else [names])


GO = """
package main

import "syscall"

//go:noinline
func inner(b []byte) int { n, _ := syscall.Read(0, b); return n + 1 }

//go:noinline
func middle(b []byte) int { return inner(b) + 1 }

//go:noinline
func outer(b []byte) int { return middle(b) + 1 }

func main() {
	syscall.Write(1, []byte{10})
	println(outer(make([]byte, 1)))
}
"""


def with_frame(pid, name):
    """The thread that sleeps in a function, and its frames; or none."""
    def find():
        for tid, answer in stacks(pid).items():
            frames = answer.get("user_stack", [])
            if name in [f.get("function") for f in frames]:
                return tid, frames
        return None
    return wait_for(find) or (pid, [])


@test("Go")
def go():
    open("sleep.go", "w").write(GO)
    os.environ.setdefault("GOCACHE", os.path.abspath("go"))
    build(["go"], "build", "-o", "sleep", "sleep.go")
    with Program("./sleep") as p:
        p.said()
        tid, frames = with_frame(p.pid, "main.inner")
        return whole(frames, ["main.inner", "main.middle", "main.outer",
                              "main.main", "runtime.main"]) + same_as_gdb(
                                  p.pid, frames, tid)


@test("Python")
def python():
    script = "import signal; print(flush=True); signal.pause()"
    with Program(sys.executable, "-c", script) as p:
        frames = p.stack()
        return whole(frames, ["pause"]) + same_as_gdb(p.pid, frames)


JAVA = """
public class Sleep {
    public static void main(String[] a) throws Exception {
        System.out.println();
        Thread.sleep(100000000L);
    }
}
"""


@test("Java")
def java():
    open("Sleep.java", "w").write(JAVA)
    if not shutil.which("java"):
        raise Missing("java is not installed")
    build(["javac"], "Sleep.java")
    with Program("java", "Sleep") as p:
        p.said()
        _, frames = with_frame(p.pid, "JVM_Sleep")
        if not frames:
            raise Missing("this Java sleeps in another function")
        types = [f["type"] for f in frames]
        at = [f.get("function") for f in frames].index("JVM_Sleep")
        return cut(frames, NO_TABLE) + (
            [] if types[at:at + 2] == ["user", "jit"] else [str(frames)])


if __name__ == "__main__":
    run_all()
