"""/idlez says whether anything is left to do, and tests go by it instead of waiting for silence: it never says so too early."""

import json

from tests.support import objects, views


def started(world):
    views.nodes(world, 2)
    world.start_ccmd()
    world.settled()
    return world


def asked(world, horizon_ms=0):
    status, text = world.admin(f"/idlez?horizon_ms={horizon_ms}")
    answer = json.loads(text)
    assert (status == 200) == answer["idle"] and status in (200, 503), (status, text)
    return answer


def busy(world, words, horizon_ms=0):
    world.wait(lambda: not world.idle(horizon_ms) and words in world.busy, words)


def test_a_change_is_done_when_it_is_idle_again(world):
    started(world)
    for number in range(20):
        name = f"web-{number}"
        world.kube.create(objects.service(name))
        world.settled()
        assert world.kube.ingress(name) and len(world.cloud.load_balancers()) == 1, number
        assert [event[1] for event in world.kube.events(name)] == ["EnsuredLoadBalancer"], number
        world.kube.delete("Service", name)
        world.settled()
        assert world.kube.get("Service", name) is None and world.cloud.load_balancers() == [], number


def test_what_a_watch_has_not_told_yet_is_not_done(world):
    started(world)
    world.kube.watches("silence", "services")
    world.kube.create(objects.service("web"))
    busy(world, "services: at version")
    assert asked(world)["idle"]  # ccmd cannot know: it says how far it is
    world.kube.watches("drop", "services")
    world.settled()
    assert views.only_lb(world)


def test_a_call_of_the_cloud_that_takes_its_time(world):
    started(world)
    world.cloud.fault("CreateLoadBalancer", delay_ms=600000)
    world.kube.create(objects.service("web"))
    busy(world, "clb: objects are worked on")
    assert not asked(world)["idle"] and asked(world)["plugins"]["clb"]["busy"]
    world.cloud.clear_faults()
    world.settled()
    assert views.only_lb(world)


def test_an_event_that_is_not_written_yet(world):
    started(world)
    world.kube.fault("CREATE */events", delay_ms=600000)
    world.kube.create(objects.service("web"))
    world.wait(lambda: asked(world)["events"].get("busy") == "are being written", "the event")
    world.wait(lambda: "busy" not in asked(world)["plugins"]["clb"], "the Service")
    assert not world.idle()
    world.kube.clear_faults()
    world.settled()
    assert [event[1] for event in world.kube.events("web")] == ["EnsuredLoadBalancer"]


def test_what_is_tried_again_within_the_horizon(world):
    started(world)
    world.cloud.fault("CreateLoadBalancer", count=100000, http=500, code="InternalError", message="out of order")
    world.kube.create(objects.service("web"))
    busy(world, "clb: objects will be worked on soon", horizon_ms=600000)
    world.wait(lambda: world.idle(0), "a pause between two tries")
    world.cloud.clear_faults()
    world.wait(lambda: world.idle(60000), "nothing to be tried again", timeout=60)
    assert views.only_lb(world)


def test_before_it_has_begun(world):
    """A cache that cannot be filled, and a plugin that waits for it."""
    views.nodes(world, 2)
    world.kube.fault("WATCH */nodes", count=1, delay_ms=600000)
    world.start_ccmd()
    world.wait(lambda: asked(world)["caches"]["nodes"] == {"version": "", "count": 0, "busy": "is being listed"}, "the list")
    assert asked(world)["plugins"]["clb"]["busy"] == "is starting" and not world.idle()
    world.kube.clear_faults()
    world.settled()
    assert asked(world)["caches"]["nodes"]["version"]


def test_while_plugins_are_created_it_is_not_idle(world, monkeypatch):
    """The answer has no parts then: idle.c."""
    world.start_ccmd()
    world.settled()
    monkeypatch.setattr(world, "admin", lambda path, process: (503, '{"idle":false}\n'))
    assert not world.idle() and world.busy == "ccmd: plugins are created"


def test_slices_that_begin_to_matter(world):
    """They are fetched when their Service becomes one of type LoadBalancer, and dropped afterwards."""
    started(world)
    web = objects.service("web", policy="Local")
    world.kube.create(web, objects.endpoint_slice(web, [("10.1.1.1", "node-1")]))
    for kind in ("LoadBalancer", "ClusterIP", "LoadBalancer"):
        policy = {"externalTrafficPolicy": "Local" if kind == "LoadBalancer" else None}
        world.kube.patch("Service", "web", {"spec": {"type": kind, **policy}})
        world.settled()
        found = [views.backends(lb) for lb in world.cloud.load_balancers()]
        assert found == ([[["i-node-1"]]] if kind == "LoadBalancer" else []), kind


def test_who_may_ask_and_how(world, tmp_path):
    token = tmp_path / "token"
    token.write_text("let-me-in\n")
    world.config = world.write_config(extra=f'admin: {{ listen = "127.0.0.1:0"; token_file = "{token}"; }};')
    world.start_ccmd()
    assert world.admin("/idlez")[0] == 401
    world.wait(lambda: world.admin("/idlez", token="let-me-in")[0] == 200, "nothing to do")
    for wrong in ("-1", "x", "600001", ""):
        assert world.admin(f"/idlez?horizon_ms={wrong}", token="let-me-in")[0] == 400, wrong
