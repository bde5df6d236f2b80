"""What an API server does to its clients: after each fault the state converges, nothing in the cloud is lost or made
twice, and the number of lists stays small."""

import collections
import os
import re
import shutil
import ssl

import pytest

from tests.integration.test_robustness import secure_world
from tests.support import objects, views
from tests.support.world import Http, World

pytestmark = pytest.mark.time_scale(10)
PORTS = ((80, "TCP"),)
RESOURCES = ("services", "nodes", "endpointslices")
QUICK = "quotas: { slb_write = 100000; slb_read = 100000; };"
TOKEN = "first-token-of-the-test"


def begin(world, count=2):
    views.nodes(world, count)
    world.config = world.write_config(alicloud=QUICK)
    world.start_ccmd()
    world.wait(lambda: "plugin clb: started" in world.log(), "the start")


def served(world, *names):
    world.wait(lambda: all(world.kube.ingress(name) for name in names), f"addresses of {names}", timeout=40)


def listed(world):
    """Complete lists of each resource so far; a streaming one looks like a watch to the server, so ccmd is asked."""
    values = world.metrics()
    return {resource: values[f'ccmd_cache_lists_total{{kind="{resource}"}}'] for resource in RESOURCES}


def creations(world):
    return [action for action in world.cloud.actions() if action == "CreateLoadBalancer"]


def no_second(world, count):
    """So many Services, so many load balancers, each made once."""
    world.settled()
    assert len(world.cloud.load_balancers()) == count and len(creations(world)) == count


# --- watches -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("op", ["end", "drop", "truncate", "garbage", "error"])
def test_watches_that_break_all_the_time(world, op):
    """Each time in the middle of changes; they go on where they were, without a new list."""
    begin(world)
    before = listed(world)
    names = [f"web-{n}" for n in range(12)]
    for n, name in enumerate(names):
        world.kube.create(objects.service(name, PORTS))
        world.kube.watches(op, RESOURCES[n % 3])
        world.kube.watches(op, "services")
    served(world, *names)
    world.kube.create(objects.node("node-3", "i-node-3"))
    world.wait(lambda: all(len(servers) == 3 for lb in world.cloud.load_balancers() for servers in views.backends(lb)),
               "the third node everywhere", timeout=40)
    for name in names[6:]:
        world.kube.delete("Service", name)
        world.kube.watches(op, "services")
    world.wait(lambda: len(world.cloud.load_balancers()) == 6, "deletion", timeout=40)
    world.settled()
    assert len(creations(world)) == len(names)
    again = {resource: listed(world)[resource] - before[resource] for resource in RESOURCES}
    assert all(count <= (0 if op in ("end", "drop", "truncate") else 12) for count in again.values()), again


def test_410_for_every_watch_for_a_while(world):
    """No watch can go on, each ends in a new list that works; they come further and further apart."""
    begin(world)
    world.kube.create(objects.service("web", PORTS))
    served(world, "web")
    since = world.kube.mark()
    rule = world.kube.fault(action="WATCH *", count=6, http=410)
    for resource in RESOURCES:
        world.kube.watches("drop", resource)
    world.kube.create(objects.service("other", PORTS))
    world.wait(lambda: [call for call in world.kube.calls(since) if call["http"] == 410], "the first 410")
    served(world, "other")
    world.kube.clear_faults()
    world.kube.create(objects.service("third", PORTS))
    served(world, "third")
    no_second(world, 3)
    asked = [a for a in world.kube.actions(since) if a.startswith(("WATCH ", "LIST "))]
    assert rule and len(asked) < 80, asked


def test_history_is_gone(world):
    """410 once, after which the lists bring what was missed: also what is no more."""
    begin(world)
    world.kube.create(*[objects.service(f"web-{n}", PORTS) for n in range(4)])
    served(world, *[f"web-{n}" for n in range(4)])
    before = listed(world)
    world.kube.fault(action="WATCH *", count=6, http=503)
    for resource in RESOURCES:
        world.kube.watches("drop", resource)
    world.kube.delete("Service", "web-0")
    world.kube.create(objects.service("web-4", PORTS))
    for resource in RESOURCES:
        world.kube.watches("expire", resource)
    world.kube.clear_faults()
    served(world, "web-4")
    world.wait(lambda: len(world.cloud.load_balancers()) == 4, "the deletion that nobody told")
    world.settled()
    assert len(creations(world)) == 5
    assert all(listed(world)[resource] - before[resource] <= 2 for resource in RESOURCES)


