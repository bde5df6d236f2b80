"""The installed SDK is enough: the template builds out of tree against it in each documented way, and loads."""

import os
import pathlib
import re
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


def pkg_config(prefix, *arguments, module="ccmd-plugin"):
    found = list(prefix.rglob(f"{module}.pc"))
    assert len(found) == 1
    return run("pkg-config", *arguments, module, env={**os.environ, "PKG_CONFIG_PATH": str(found[0].parent)}).split()


def check_plugin(file):
    shown = run(BUILD / "tests" / "abi" / "abi-inspect", file)
    assert shown.startswith("template 0.1.0\n")
    assert "annotation: text, default ccm.example.com/greet" in shown
    assert "watches   Service" in shown
    run(SOURCE / "scripts" / "check-symbols.sh", file)


def test_only_the_sdk_is_installed(prefix):
    names = {path.name for path in prefix.rglob("*") if path.is_file() and "ccm-lbc" not in path.parts}
    names -= {name for name in names if name.startswith("CcmPluginTargets-")}  # one per build type
    assert names == {
        "error.h", "fake_host.h", "function.h", "host.h", "object.h", "option.h", "plugin.h", "version.h",
        "CcmPlugin.cmake", "CcmPluginConfig.cmake", "CcmPluginConfigVersion.cmake", "CcmPluginTargets.cmake",
        "plugin.map", "ccmd-plugin.pc", "libccm-plugin.a", "CMakeLists.txt", "ccm-lbc.pc", "CcmLbcConfig.cmake",
        "CcmLbcConfigVersion.cmake", "ccm-fake-host.pc", "libccm-fake-host.a", "libccm-lbc.a", "libccm-util.a", "README.md", "plugin.c", "copyright",
        "plugin-guide.md", "plugin-example.md", "plugin-resource.md", "plugin-loadbalancer.md", "plugin-shipping.md", "plugin-languages.md",
        "plugin-questions.md",
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


def test_cmake_installs_where_the_daemon_looks(prefix, template):
    """Without a word about it: beside the ccmd of the SDK, not CMake's /usr/local."""
    build = template / "build"
    run("cmake", "-B", build, "-S", template, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}")
    run("cmake", "-B", build, "-S", template)
    run("cmake", "--build", build)
    run("cmake", "--install", build)
    file = prefix / "lib" / "ccmd" / "plugins" / "template.so"
    check_plugin(file)
    file.unlink()
    chosen = template / "chosen"
    run("cmake", "-B", template / "other", "-S", template, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_INSTALL_PREFIX={chosen}")  # fmt: skip
    run("cmake", "--build", template / "other")
    run("cmake", "--install", template / "other")
    assert [file.name for file in chosen.rglob("*.so")] == ["template.so"] and not file.exists()


def run_path(file):
    return re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", run("readelf", "-d", file))


def test_cmake_adds_no_run_path_of_its_own(prefix, template):
    """Only the plugins of ccmd have libraries one folder up; that of another is its author's choice."""
    configure = ["cmake", "-S", template, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}"]
    run(*configure, "-B", template / "build")
    run("cmake", "--build", template / "build")
    assert run_path(template / "build" / "template.so") == []
    with open(template / "CMakeLists.txt", "a") as lists:
        lists.write('set_target_properties(template PROPERTIES INSTALL_RPATH "/opt/mine")\n')
    run(*configure, "-B", template / "other")
    run("cmake", "--build", template / "other")
    assert run_path(template / "other" / "template.so") == ["/opt/mine"]


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


@pytest.mark.parametrize("header", ["error.h", "fake_host.h", "function.h", "host.h", "object.h", "option.h", "plugin.h", "version.h"])
@pytest.mark.parametrize("language", ["c", "c++11", "c++14", "c++17", "c++20"])
def test_each_header_stands_alone(prefix, tmp_path, header, language):
    if language != "c" and shutil.which("c++") is None:
        pytest.skip("no C++ compiler here")
    source = tmp_path / ("use.c" if language == "c" else "use.cc")
    more = "int use(void);\nint use(void)\n{\n    struct ccm_error err = CCM_ERROR_INIT;\n    return ccm_error_nomem(&err);\n}\n"
    source.write_text(f"#include <ccm/{header}>\n#include <ccm/{header}>\nint used;\n{more if header == 'error.h' else ''}")
    flags = pkg_config(prefix, "--cflags")
    if language == "c":
        run(CC, *STRICT, *flags, "-c", source, "-o", tmp_path / "use.o")
    else:
        strict = ["-Wall", "-Wextra", "-pedantic", "-Wshadow", "-Wconversion", "-Werror"]
        for compiler in filter(shutil.which, ("c++", "clang++")):
            run(compiler, f"-std={language}", *strict, *flags, "-c", source, "-o", tmp_path / "use.o")


# As a language would use them that calls C and cannot compile it.
FUNCTIONS = """
#include <ccm/error.h>
#include <ccm/host.h>
#include <ccm/object.h>
#include <assert.h>

static void take_event(const struct ccm_host *host, const struct ccm_event *event)
{
    (void)host;
    assert(event->struct_size == sizeof(*event) && event->object == NULL && event->warning == 0);
    assert(event->component[0] == 'c' && event->reason[0] == 'R' && event->message[0] == 'm');
}

static void check_event(void)
{
    struct ccm_host host = { .event = take_event };

    ccm_event_emit(&host, NULL, "c", "R", "m");
}

static void check_errors(void)
{
    struct ccm_error err = CCM_ERROR_INIT;
    struct ccm_error copy = CCM_ERROR_INIT;

    assert(ccm_error_set(&err, -EIO, CCM_ERROR_TRANSIENT, "%s %d", "port", 80) == -EIO);
    assert(ccm_error_wrap(&err, -EINVAL, "%s", "web") == -EINVAL);
    assert(strcmp(err.message, "web: port 80") == 0 && err.kind == CCM_ERROR_TRANSIENT);
    ccm_error_copy(&copy, &err);
    assert(ccm_error_set_text(&err, -EPERM, CCM_ERROR_AUTH, "100%s") == -EPERM);
    assert(ccm_error_wrap_text(&err, -EPERM, "50%n") == -EPERM);
    assert(strcmp(err.message, "50%n: 100%s") == 0 && err.kind == CCM_ERROR_AUTH);
    assert(ccm_error_nomem(&err) == -ENOMEM && strcmp(err.message, "out of memory") == 0);
    ccm_error_clear(&err);
    assert(err.kind == CCM_ERROR_NONE && err.message[0] == 0 && err.struct_size == sizeof(err));
    assert(strcmp(copy.message, "web: port 80") == 0);
    assert(ccm_error_set_text(NULL, -1, CCM_ERROR_BUG, "x") == -1);
    ccm_error_add_detail(&copy, ", 3 s");
    ccm_error_add_request_id(&copy, "r-1");
    assert(ccm_error_wrap_text(&copy, -1, "ns") == -1 && strcmp(copy.request_id, "r-1") == 0);
    assert(strcmp(copy.message, "ns: web: port 80, 3 s (RequestId r-1)") == 0);
    assert(ccm_error_cause_len(&copy) == strlen("ns: web: port 80"));
}

int main(void)
{
    const struct ccm_pair a = { "a", "1" };
    const struct ccm_pair c = { "c", "3" };
    const struct ccm_pair *const pairs[] = { &a, &c };
    const struct ccm_object object = {
        .labels = pairs, .label_count = 2, .annotations = pairs + 1, .annotation_count = 1
    };

    check_errors();
    check_event();
    assert(ccm_pair_find(pairs, 2, "b") == NULL);
    assert(strcmp(ccm_object_label(&object, "a"), "1") == 0);
    assert(strcmp(ccm_object_annotation(&object, "c"), "3") == 0);
    assert(ccm_object_annotation(&object, "a") == NULL);
    return 0;
}
"""


def declared_functions():
    """Every function that the headers give a body."""
    text = "".join((SOURCE / "include/ccm" / name).read_text() for name in ("error.h", "host.h", "object.h"))
    return set(re.findall(r"^CCM_FUNCTION [^;{]*?(ccm_\w+)\([^;{]*\)\n\{", text, re.M))


def test_functions_are_in_a_library(prefix, tmp_path):
    (tmp_path / "use.c").write_text(FUNCTIONS)
    run(CC, *STRICT, *pkg_config(prefix, "--cflags"), "-DCCM_EXTERN_FUNCTIONS", "-c", "use.c", "-o", "use.o", cwd=tmp_path)
    wanted = set(run("nm", "-u", "--format=just-symbols", tmp_path / "use.o").split())
    functions = {name for name in wanted if name.startswith("ccm_")}
    assert functions == declared_functions() and len(functions) == 14
    (library,) = prefix.rglob("libccm-plugin.a")
    run(CC, "use.o", library, "-o", "use", cwd=tmp_path)
    run(tmp_path / "use")
    offered = run("nm", "-g", "--defined-only", "--format=posix", library).splitlines()
    assert {line.split()[0] for line in offered if len(line.split()) > 1} == functions


def test_a_plugin_takes_them_from_the_library(prefix, template):
    """Position independent, and still one symbol to see from outside."""
    flags = pkg_config(prefix, "--cflags", "--libs")
    run(CC, *STRICT, "-DCCM_EXTERN_FUNCTIONS", "-fPIC", "-shared", "plugin.c", *flags, "-o", "template.so", cwd=template)
    check_plugin(template / "template.so")
    assert "ccm_object_annotation" in run("nm", template / "template.so")


def test_cmake_without_the_language_c(prefix, template):
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler here")
    (template / "plugin.cc").write_text(
        "#include <ccm/error.h>\n#include <ccm/plugin.h>\n"
        "extern \"C\" const char *told(struct ccm_error *err);\n"
        "const char *told(struct ccm_error *err) { ccm_error_set_text(err, -1, CCM_ERROR_BUG, \"x\"); return err->message; }\n"
        "const struct ccm_plugin ccm_plugin = {};\n")
    (template / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(plus LANGUAGES CXX)\nfind_package(CcmPlugin 1.1 REQUIRED)\n"
        "add_definitions(-DCCM_EXTERN_FUNCTIONS)\nccm_add_plugin(plus SOURCES plugin.cc)\n")
    run("cmake", "-B", template / "build", "-S", template, f"-DCMAKE_PREFIX_PATH={prefix}")
    run("cmake", "--build", template / "build")
    run(SOURCE / "scripts" / "check-symbols.sh", template / "build/plus.so")


# --- the load balancer engine ---


def engine_headers():
    folder = BUILD / "sdk/include"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.h"))


def test_headers_of_the_engine_are_closed(prefix):
    """What is installed includes what is installed, under names that nobody else has."""
    include = prefix / "include"
    headers = [path for path in (include / "ccm-lbc").rglob("*.h")]
    assert len(headers) > 60
    assert {str(path.relative_to(include)) for path in headers} == set(engine_headers())
    for header in headers:
        for name in re.findall(r'^#include "([^"]+)"', header.read_text(), re.M):
            assert name.startswith(("ccm/", "ccm-lbc/")) and (include / name).exists(), f"{header}: {name}"
        others = set(re.findall(r"^#include <([^>]+)>", header.read_text(), re.M))
        assert {name for name in others if "/" in name} <= {"cjson/cJSON.h"}, header


def test_each_header_of_the_engine_stands_alone(prefix, tmp_path):
    flags = pkg_config(prefix, "--cflags", module="ccm-lbc")
    for header in engine_headers():
        (tmp_path / "use.c").write_text(f"#include <{header}>\n#include <{header}>\nint used;\n")
        run(CC, *STRICT, "-Wvla", *flags, "-fsyntax-only", tmp_path / "use.c")


def test_names_of_the_engine_are_its_own(prefix):
    """Prefixed, and hidden in whatever they are linked into, so that each plugin has its own."""
    for library, beginning in (("libccm-lbc.a", "lbc_"), ("libccm-util.a", "ccm_")):
        (path,) = prefix.rglob(library)
        rows = [line.split() for line in run("readelf", "-sW", path).splitlines()]
        outside = [row for row in rows if len(row) == 8 and row[4] in ("GLOBAL", "WEAK") and row[6] != "UND"]
        if not os.environ.get("CCM_SANITIZE"):
            assert [row[7] for row in outside if not row[7].startswith(beginning)] == []
        assert len(outside) > 50 and [row[7] for row in outside if row[7].startswith(beginning) and row[5] != "HIDDEN"] == []


def page_source(name, page):
    text = (SOURCE / "docs" / page).read_text()
    return "".join(re.findall(rf"^<!-- {re.escape(name)} -->\n```c\n(.*?)^```$", text, re.M | re.S))


def engine_version():
    text = (SOURCE / "plugins/lbc/version.h").read_text()
    return tuple(int(re.search(rf"^#define LBC_VERSION_{part} +(\d+)U$", text, re.M).group(1)) for part in ("MAJOR", "MINOR"))


def engine_project(folder, version):
    """The provider of the page, twice, in a project of its own."""
    source = page_source("balancer.c", "plugin-loadbalancer.md")
    (folder / "balancer.c").write_text(source)
    (folder / "second.c").write_text(source.replace('"balancer"', '"second"').replace("balancer.example.com", "second.example.com"))
    (folder / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(two LANGUAGES C)\nset(CMAKE_C_STANDARD 11)\nset(CMAKE_C_EXTENSIONS OFF)\n"
        f"find_package(CcmLbc {version} REQUIRED)\n"
        "ccm_add_plugin(balancer SOURCES balancer.c LIBRARIES ccm::lbc)\nccm_add_plugin(second SOURCES second.c LIBRARIES ccm::lbc)\n")


def test_two_plugins_have_the_engine_each(prefix, tmp_path):
    if os.environ.get("CCM_SANITIZE"):
        pytest.skip("the library asks for a sanitizer then")
    engine_project(tmp_path, "{}.{}".format(*engine_version()))
    build = tmp_path / "build"
    run("cmake", "-B", build, "-S", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_C_FLAGS={' '.join(STRICT)}")  # fmt: skip
    run("cmake", "--build", build)
    run(SOURCE / "scripts" / "check-symbols.sh", build / "balancer.so", build / "second.so")
    options = f'url = "http://127.0.0.1:1"; key_file = "{tmp_path}/balancer.c"; cluster_id = "c-1";'
    (tmp_path / "both.conf").write_text("leader_election: { enabled = false; };\nplugins = ( " + ", ".join(
        f'{{ name = "{name}"; file = "{build}/{name}.so"; {options} }}' for name in ("balancer", "second")) + " );\n")
    assert "plugins: 2" in run(BUILD / "bin/ccmd", "check-config", "--config", tmp_path / "both.conf")


def test_another_minor_of_the_engine_is_refused(prefix, tmp_path):
    major, minor = engine_version()
    engine_project(tmp_path, f"{major}.{minor + 1}")
    done = subprocess.run(["cmake", "-B", tmp_path / "build", "-S", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode != 0 and f"version: {major}.{minor}" in done.stderr
    assert pkg_config(prefix, "--modversion", module="ccm-lbc") == [f"{major}.{minor}"]
    assert f"`find_package(CcmLbc {major}.{minor})`" in (SOURCE / "docs/plugin-loadbalancer.md").read_text()


# --- the fake host ---


def test_fake_host_with_cmake(prefix, template):
    """The unit test of the page against the template, in a project of its own."""
    if os.environ.get("CCM_SANITIZE"):
        pytest.skip("the library asks for a sanitizer then")
    text = (SOURCE / "docs/plugin-guide.md").read_text()
    (template / "test.c").write_text(re.search(r"^cat >test.c <<'END'\n(.*?)^END$", text, re.M | re.S).group(1))
    (template / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(mine LANGUAGES C)\nset(CMAKE_C_STANDARD 11)\nset(CMAKE_C_EXTENSIONS OFF)\n"
        "find_package(CcmPlugin 1.1 REQUIRED)\nccm_add_plugin(mine SOURCES plugin.c)\n"
        "add_executable(unit-test test.c plugin.c)\ntarget_link_libraries(unit-test ccm::fake_host)\n"
        "enable_testing()\nadd_test(NAME unit-test COMMAND unit-test)\n")
    build = template / "build"
    run("cmake", "-B", build, "-S", template, f"-DCMAKE_PREFIX_PATH={prefix}", f"-DCMAKE_C_COMPILER={CC}",
        f"-DCMAKE_C_FLAGS={' '.join(STRICT)}")  # fmt: skip
    run("cmake", "--build", build)
    assert "100% tests passed" in run("ctest", "--test-dir", build, "--output-on-failure")
    source = (template / "plugin.c").read_text()
    (template / "plugin.c").write_text(source.replace('"TemplateSeen"', '"TemplateLost"'))
    run("cmake", "--build", build)
    assert subprocess.run([build / "unit-test"], capture_output=True, timeout=60).returncode != 0
