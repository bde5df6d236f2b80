"""/statusz in a real browser: it can be read, on wide and narrow screens, by day and by night, and it runs nothing."""

import shutil

import pytest

from tests.support import objects, views
from tests.support.browser import Browser

PORTS = ((80, "TCP"),)
ID = "service.beta.kubernetes.io/alibaba-cloud-loadbalancer-id"
EVIL = "<script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\"><b>bold</b> " + "long" * 60
TABLE = """[...document.querySelectorAll('h2')].filter(h => h.innerText.startsWith(%r)).map(function (h) {
    return [...(h.nextElementSibling.rows || [])].map(row => [...row.cells].map(cell => cell.innerText));
})[0]"""
CONTRAST = """(function () {
    function light(color) {
        let parts = color.match(/[0-9.]+/g).slice(0, 3).map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    }
    let back = light(getComputedStyle(document.body).backgroundColor);
    return Math.min(...[...document.querySelectorAll('body,h1,h2,th,td,dt,dd,.good,.bad,.dim,a,input,select,button')].map(function (one) {
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


def look(browser, url):
    """A page on wide and narrow screens, by day and by night: nothing sticks out, all can be read, nothing runs or is fetched."""
    browser.open(url)
    asked = {request["request"]["url"] for request in browser.heard("Network.requestWillBeSent")}
    assert url in asked and all(one == url or one.endswith("/favicon.ico") for one in asked), asked
    complaints = [entry["entry"]["text"] for entry in browser.heard("Log.entryAdded") if "favicon" not in entry["entry"].get("url", "")]
    assert complaints == [] and browser.heard("Runtime.exceptionThrown") == []
    assert browser.ask("document.querySelectorAll('script,img,b,iframe').length") == 0
    pictures = set()
    for width in (1400, 360):
        browser.resize(width)
        assert browser.ask("document.documentElement.scrollWidth") <= width, (url, width)
        for dark in (False, True):
            browser.dark(dark)
            assert browser.ask(CONTRAST) >= 4.5, (url, width, dark)
            pictures.add(browser.picture())
    assert len(pictures) == 4
    browser.resize(1400)
    browser.dark(False)


def test_statusz_as_people_see_it(world, browser):
    views.nodes(world, 1)
    world.cloud.fault(action="CreateVServerGroup", count=1000, code="ServiceUnavailable", http=503, message=EVIL)
    world.start_ccmd()
    world.kube.create(objects.service("evil", PORTS), objects.service("gone", PORTS, annotations={ID: "lb-missing"}))
    url = world.admin_base() + "/statusz"

    def failing():
        browser.open(url)
        rows = {row[2]: dict(zip(head, row)) for head, *rest in [browser.ask(TABLE % "Failing objects") or [[]]] for row in rest}
        return rows if {"default/evil", "default/gone"} <= set(rows) else None

    rows = world.wait(failing, "both rows", timeout=40)
    # What it is doing, what is failing, when is the next try.
    assert "Ready" in browser.ask("document.body.innerText") and "2 of 2 objects fail" in browser.ask("document.body.innerText")
    assert "change the object" in rows["default/gone"]["what that means"] and rows["default/gone"]["next try"].startswith("in ")
    assert EVIL in rows["default/evil"]["why"] and rows["default/evil"]["next try"]
    assert {row[0] for row in browser.ask(TABLE % "Plugins")[1:]} == {"clb"}
    assert {row[0] for row in browser.ask(TABLE % "Caches")[1:]} == {"services", "nodes", "endpointslices"}
    assert browser.ask("document.title") == "ccmd"
    # Its style counts, and each page can be read by everybody.
    assert browser.ask("getComputedStyle(document.querySelector('.bad, .good')).color") != browser.ask("getComputedStyle(document.body).color")
    for path in ("", "/objects", "/object?key=default%2Fevil&plugin=clb", "/quotas"):
        look(browser, url + path)
    # From page to page by links, and a search that is sent by hand.
    browser.open(url)
    assert browser.ask("[...document.querySelectorAll('a')].every(a => a.href.startsWith(location.origin + '/statusz'))")
    link = browser.ask("[...document.querySelectorAll('td a')].filter(a => a.innerText == 'default/evil')[0].href")
    browser.open(link)
    assert "Events and calls to the cloud" in browser.ask("document.body.innerText")
    browser.open(url + "/objects")
    browser.ask("document.querySelector('input[name=q]').value = 'gone'; document.querySelector('form').submit()")
    world.wait(lambda: "q=gone" in browser.ask("location.href") and browser.ask("document.readyState") == "complete", "the answer")
    text = browser.ask("document.body.innerText")
    assert "default/gone" in text and "default/evil" not in text


def test_many_services(world, browser):
    """Three hundred, most of which fail for one reason: the first page stays short, the list has pages."""
    count = 300
    views.nodes(world, 1)
    world.kube.create(*[objects.service(f"web-{n}", PORTS, annotations={ID: f"lb-missing-{n}"} if n >= 20 else {}) for n in range(count)])
    world.start_ccmd(world.write_config(plugins='{ name = "clb"; workers = 16; }', log_level="info",
                                        alicloud="quotas: { slb_write = 1000000; slb_read = 1000000; };"))
    url = world.admin_base() + "/statusz"

    def through():
        browser.open(url)
        return f"{count - 20} of {count} objects fail" in browser.ask("document.body.innerText")

    world.wait(through, "all passes", timeout=60)
    assert [row[0] for row in browser.ask(TABLE % "Failing objects")[1:]] == [str(count - 20)]
    for path in ("", "/objects", "/objects?page=3&sort=object"):
        look(browser, url + path)
    assert browser.ask("document.querySelectorAll('table tr').length") == 101
    browser.open(url)
    browser.resize(1400)
    assert browser.ask("document.documentElement.scrollHeight") < 10000