def test_bookmarks_outlive_history(build, tmp_path):
    """Where nothing happens bookmarks tell how far the server is. When it has forgotten what was before, a watch that breaks goes
    on from there, without a list."""
    with World(build, tmp_path, kube_args=["--bookmark-ms", "200"]) as world:
        begin(world)
        world.kube.create(objects.service("web", PORTS))
        served(world, "web")
        world.settled()
        for n in range(20):
            world.kube.patch("Node", "node-1", {"metadata": {"annotations": {"n": str(n)}}})
        before, events = listed(world), heard(world)
        world.wait(lambda: all(heard(world)[r] > events[r] + 1 for r in RESOURCES), "bookmarks with the latest version")
        world.kube.watches("compact")
        since = world.kube.mark()
        for resource in RESOURCES:
            world.kube.watches("drop", resource)
        world.kube.create(objects.service("other", PORTS))
        served(world, "other")
        world.wait(lambda: len([a for a in world.kube.actions(since) if a.startswith("WATCH ")]) >= len(RESOURCES), "new watches")
        assert listed(world) == before and not [c for c in world.kube.calls(since) if c["http"] == 410]


@pytest.mark.parametrize("size", [0, 300, 900])
def test_streaming_lists_that_are_cut(world, size):
    """Nothing of half a list is believed, and the next one is complete."""
    views.nodes(world, 1)
    world.kube.create(*[objects.service(f"web-{n}", PORTS) for n in range(3)])
    world.kube.fault(action="WATCH *", count=6, truncate=size)
    world.start_ccmd()
    served(world, "web-0", "web-1", "web-2")
    no_second(world, 3)
    assert len([a for a in world.kube.actions() if a.startswith(("WATCH ", "LIST "))]) < 30


def test_a_watch_that_is_silent(world):
    """Not even bookmarks come: after 90 s ccmd does not wait any longer, and goes on where it was."""
    begin(world)
    before = listed(world)
    world.kube.watches("silence", "services")
    world.kube.create(objects.service("web", PORTS))
    world.wait(lambda: world.kube.ingress("web"), "the address", timeout=110)
    no_second(world, 1)
    assert listed(world) == before


def patches_of_services(world, since):
    calls = [call for call in world.kube.calls(since) if call["method"] == "PATCH" and "/services/" in call["path"]]
    return collections.Counter(call["path"] for call in calls)


def test_what_a_silent_watch_does_not_show_is_written_once(world):
    """Passes go on while the watch of Services says nothing, so no cache learns of a write from it: one PATCH for the finalizer and
    one for the status of each Service, however many passes there are."""
    begin(world)
    bodies = [objects.service(f"web-{n:02}", PORTS, policy="Local") for n in range(60)]
    slices = [objects.endpoint_slice(body, [("10.1.0.1", "node-1")]) for body in bodies]
    names = [body["metadata"]["name"] for body in bodies]
    world.kube.create(*slices)
    since = world.kube.mark()
    world.kube.fault(action="PATCH /api/v1/namespaces/default/services/*", count=100000, delay_ms=1000)
    world.kube.create(*bodies)
    world.wait(lambda: world.metrics()['ccmd_cache_objects{kind="services"}'] >= len(bodies), "the Services in the cache")
    world.kube.watches("silence", "services")
    known = world.metrics()['ccmd_cache_watch_events_total{kind="services"}']
    world.kube.clear_faults()
    served(world, *names)
    for count in (2, 1, 2):  # passes for another reason
        for body in bodies:
            world.kube.replace(objects.endpoint_slice(body, [("10.1.0.1", "node-1"), ("10.1.0.2", "node-2")][:count]))
        world.wait(lambda: all(len(servers) == count for lb in world.cloud.load_balancers() for servers in views.backends(lb)),
                   f"{count} backends everywhere", timeout=40)
    assert world.metrics()['ccmd_cache_watch_events_total{kind="services"}'] == known, "the watch has ended"
    services = [f"/api/v1/namespaces/default/services/{name}" for name in names]
    wanted = {path: 1 for service in services for path in (service, service + "/status")}
    assert patches_of_services(world, since) == wanted
    world.kube.watches("drop", "services")
    no_second(world, len(names))  # the next watch has shown all
    assert patches_of_services(world, since) == wanted


# --- lists -------------------------------------------------------------------------------------------------------------


