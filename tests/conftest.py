import os
import subprocess
import sys

import pytest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tests.support.world import World  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "time_scale(n): the processes of the test's worlds live n times as fast, see docs/testing.md")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    mark = item.get_closest_marker("time_scale")
    World.time_scale = mark.args[0] if mark else 1


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


@pytest.fixture(scope="module")
def prefix(build, tmp_path_factory):
    """ccmd and its SDK, installed where no folder above belongs to anybody else."""
    folder = tmp_path_factory.mktemp("prefix")
    done = subprocess.run(["cmake", "--install", build, "--prefix", str(folder)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout
    return str(folder)
