"""/statusz in a real browser: it can be read, on wide and narrow screens, by day and by night, and it runs nothing."""

import shutil

import pytest

from tests.support import objects, views
from tests.support.browser import Browser

PORTS = ((80, "TCP"),)
ID = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id"
EVIL = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"><b>bold</b> " + "long" * 60
TABLE = """[...document.querySelectorAll('h2')].filter(h => h.innerText.startsWith(%r)).map(function (h) {
    let table = h.nextElementSibling.querySelector('table') || h.nextElementSibling;
    return [...(table.rows || [])].map(row => [...row.cells].map(cell => cell.innerText));
})[0]"""
CONTRAST = """(function () {
    function light(color) {
        let parts = color.match(/[0-9.]+/g).slice(0, 3).map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    }
    let back = light(getComputedStyle(document.body).backgroundColor);
    return Math.min(...[...document.querySelectorAll('body,h1,h2,th,td,.good,.bad,.dim,a')].map(function (one) {
        let text = light(getComputedStyle(one).color);
        return (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
    }));
})()"""


@pytest.fixture
def browser(tmp_path):
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("no chromium: scripts/bootstrap.sh check")
    folder = tmp_path / "browser"
    folder.mkdir()
    with Browser(program, folder) as instance:
        yield instance


def test_statusz_as_people_see_it(world, browser):
    views.nodes(world, 1)
    world.cloud.fault(action="CreateVServerGroup", count=1000, code="ServiceUnavailable", http=503, message=EVIL)
    world.start_ccmd()
    world.kube.create(objects.service("evil", PORTS), objects.service("gone", PORTS, annotations={ID: "lb-missing"}))
    url = world.admin_base() + "/statusz"

    def failing():
        browser.open(url)
        rows = {row[1]: dict(zip(head, row)) for head, *rest in [browser.ask(TABLE % "Failing objects") or [[]]] for row in rest}
        return rows if {"default/evil", "default/gone"} <= set(rows) else None

    rows = world.wait(failing, "both rows", timeout=40)
    # What it is doing, what is failing, when is the next try.
    assert "Ready" in browser.ask("document.body.innerText")
    assert rows["default/gone"]["kind"] == "terminal" and rows["default/gone"]["next try"].startswith("in ")
    assert EVIL in rows["default/evil"]["why"] and rows["default/evil"]["next try"]
    assert {row[0] for row in browser.ask(TABLE % "Plugins")[1:]} == {"clb"}
    assert {row[0] for row in browser.ask(TABLE % "Caches")[1:]} == {"services", "nodes", "endpointslices"}
    # What came from the cloud is text, and the page asks for nothing but itself.
    assert browser.ask("document.title") == "ccmd" and browser.ask("document.querySelectorAll('script,img,b').length") == 0
    asked = {request["request"]["url"] for request in browser.heard("Network.requestWillBeSent")}
    assert url in asked and asked <= {url, url.replace("/statusz", "/favicon.ico")}, asked
    complaints = [entry["entry"]["text"] for entry in browser.heard("Log.entryAdded") if "favicon" not in entry["entry"].get("url", "")]
    assert complaints == [] and browser.heard("Runtime.exceptionThrown") == []
    # Its style counts, nothing sticks out of a screen, and every colour can be read.
    assert browser.ask("getComputedStyle(document.querySelector('.bad, .good')).color") != browser.ask("getComputedStyle(document.body).color")
    pictures = set()
    for width in (1400, 360):
        browser.resize(width)
        assert browser.ask("document.documentElement.scrollWidth") <= width, width
        for dark in (False, True):
            browser.dark(dark)
            assert browser.ask(CONTRAST) >= 4.5, (width, dark)
            pictures.add(browser.picture())
    assert len(pictures) == 4