def test_no_streaming_lists_pages_and_a_token_that_expires(build, tmp_path):
    """Kubernetes 1.21: sendInitialEvents is refused, lists come in pages, and a page can be too late."""
    with World(build, tmp_path, kube_args=["--no-streaming-list"]) as world:
        views.nodes(world, 2)
        world.kube.create(*[dict(objects.service(f"quiet-{n}", PORTS), spec={"type": "ClusterIP", "ports": [{"port": 80}]})
                            for n in range(1100)])
        world.kube.create(objects.service("web", PORTS))
        world.kube.fault(action="LIST */services", nth=2, count=1, delay_ms=600000)
        world.config = world.write_config(alicloud=QUICK)
        world.start_ccmd()
        pages = lambda: [c for c in world.kube.calls() if c["action"].startswith("LIST ") and c["action"].endswith("/services")]
        world.wait(lambda: len(pages()) >= 2, "the second page")
        world.kube.watches("expire", "services")
        world.kube.clear_faults()
        served(world, "web")
        assert any(call["http"] == 410 for call in pages()), pages()
        assert len(pages()) <= 8, pages()
        world.kube.create(objects.service("other", PORTS))
        served(world, "other")
        no_second(world, 2)
        assert len(pages()) <= 8, pages()


LACKS_PROGRESS = ('{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal '
                  'error occurred: the required storage feature RequestWatchProgress is disabled","reason":"InternalError",'
                  '"code":500}}\n')


@pytest.mark.parametrize("effect", [{"http": 200, "body": LACKS_PROGRESS}, {"code": "InternalError", "http": 500},
                                    {"http": 200, "body": "{}"}], ids=["error event", "status", "no events"])
def test_a_server_that_accepts_streaming_lists_and_cannot_give_them(world, effect):
    """An API server on an etcd of version 3.4 answers 200 and one ERROR event, each time: pages follow the first."""
    world.kube.fault(action="WATCH *", params={"sendInitialEvents": "true"}, count=1000, **effect)
    begin(world)
    world.kube.create(objects.service("web", PORTS))
    served(world, "web")
    streamed = [c["path"] for c in world.kube.calls() if c["params"].get("sendInitialEvents") == "true"]
    assert len(streamed) == len(set(streamed)), streamed
    no_second(world, 1)


# --- another server ----------------------------------------------------------------------------------------------------


def fill(world, versions=60):
    """After restart_kubesim(): nodes, versions beyond those that ccmd knows, and 410 for whoever asks for these."""
    views.nodes(world, 2)
    for n in range(versions):
        world.kube.patch("Node", "node-1", {"metadata": {"annotations": {"n": str(n)}}})
    for resource in RESOURCES:
        world.wait(lambda r=resource: world.kube.state()["watches"][r], "a watch", timeout=60)
        world.kube.watches("expire", resource)


def test_restart_with_other_versions(world):
    """A new server with none of the objects, that counts versions anew: nothing in the cloud goes because of it."""
    begin(world)
    world.kube.create(objects.service("web", PORTS))
    served(world, "web")
    since_log = listed(world)
    calls = world.cloud.mark()
    world.restart_kubesim()
    fill(world)
    world.kube.create(objects.service("other", PORTS))
    served(world, "other")
    world.settled()
    deleted = [a for a in world.cloud.actions(calls) if a.startswith(("Delete", "Remove", "Stop"))]
    assert deleted == [] and len(world.cloud.load_balancers()) == 2 and len(creations(world)) == 2
    assert all(listed(world)[resource] - since_log[resource] <= 4 for resource in RESOURCES), listed(world)


def heard(world):
    values = world.metrics()
    return {resource: values[f'ccmd_cache_watch_events_total{{kind="{resource}"}}'] for resource in RESOURCES}


