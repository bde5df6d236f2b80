"""make pictures: what it makes is what the pages show."""

import glob
import os
import re
import shutil
import struct
import subprocess

import pytest

from tests.support import pictures, proc
from tests.support.pages import ROOT

SIZES = {name: (width, height) for name, _, width, height, _ in pictures.PICTURES}


def size(path):
    with open(path, "rb") as file:
        head = file.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n", path
    return struct.unpack(">II", head[16:])


def test_pages_show_what_the_script_makes():
    shown = set()
    for page in [os.path.join(ROOT, "README.md"), *glob.glob(os.path.join(ROOT, "docs", "*.md"))]:
        with open(page, encoding="utf-8") as file:
            shown |= set(re.findall(r"images/([\w-]+\.png)", file.read()))
    assert shown == set(SIZES) == set(os.listdir(os.path.join(ROOT, "docs", "images")))
    for name, wanted in SIZES.items():
        path = os.path.join(ROOT, "docs", "images", name)
        assert size(path) == wanted and os.path.getsize(path) < pictures.LIMIT


def test_script_makes_them(build, tmp_path):
    if shutil.which("chromium") is None:
        pytest.skip("no chromium: scripts/bootstrap.sh check")
    done = subprocess.run(["/usr/bin/python3", os.path.join(ROOT, "tests/support/pictures.py"), "--build", build, "--out", str(tmp_path)],
                          capture_output=True, text=True, timeout=120 * proc.SLOW, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert {name: size(tmp_path / name) for name in os.listdir(tmp_path)} == SIZES
    for name in SIZES:  # pages of text, and not the blank page of a browser that found nothing
        assert os.path.getsize(tmp_path / name) > os.path.getsize(os.path.join(ROOT, "docs", "images", name)) / 2
