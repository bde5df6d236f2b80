"""The examples of docs/testing.md, run as they stand there."""

import inspect
import os
import re

import pytest

DOCUMENT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "testing.md")


def examples():
    """Name -> function, of every Python block."""
    with open(DOCUMENT, encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
    found = {}
    for block in blocks:
        names = {}
        exec(compile(block, DOCUMENT, "exec"), names)  # pylint: disable=exec-used
        found.update({name: value for name, value in names.items() if name.startswith("test_")})
    return found


EXAMPLES = examples()


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example(name, request):
    example = EXAMPLES[name]
    example(**{fixture: request.getfixturevalue(fixture) for fixture in inspect.signature(example).parameters})


def test_there_is_an_example_of_ten_lines():
    with open(DOCUMENT, encoding="utf-8") as file:
        first = re.search(r"^```python\n(.*?)^```", file.read(), re.M | re.S).group(1)
    assert len(first.strip().splitlines()) <= 10
