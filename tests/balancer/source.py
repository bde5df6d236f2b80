"""source.py PAGE FILE: the provider of the page, all its blocks of balancer.c, into the file."""

import re
import sys


def source(text):
    return "".join(re.findall(r"^<!-- balancer\.c -->\n```c\n(.*?)^```$", text, re.M | re.S))


def main(page, path):
    with open(page, encoding="utf-8") as file:
        text = source(file.read())
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
