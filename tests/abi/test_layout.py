"""The headers of today keep the layout of ABI 1.0 and 1.1, and the comparison notices when they do not."""

import os
import pathlib

import layout
import pytest

HERE = pathlib.Path(__file__).parent
TODAY = HERE.parent.parent / "include"
# The last member of struct ccm_plugin.
LAST = "    uint64_t batch_wait_ms;"


def frozen_of(version):
    return (HERE / f"layout-{version}.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def frozen():
    return frozen_of("1.0")


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_frozen_headers_have_the_frozen_layout(version):
    assert layout.layout_of(HERE / f"v{version.replace('.', '_')}") == frozen_of(version)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_todays_headers_break_nothing(version):
    assert layout.breaks(frozen_of(version), layout.layout_of(TODAY)) == []


def edited(tmp_path, header, old, new, folder="v1_0"):
    """Layout of a copy of frozen headers with one edit."""
    (tmp_path / "ccm").mkdir()
    for name in os.listdir(HERE / folder / "ccm"):
        text = (HERE / folder / "ccm" / name).read_text()
        if name == header:
            assert text.count(old) == 1
            text = text.replace(old, new)
        (tmp_path / "ccm" / name).write_text(text)
    return layout.layout_of(tmp_path)


@pytest.mark.parametrize(
    ("header", "old", "new"),
    [
        ("plugin.h", LAST, f"{LAST}\n    void (*later)(void *self);"),
        ("object.h", "    uint64_t address_count;", "    uint64_t address_count;\n    uint64_t later;"),
        ("error.h", "    uint64_t reserved[4];", "    uint64_t later;\n    uint64_t reserved[3];"),
        ("host.h", "    void *core;", "    void *core;\n    int (*later)(const struct ccm_host *host);"),
    ],
)
def test_growth_is_allowed(frozen, tmp_path, header, old, new):
    assert layout.breaks(frozen, edited(tmp_path, header, old, new)) == []


@pytest.mark.parametrize(
    ("header", "old", "new", "told"),
    [
        ("plugin.h", "    const char *summary;", "    uint64_t summary;", "ccm_plugin.summary was"),
        ("plugin.h", LAST, "", "struct ccm_plugin had"),
        ("plugin.h", "    void *core;          ", "    uint64_t later;\n    void *core;", "ccm_request.core was"),
        ("error.h", "    uint64_t reserved[4];", "    uint64_t reserved[5];", "struct ccm_error had"),
        ("object.h", "    int64_t node_port;", "    int64_t renamed;", "ccm_service_port.node_port was"),
        ("object.h", "CCM_KIND_NODE UINT64_C(3)", "CCM_KIND_NODE UINT64_C(9)", "CCM_KIND_NODE was 3"),
        ("option.h", "    const char *help;", "    const char *help;\n    uint32_t later;", "padding would hide"),
    ],
)
def test_break_is_noticed(frozen, tmp_path, header, old, new, told):
    found = layout.breaks(frozen, edited(tmp_path, header, old, new))
    assert any(told in line for line in found), found


@pytest.mark.parametrize(
    ("header", "old", "new", "told"),
    [
        ("plugin.h", "    uint64_t instances;", "", "ccm_plugin.instances was"),
        ("plugin.h", "    int64_t (*allow_removals)(void *self);", "    void (*early)(void *self);\n    int64_t (*allow_removals)(void *self);",
         "ccm_plugin.classes was"),
        ("host.h", "    int64_t (*server_since_ms)(const struct ccm_host *host);", "", "ccm_host.note_held was"),
        ("object.h", "    uint64_t allocatable_count;", "", "ccm_node_info.system was"),
        ("object.h", "    uint64_t traits;", "", "ccm_object.traits was"),
        ("option.h", "    const char *unless;", "    uint64_t unless;", "ccm_option.unless was"),
        ("plugin.h", "CCM_WATCH_NODE_INFO UINT64_C(4)", "CCM_WATCH_NODE_INFO UINT64_C(16)", "CCM_WATCH_NODE_INFO was 4"),
    ],
)
def test_break_of_1_1_is_noticed(tmp_path, header, old, new, told):
    found = layout.breaks(frozen_of("1.1"), edited(tmp_path, header, old, new, "v1_1"))
    assert any(told in line for line in found), found
