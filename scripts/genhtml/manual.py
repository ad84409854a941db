# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Makes HTML of manual pages: mandoc does, or groff makes a text that gets
headings and links here. Debian's groff-base, which man has with it, makes no
HTML itself."""
import html
import re
import shutil
import subprocess

REFERENCE = re.compile(r"\b([a-zA-Z][\w.-]*)\((\d)\)")
XR = re.compile(r'<a class="Xr"[^>]*>(.*?)</a>', re.S)


class Missing(Exception):
    pass


def renderer(name=None):
    """mandoc or groff, the first one that is there."""
    for each in [name] if name else ["mandoc", "groff"]:
        if shutil.which(each):
            return each
    raise Missing("neither mandoc nor groff is there: install one of them"
                  if not name else "there is no %s" % name)


def about(text):
    """The line of NAME that says what a page is about."""
    return re.search(r"^\.Nd (.*)$", text, re.M).group(1)


def links(text, address):
    """Text or HTML in which references to other pages are links."""
    def link(found):
        where = address("%s(%s)" % found.groups())
        return '<a href="%s">%s</a>' % (where, found.group()) if where \
            else found.group()
    return REFERENCE.sub(link, text)


def by_mandoc(path, address):
    text = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", path],
                          stdout=subprocess.PIPE, check=True).stdout.decode()
    return XR.sub(lambda found: links(found.group(1), address), text)


def by_groff(path, address):
    out = subprocess.run(
        ["groff", "-mdoc", "-Tutf8", "-W", "break", "-rHY=0", "-rLL=90n", "-P-b", "-P-c",
         "-P-o", "-P-u", path], stdout=subprocess.PIPE, check=True)
    # Omit the header and footer lines of the page.
    lines = out.stdout.decode().strip("\n").split("\n")[1:-1]
    body, seen = [], set()
    for line in lines:
        level = re.match(r"( {3})?(?=\S)", line)
        if level:
            level = 3 if level.group(1) else 2
            anchor = re.sub(r"\s+", "_", line.strip())
            while anchor in seen:
                anchor += "_"
            seen.add(anchor)
            body.append('</pre><h%d id="%s">%s</h%d><pre>' % (
                level, html.escape(anchor),
                html.escape(line.strip(), quote=False), level))
        else:
            body.append(links(html.escape(line, quote=False), address))
    return "<pre>%s</pre>" % "\n".join(body)


RENDER = {"mandoc": by_mandoc, "groff": by_groff}
