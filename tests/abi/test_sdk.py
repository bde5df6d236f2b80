"""The installed SDK is enough: the template builds out of tree against it in each documented way, and loads."""

import os
import pathlib
import shutil
import subprocess

import pytest

BUILD = pathlib.Path(os.environ["CCM_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["CCM_SOURCE_DIR"])
CC = os.environ.get("CC", "cc")
STRICT = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]


# The loader refuses files that a group can write, and some users' files are born like that.
os.umask(0o022)


def run(*command, **kwargs):
    done = subprocess.run(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=120, **kwargs
    )
    assert done.returncode == 0, f"{command}:\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A prefix that holds the SDK and nothing else, then moved: no path of the build may have stuck."""
    first = tmp_path_factory.mktemp("installed") / "first"
    run("cmake", "--install", BUILD, "--component", "sdk", "--prefix", first)
    moved = first.with_name("moved")
    first.rename(moved)
    return moved


@pytest.fixture
def template(tmp_path):
    """A copy, so that nothing of this tree is near it."""
    copy = tmp_path / "template"
    shutil.copytree(SOURCE / "plugins" / "template", copy)
    copy.chmod(0o755)  # copied modes may let the group write, and the loader refuses that
    return copy


def pkg_config(prefix, *arguments):
    found = list(prefix.rglob("ccmd-plugin.pc"))
    assert len(found) == 1
    return run(
        "pkg-config", *arguments, "ccmd-plugin", env={**os.environ, "PKG_CONFIG_LIBDIR": str(found[0].parent)}
    ).split()


def check_plugin(file):
    shown = run(BUILD / "tests" / "abi" / "abi-inspect", file)
    assert shown.startswith("template 0.1.0\n")
    assert "annotation: text, default ccm.example.com/greet" in shown
    assert "watches   Service" in shown
    run(SOURCE / "scripts" / "check-symbols.sh", file)


def test_only_the_sdk_is_installed(prefix):
    names = {path.name for path in prefix.rglob("*") if path.is_file()}
    assert names == {
        "error.h", "host.h", "object.h", "option.h", "plugin.h", "version.h",
        "CcmPlugin.cmake", "CcmPluginConfig.cmake", "CcmPluginConfigVersion.cmake", "CcmPluginTargets.cmake",
        "plugin.map", "ccmd-plugin.pc", "CMakeLists.txt", "README.md", "plugin.c", "copyright",
        "plugin-guide.md", "plugin-example.md", "plugin-resource.md",
    }  # fmt: skip
    assert {path.name for path in (prefix / "share/doc/ccmd-dev/template").iterdir()} == {
        "CMakeLists.txt", "README.md", "plugin.c"}


def test_cmake_package(prefix, template):
    build = template / "build"
    run("cmake", "-B", build, "-S", template, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_C_FLAGS={' '.join(STRICT)}")  # fmt: skip
    run("cmake", "--build", build)
    check_plugin(build / "template.so")
    root = template / "root"
    run("cmake", "--install", build, "--prefix", root)
    installed = list(root.rglob("*.so"))
    assert [file.relative_to(root).parts[-3:] for file in installed] == [("ccmd", "plugins", "template.so")]
    check_plugin(installed[0])


def test_cmake_refuses_another_major(prefix, template):
    lists = template / "CMakeLists.txt"
    text = lists.read_text()
    assert text.count("find_package(CcmPlugin 1.0 REQUIRED)") == 1
    lists.write_text(text.replace("CcmPlugin 1.0 REQUIRED", "CcmPlugin 2.0 REQUIRED"))
    done = subprocess.run(
        ["cmake", "-B", template / "build", "-S", template, f"-DCMAKE_PREFIX_PATH={prefix}"],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert "version: 1.1" in done.stderr


def test_pkg_config(prefix, template):
    flags = pkg_config(prefix, "--cflags", "--libs")
    run(CC, *STRICT, "-fPIC", "-shared", "plugin.c", *flags, "-o", "template.so", cwd=template)
    check_plugin(template / "template.so")
    assert pkg_config(prefix, "--modversion") == ["1.1"]


def test_missing_function_is_found_by_the_linker(prefix, template):
    with open(template / "plugin.c", "a") as source:
        source.write("extern int nobody(void);\nint use(void);\nint use(void)\n{\n    return nobody();\n}\n")
    flags = pkg_config(prefix, "--cflags", "--libs")
    done = subprocess.run(
        [CC, "-fPIC", "-shared", "-fvisibility=default", "plugin.c", *flags, "-o", "template.so"],
        cwd=template, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode != 0
    assert "nobody" in done.stderr


@pytest.mark.parametrize("header", ["error.h", "host.h", "object.h", "option.h", "plugin.h", "version.h"])
@pytest.mark.parametrize("language", ["c", "c++"])
def test_each_header_stands_alone(prefix, tmp_path, header, language):
    if language == "c++" and shutil.which("c++") is None:
        pytest.skip("no C++ compiler here")
    source = tmp_path / ("use.c" if language == "c" else "use.cc")
    source.write_text(f"#include <ccm/{header}>\n#include <ccm/{header}>\nint used;\n")
    flags = pkg_config(prefix, "--cflags")
    if language == "c":
        run(CC, *STRICT, *flags, "-c", source, "-o", tmp_path / "use.o")
    else:
        run("c++", "-std=c++17", "-Wall", "-Wextra", "-Werror", *flags, "-c", source, "-o", tmp_path / "use.o")