def test_restored_from_a_backup(build, tmp_path):
    """The versions of the server are lower than before. A watch from a version that it has not reached would be silent and
    no error; ccmd notices after the broken connection and lists again: once, or
    once more when all caches have found the new server."""
    with World(build, tmp_path, kube_args=["--bookmark-ms", "200"]) as world:
        begin(world)
        world.kube.create(objects.service("web", PORTS))
        served(world, "web")
        for n in range(300):
            world.kube.patch("Node", "node-1", {"metadata": {"annotations": {"n": str(n)}}})
        before, calls, events = listed(world), world.cloud.mark(), heard(world)
        world.wait(lambda: all(heard(world)[r] > events[r] + 1 for r in RESOURCES), "bookmarks with the latest version")
        world.restart_kubesim()
        views.nodes(world, 2)
        world.kube.create(objects.service("other", PORTS))
        served(world, "other")
        world.wait(lambda: all(listed(world)[r] > before[r] for r in RESOURCES), "a list of each kind")
        world.settled()
        # A cache whose list began before another cache found the new server cannot know which of the two answered it.
        assert {listed(world)[r] - before[r] for r in RESOURCES} <= {1, 2}
        for resource in RESOURCES:
            said = re.findall(rf"warn +reflector: {resource}: listing again: (.*)", world.log())
            assert len(said) == 1 and re.fullmatch(
                r"the API server is at version \d+ and was at \d+ before: it was replaced, or restored from a backup", said[0]), said
        deleted = [a for a in world.cloud.actions(calls) if a.startswith(("Delete", "Remove", "Stop"))]
        assert deleted == [] and len(world.cloud.load_balancers()) == 2 and len(creations(world)) == 2


def test_a_broken_connection_is_no_other_server(world):
    """One small question per broken watch, no list."""
    begin(world)
    before, since = listed(world), world.kube.mark()
    for n in range(5):
        world.kube.watches("drop", "services")
        world.kube.create(objects.service(f"web-{n}", PORTS))
        served(world, f"web-{n}")
    assert listed(world) == before
    asked = [call for call in world.kube.calls(since) if call["action"].startswith("LIST ")]
    assert len(asked) <= 5 and "restored from a backup" not in world.log(), asked


# --- tokens and certificates -------------------------------------------------------------------------------------------


def test_the_token_file_rotates(build, tmp_path):
    """The old one is refused before ccmd would have looked at the file again: 401 makes it look at once."""
    with secure_world(build, str(tmp_path), TOKEN) as world:
        world.use_token_file(TOKEN, os.path.join(world.tls, "ca.crt"))
        views.nodes(world, 1)
        world.start_ccmd()
        world.kube.create(objects.service("web", PORTS))
        served(world, "web")
        for versions, token in ((60, "second-token-of-the-test"), (160, "third-token-of-the-test")):
            with open(world.server_token, "w", encoding="utf-8") as file:
                file.write(token)
            world.write_token(token)
            world.kube.http.token = token
            world.restart_kubesim()
            fill(world, versions)
            name = token.split("-", maxsplit=1)[0]
            world.kube.create(objects.service(name, PORTS))
            served(world, name)
        no_second(world, 3)
        refused = [call for call in world.kube.calls() if call["http"] == 401]
        assert len(refused) <= 24, refused
        assert "token-of-the-test" not in world.log()


def test_another_authority(build, tmp_path):
    """The server comes back with a certificate of a new CA; the file of the CA follows a little later."""
    with secure_world(build, str(tmp_path), TOKEN) as world:
        trusted = str(tmp_path / "trusted.crt")
        shutil.copy(os.path.join(world.tls, "ca.crt"), trusted)
        world.use_token_file(TOKEN, trusted)
        views.nodes(world, 1)
        world.start_ccmd()
        world.kube.create(objects.service("web", PORTS))
        served(world, "web")
        shutil.rmtree(world.tls)
        os.makedirs(world.tls)
        world.restart_kubesim()
        authority = os.path.join(world.tls, "ca.crt")
        world.kube.http = Http(world.kube.base, ssl.create_default_context(cafile=authority), TOKEN)
        world.wait(lambda: f"is not trusted: it is not signed by an authority in {trusted} (" in world.log(), "the complaint")
        # A server that is killed in the middle of a handshake is told as such, see test-http-tls.c.
        assert "TLS cannot be agreed upon" not in world.log()
        assert [call for call in world.kube.calls() if call["action"].startswith(("WATCH ", "LIST "))] == []
        shutil.copy(authority, trusted + ".new")
        os.rename(trusted + ".new", trusted)
        fill(world)
        world.kube.create(objects.service("other", PORTS))
        served(world, "other")
        world.settled()
        assert len(world.cloud.load_balancers()) == 2 and len(creations(world)) == 2


def test_a_kubeconfig_that_changes_is_told(world):
    begin(world)
    with open(world.kubeconfig, "a", encoding="utf-8") as file:
        file.write("# another one\n")
    world.wait(lambda: f"{world.kubeconfig}: the kubeconfig has changed, this needs a restart" in world.log(), "the line")
    world.kube.create(objects.service("web", PORTS))
    served(world, "web")
    assert world.log().count("the kubeconfig has changed") == 1
