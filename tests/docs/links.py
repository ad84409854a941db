#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
"""Reports errors in a folder of HTML pages: links to missing files and
anchors, external images and styles, unclosed elements, and pages that cannot
be reached from index.html.

  links.py FOLDER
"""
import html.parser
import os
import sys
import urllib.parse

VOID = {"br", "hr", "img", "link", "meta", "wbr", "input", "col"}


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.sources, self.wrong = [], [], []
        self.anchors, self.open = set(), []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())
        self.wrong += ["<%s> does not end" % tag for tag in self.open]

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "id" in attrs:
            if attrs["id"] in self.anchors:
                self.wrong.append("two anchors " + attrs["id"])
            self.anchors.add(attrs["id"])
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        elif tag == "link":
            self.sources.append(attrs["href"])
        elif "src" in attrs:
            self.sources.append(attrs["src"])
        if tag == "script":
            self.wrong.append("a script")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append("line %d: </%s> ends nothing"
                              % (self.getpos()[0], tag))


def pages_of(folder):
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.normpath(os.path.join(where, name))
            if name.endswith(".html"):
                yield path, Page(path)


def wrongs(folder):
    pages = dict(pages_of(folder))
    ways = {path: set() for path in pages}
    for path, page in pages.items():
        for wrong in page.wrong:
            yield path, wrong
        for link in page.links + page.sources:
            url = urllib.parse.urlsplit(link)
            if url.scheme or url.netloc:
                if link in page.sources:
                    yield path, "from outside: " + link
                continue
            to = os.path.normpath(os.path.join(
                os.path.dirname(path), urllib.parse.unquote(url.path))) \
                if url.path else path
            if not os.path.isfile(to):
                yield path, "no such file: " + link
            elif url.fragment and (
                    to not in pages or urllib.parse.unquote(url.fragment)
                    not in pages[to].anchors):
                yield path, "no such anchor: " + link
            ways[path].add(to)
    index = os.path.normpath(os.path.join(folder, "index.html"))
    seen, to_do = set(), [index]
    while to_do:
        path = to_do.pop()
        if path not in seen:
            seen.add(path)
            to_do += ways.get(path, ())
    for path in set(pages) - seen:
        yield path, "no way leads there"


failed = False
for where, wrong in wrongs(sys.argv[1]):
    failed = True
    print("%s: %s" % (os.path.relpath(where, sys.argv[1]), wrong))
sys.exit(failed)
