import os
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tests.support.world import World  # noqa: E402


@pytest.fixture(scope="session")
def build():
    """The build directory under test: CCM_BUILD_DIR, set by ctest."""
    path = os.environ.get("CCM_BUILD_DIR")
    if not path:
        pytest.exit("set CCM_BUILD_DIR to a build directory, for example build/release", 2)
    return os.path.abspath(path)


@pytest.fixture
def world(build, tmp_path):
    with World(build, tmp_path) as instance:
        yield instance
