"""Runs one case of a scenario file: world, steps, expectations."""

import collections
import os
import re
import time

from . import objects, proc, service_hash
from . import scenario_look as look
from .scenario import ScenarioError, ScenarioFailure, ScenarioLate
from .products import PRODUCTS, Clb, default_name
from .world import ACCESS_KEY, ACCESS_SECRET, CLUSTER_ID, SELDOM_S, World

PATIENCE_S = 1.3 * proc.SLOW
LIMIT_S = 20 * proc.SLOW
RETRY_S = 12  # what waits for an operator is tried again after 15 s at the earliest; calls are counted before
VARIABLE = re.compile(r"\$\(([^()]+)\)")
PORT = re.compile(r"^(?:(?P<name>[a-z0-9-]+)=)?(?P<port>[0-9]+)(?::(?P<target>[a-z0-9-]+))?(?:/(?P<protocol>tcp|udp))?$")
ENDPOINT = re.compile(r"^(?P<address>[0-9a-f.:]+)(?:@(?P<node>\S+))?(?P<flags>(?: \S+)*)$")
NODE_PORT_FIRST, NODE_PORT_COUNT = 30000, 2768


def node_port(port):
    """The node port that scenarios give to a port: 80 -> 30080."""
    return NODE_PORT_FIRST + port % NODE_PORT_COUNT


class Runner:
    patience_s = PATIENCE_S
    poll_s = 0.01
    at_once = 1  # so many cases are played at the same time
    counts_start = False  # "given.expect" speaks of all since ccmd started, not of what comes behind its start
    watched = ("services", "nodes", "endpointslices")

    def __init__(self, case, build, folder):
        self.case = case
        self.product = PRODUCTS.get(case.kind, Clb)(self._call)
        self.build = build
        self.folder = str(folder)
        self.where = "given"
        self.world = None
        self.variables = {"cluster": CLUSTER_ID}
        self.lbs = {}  # name in the scenario -> id
        self.services = {}  # name -> object as last applied
        self.endpoints = {}  # name of slice -> (service, items)
        self.created = set()  # kind/name
        self.own_writes = []  # what we asked the API server to change since the mark
        self.cloud_mark = 0
        self.kube_mark = 0
        self.event_mark = {}
        self.marked = 0.0  # when the step began
        self.kube_state = {}

    # --- one case ---

    def run(self):
        __tracebackhide__ = True
        given = self.case.given
        arguments = [f"--limit={name}={value}" for name, value in (given.get("limits") or {}).items()]
        if "job_ms" in given:
            arguments.append(f"--job-ms={given['job_ms']}")
        with self._world(arguments) as self.world:
            self._count_own_writes()
            self._set_up(given)
            for number, step in enumerate(self.case.steps):
                self.where = f"steps[{number}]" + (f" ({step['title']})" if "title" in step else "")
                self._mark()
                (self._act_together if step.get("together") else self._act)(step)
                self._expect(step.get("expect") or {}, step.get("within"))
            if self.world.ccmd is not None:
                self.world.stop_ccmd()

    def _world(self, arguments):
        return World(self.build, self.folder, cloud_args=arguments, kube_args=["--dual-stack"] if self.case.given.get("dual_stack") else [])

    def _error(self, key, problem):
        raise ScenarioError(f"{self.case.path}: {self.where}.{key}: {problem}")

    def _count_own_writes(self):
        http = self.world.kube.http
        request = http.request

        def counted(method, path, *args, **kwargs):
            if method != "GET" and not path.startswith("/_sim"):
                self.own_writes.append(f"{method} {path}")
            return request(method, path, *args, **kwargs)

        http.request = counted

    def _set_up(self, given):
        self._configure(given)
        for handle, lb in (given.get("lbs") or {}).items():
            self._make_lb(handle, lb or {})
        nodes = given.get("nodes", 3)
        if isinstance(nodes, int):
            nodes = {f"node-{n}": {} for n in range(1, nodes + 1)}
        for name, options in {**nodes, **(given.get("node") or {})}.items():
            self._node(name, options or {})
        early = {key: given[key] for key in ("edits", "pods", "faults") if key in given}
        self._act(early)
        for body in given.get("before") or []:
            self._create(self._fill(body))
        if self.counts_start:
            self._mark()
        if given.get("ccmd") != "stopped":
            self._start()
        if not self.counts_start:
            self._mark()
        late = {key: given[key] for key in ("service", "services", "endpoints") if key in given}
        self._act(late)
        expect = given.get("expect")
        if expect is None:
            expect = {"ok": True} if "service" in given and given.get("ccmd") != "stopped" else {}
        self._expect({"warnings": given.get("warnings"), **expect} if "warnings" in given else expect)

    def _configure(self, given):
        def lines(options):
            return " ".join(f"{key} = {self._setting(value)};" for key, value in (options or {}).items())

        fixtures = given.get("cloud")
        if fixtures:
            self.world.cloud.http.request("POST", "/_sim/instances", self._expanded(fixtures))
        plugins = [f'{{ name = "{self.product.name}"; workers = 4; {lines(given.get("options"))} }}']
        plugins += [f'{{ name = "{name}"; }}' for name in given.get("plugins") or []]
        self.world.config = self.world.write_config(plugins=", ".join(plugins), alicloud=lines(given.get("alicloud")))

    @staticmethod
    def _expanded(fixtures):
        """Ranges of addresses in "ips" and "ipv6" of network interfaces."""
        if "enis" not in fixtures:
            return fixtures
        enis = [{**eni, **{k: look.expand(eni[k]) for k in ("ips", "ipv6") if k in eni}} for eni in fixtures["enis"]]
        return {**fixtures, "enis": enis}

    def _setting(self, value):
        if isinstance(value, dict):
            return "{ " + " ".join(f"{k} = {self._setting(v)};" for k, v in value.items()) + " }"
        if isinstance(value, list):
            return "[ " + ", ".join(self._setting(item) for item in value) + " ]"
        return f'"{value}"' if isinstance(value, str) else look.text_of(value)

    def _start(self):
        since = self.world.kube.mark()
        self.world.start_ccmd()

        def watching():
            seen = self.world.kube.actions(since)
            return all(any(a.startswith("WATCH") and kind in a for a in seen)
                       for kind in self.watched)

        self.world.wait(watching, "the watches of ccmd")

    # --- variables ---

    def _variable(self, name):
        if name in self.variables:
            return self.variables[name]
        head, _, rest = name.partition(".")
        if head in self.lbs and rest:
            group = self._group_of_lb(self.lbs[head], rest)
            if group is not None:
                return group
        if head in self.lbs and not rest:
            return self.lbs[head]
        if head == "group" and rest.isdigit():
            self._look()
            lb = self._lb_of("web") or self._error(f"$({name})", "there is no load balancer")
            return self._group_of_lb(lb["LoadBalancerId"], self._group_name("web", int(rest))) or ""
        if head == "listener":
            lb = self._lb_of("web") or self._error(f"$({name})", "there is no load balancer")
            return next(one for one in lb["Listeners"] if one["key"].startswith(rest + "/"))["ListenerId"]
        if head == "port" and rest.isdigit():
            return node_port(int(rest))
        if head == "guard":
            self._look()
            live = self._object("Service", rest or "web") or self.services[rest or "web"]
            return self.product.guard_id(self.world.cloud.state(), live) or ""
        if head in ("lb", "ip", "uid", "name"):
            return self._of_service(head, rest or "web")
        return self._error(f"$({name})", "no such variable")

    def _load_balancers(self):
        self._look()
        owners = {}
        for service in self.kube_state["services"]:
            used = service["metadata"].get("annotations", {}).get(look.PREFIX + "id")
            owners.setdefault(used, set()).add(default_name(service["metadata"]["uid"]))
        return self.product.load_balancers(self.world.cloud.state(), owners)

    def _group_of_lb(self, lb_id, name):
        for lb in self._load_balancers():
            if lb["LoadBalancerId"] == lb_id:
                for group in lb["Groups"]:
                    if group["name"] == name:
                        return group["id"]
        return None

    def _of_service(self, what, service):
        self._look()
        live = self._object("Service", service) or self.services.get(service) or {}
        uid = live.get("metadata", {}).get("uid", "")
        if what in ("uid", "name"):
            return uid if what == "uid" else default_name(uid)
        lb = self._lb_of(service)
        if lb is None:
            return ""
        return lb["LoadBalancerId"] if what == "lb" else next(iter(self.product.status(lb).values()))

    def _fill(self, value):
        """The value with its variables replaced."""
        if isinstance(value, dict):
            return {self._fill(k): self._fill(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self._fill(item) for item in value]
        if isinstance(value, str):
            return VARIABLE.sub(lambda m: look.text_of(self._variable(m.group(1))), value)
        return value

    # --- actions ---

    def _act(self, step):
        """The actions of a step, in the order they are written."""
        for key, value in step.items():
            value = value if key in ("title", "expect", "edits") else self._fill(value)
            if key == "service":
                self._service(value)
            elif key == "services":
                for name, body in value.items():
                    self._service({"name": name, **(body or {})})
            elif key == "endpoints":
                self._endpoints(value)
            elif key in ("node", "nodes"):
                for name, options in value.items():
                    self._node(name, options or {})
            elif key in ("pod", "pods"):
                for name, options in value.items():
                    self._pod(name, options or {})
            elif key == "delete":
                for item in [value] if isinstance(value, str) else value:
                    kind, _, name = item.partition("/")
                    self.world.kube.delete(kind, name)
                    if kind == "EndpointSlice":  # a change of its Service does not bring it back
                        self.endpoints.pop(name.removesuffix("-1"), None)
                        self.created.discard("EndpointSlice/" + name.removesuffix("-1"))
            elif key == "edits":
                for edit in value:
                    self._edit(self._fill(edit))  # it may name what the one before has made
            elif key == "cloud":
                self.world.cloud.http.request("POST", "/_sim/instances", self._expanded(value))
            elif key == "call":
                for action, params in value.items():
                    self._call(action, params or {})
            elif key == "faults":
                self._faults(value)
            elif key == "options":
                given = {**self.case.given, "cloud": None}
                self._configure({**given, "options": {**(given.get("options") or {}), **value}})
            elif key == "ccmd":
                self._ccmd(value)
            elif key == "watch":
                for resource, op in value.items():
                    self.world.kube.watches(op, resource)
            elif key == "await":
                self.world.wait(lambda action=value: action in self.world.cloud.actions(self.cloud_mark), f"the call {value}")
            elif key == "create":
                for body in value:
                    self._create(body)
            elif key == "patch":
                for target, body in value.items():
                    self._patch(target, body)

    def _act_together(self, step):
        """ccmd sees what they all led to, nothing in between."""
        with self.world.ccmd.paused():
            self._act(step)

    def _patch(self, target, body):
        kind, name, *rest = target.split("/")
        self.world.kube.patch(kind, name, body, subresource=rest[0] if rest else None)

    def _create(self, body):
        if body.get("kind") == "Service":
            self.services[body["metadata"]["name"]] = body
            self.created.add("Service/" + body["metadata"]["name"])
        self.world.kube.create(body)

    def _dry_run(self):
        """To its end; it must find something to do, and nothing that fails."""
        environment = {"ACCESS_KEY_ID": ACCESS_KEY, "ACCESS_KEY_SECRET": ACCESS_SECRET}
        code, out, err = proc.run([self.world.binary("ccmd"), "plan", "--config", self.world.config],
                                  env=environment, timeout=20)
        if code != 3 or not re.search(r"^[1-9]\d* to change, \d+ as they should be, 0 failed$", out, re.M):
            raise ScenarioFailure(f"{self._place()}: the dry run ended with {code}\n{out}{err[-2000:]}")

    def _ccmd(self, what):
        if what == "dry-run":
            self._dry_run()
            return
        actions = {"restart": ("stop", "start"), "stop": ("stop",), "start": ("start",), "kill": ("kill",)}.get(what)
        if actions is None:
            self._error("ccmd", f"{what!r} is not restart, stop, start, kill or dry-run")
        for action in actions:
            {"stop": self.world.stop_ccmd, "start": self._start, "kill": self.world.kill_ccmd}[action]()

    def _faults(self, faults):
        if faults == "none":
            self.world.cloud.clear_faults()
            self.world.kube.clear_faults()
            return
        for fault in faults:
            kube = fault.pop("on", "cloud") == "kube"
            (self.world.kube if kube else self.world.cloud).http.request("POST", "/_sim/faults", fault)

    def _edit(self, edit):
        edit = dict(edit)
        op, handle = edit.pop("op"), edit.pop("as", None)
        answer = self.world.cloud.edit(op, **edit)
        if op == "call" and answer["http"] >= 400:
            self._error("edits", f"{edit}: {answer}")
        if handle is not None:
            self.variables.update({f"{handle}.{key}": value for key, value in answer["answer"].items()})

    def _call(self, action, params, product=None):
        product = product or self.product.product
        params = {key: look.text_of(value) for key, value in params.items()}
        answer = self.world.cloud.edit("call", product=product, action=action, params=params)
        if answer["http"] >= 400:
            self._error("call", f"{action} {params}: {answer['code']} {answer['message']}")
        return answer["answer"]

    # --- what exists before ---

    def _make_lb(self, handle, lb):
        attributes = {key: value for key, value in lb.items() if key not in look_keys()}
        lb_id, address = self.product.make_lb(handle, attributes, lb.get("tags") or {})
        self.lbs[handle] = lb_id
        self.variables[handle + ".ip"] = address
        for name, servers in (lb.get("groups") or {}).items():
            self.product.make_group(lb_id, name, [look.BACKEND.match(text) for text in servers or []])
        for key, options in (lb.get("listeners") or {}).items():
            options = dict(options or {})
            group = options.pop("group", None)
            if group is not None:
                group = self._group_of_lb(lb_id, group) or self._error("listeners", f"no group {group}")
            self.product.make_listener(lb_id, key, group, options)

    # --- Kubernetes objects ---

    def _node(self, name, options):
        options = dict(options)
        body = objects.node(name, options.pop("instance", "i-" + name), **{
            key: options.pop(key) for key in ("ready", "labels", "unschedulable", "taints") if key in options})
        spec = options.pop("spec", {})
        body["spec"].update(spec)
        if "address" in options:
            body["status"]["addresses"] = [{"type": "InternalIP", "address": options.pop("address")}]
        if "conditions" in options:
            body["status"]["conditions"] += options.pop("conditions")
        if "annotations" in options:
            body["metadata"]["annotations"] = options.pop("annotations")
        if options:
            self._error("node", f"unknown: {', '.join(options)}")
        if "Node/" + name not in self.created:
            self.created.add("Node/" + name)
            self.world.kube.create(body)
            return
        kept = self.world.kube.get("Node", name)
        gone = {key: None for key in kept["metadata"].get("labels", {}) if key not in body["metadata"]["labels"]}
        body["metadata"]["labels"].update(gone)
        body["spec"].setdefault("unschedulable", None)
        body["spec"].setdefault("taints", None)
        if {**kept["spec"], **body["spec"]} != kept["spec"] or kept["metadata"].get("labels") != body["metadata"]["labels"]:
            self.world.kube.patch("Node", name, {"metadata": body["metadata"], "spec": body["spec"]})
        self.world.kube.patch("Node", name, {"status": body["status"]}, subresource="status")

    def _pod(self, name, options):
        """gates: names of Services; ready: condition ContainersReady."""
        unknown = set(options) - {"gates", "ready", "ip"}
        if unknown:
            self._error("pod", f"unknown: {', '.join(unknown)}")
        ready = "True" if options.get("ready", True) else "False"
        gates = [{"conditionType": "service.readiness.alibabacloud.com/" + gate} for gate in options.get("gates", [])]
        conditions = [{"type": "ContainersReady", "status": ready}]
        if "Pod/" + name not in self.created:
            self.created.add("Pod/" + name)
            self.world.kube.create({
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "default"},
                "spec": {"nodeName": "node-1", "readinessGates": gates,
                         "containers": [{"name": "main", "image": "registry.invalid/main"}]}})
        self.world.kube.patch("Pod", name, {"status": {"conditions": conditions}}, subresource="status")

    def _port(self, item, service):
        if isinstance(item, dict):
            return item
        found = PORT.match(look.text_of(item)) or self._error("ports", f"{item!r} is not [NAME=]PORT[:TARGET][/tcp|/udp]")
        port, protocol = int(found["port"]), (found["protocol"] or "tcp").upper()
        target = found["target"] or str(port + 8000)
        body = {
            "name": found["name"] or f"{protocol.lower()}-{port}",
            "port": port,
            "protocol": protocol,
            "targetPort": int(target) if target.isdigit() else target,
        }
        if service == "web":  # the others get theirs from the API server
            body["nodePort"] = node_port(port)
        return body

    @staticmethod
    def _annotations(short):
        return {key if "/" in key else look.ALIASES.get(key, look.PREFIX + key): None if value is None else look.text_of(value)
                for key, value in (short or {}).items()}

    def _service(self, body):
        body = dict(body)
        name = body.pop("name", "web")
        metadata = {**body.pop("metadata", {}), "annotations": self._annotations(body.pop("annotations", {}))}
        if "Service/" + name not in self.created or body.get("type") == "LoadBalancer":
            self.product.service(body, metadata["annotations"])
        for key in ("labels", "finalizers"):
            if key in body:
                metadata[key] = body.pop(key)
        if "policy" in body:
            body["externalTrafficPolicy"] = body.pop("policy")
        if "ports" in body:
            body["ports"] = [self._port(item, name) for item in body["ports"]]
        if "Service/" + name not in self.created:
            self._create_service(name, metadata, body)
        else:
            self.world.kube.patch("Service", name, {"metadata": metadata, "spec": body})
        live = self.world.kube.get("Service", name)
        if live is not None:
            self.services[name] = live
            self._refresh_slices(name)

    def _create_service(self, name, metadata, spec):
        self.created.add("Service/" + name)
        metadata["annotations"] = {k: v for k, v in metadata["annotations"].items() if v is not None}
        spec = {"type": "LoadBalancer", "selector": {"app": name}, "ports": [self._port("80", name)], **spec}
        if spec["type"] == "LoadBalancer":
            spec.setdefault("externalTrafficPolicy", "Cluster")
        if spec["type"] == "ClusterIP":
            spec["ports"] = [{k: v for k, v in port.items() if k != "nodePort"} for port in spec["ports"]]
        spec = {k: v for k, v in spec.items() if v is not None}
        self.world.kube.create({"apiVersion": "v1", "kind": "Service",
                                "metadata": {"name": name, "namespace": "default", **metadata}, "spec": spec})

    def _endpoints(self, value):
        """A list for the Service web, or per slice: a list, or a mapping with "service", "items" and other members."""
        if isinstance(value, list):
            value = {"web": value}
        for key, what in value.items():
            what = {"service": key, "items": what} if isinstance(what, list) else dict(what)
            self.endpoints[key] = what
            self._slice(key, what)

    def _refresh_slices(self, service):
        for key, what in self.endpoints.items():
            if what.get("service", key) == service and "ports" not in what:
                self._slice(key, what)

    def _slice(self, key, what):
        service = self.services.get(what.get("service", key), {"spec": {"ports": []}})
        ports = what.get("ports")
        if ports is None:
            ports = [{"name": p["name"], "protocol": p["protocol"],
                      "port": p["targetPort"] if isinstance(p["targetPort"], int) else 8080}
                     for p in service["spec"]["ports"]]
        body = {
            "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
            "metadata": {"name": key + "-1", "namespace": "default",
                         "labels": {"kubernetes.io/service-name": what.get("service", key), **what.get("labels", {})}},
            "addressType": what.get("addressType", "IPv4"),
            "endpoints": [self._endpoint(item) for item in look.expand(what["items"])],
            "ports": ports,
        }
        if what.get("no-service"):
            del body["metadata"]["labels"]["kubernetes.io/service-name"]
        name = "EndpointSlice/" + key
        if name not in self.created:
            self.created.add(name)
            self.world.kube.create(body)
            return
        kept = self.world.kube.get("EndpointSlice", key + "-1")
        if any(kept.get(k) != body[k] for k in ("endpoints", "ports")) or kept["metadata"].get("labels") != (
                body["metadata"]["labels"]):
            self.world.kube.replace(body)

    def _endpoint(self, text):
        """ADDRESS[@NODE] with the flags notready, unknown (no ready condition), terminating, pod=NAME, nopod."""
        found = ENDPOINT.match(text) or self._error("endpoints", f"{text!r} is not ADDRESS[@NODE] [FLAG...]")
        flags = found["flags"].split()
        pod = next((flag[4:] for flag in flags if flag.startswith("pod=")), "pod-" + re.sub("[.:]+", "-", found["address"]))
        unknown = [f for f in flags if f not in ("notready", "unknown", "terminating", "nopod") and not f.startswith("pod=")]
        if unknown:
            self._error("endpoints", f"unknown: {unknown}")
        conditions = {} if "unknown" in flags else {"ready": "notready" not in flags and "terminating" not in flags}
        if "terminating" in flags:
            conditions.update({"terminating": True, "serving": True})
        body = {"addresses": [found["address"]], "conditions": conditions}
        if found["node"]:
            body["nodeName"] = found["node"]
        if "nopod" not in flags:
            live = self.world.kube.get("Pod", pod) or {}
            uid = live.get("metadata", {}).get("uid")
            body["targetRef"] = {"kind": "Pod", "name": pod, "namespace": "default", **({"uid": uid} if uid else {})}
        return body

    # --- expectations ---

    def _look(self):
        """Read the API server without a trace in its log of calls."""
        self.kube_state = self.world.kube.state()

    def _object(self, kind, name):
        for item in self.kube_state[kind.lower() + "s"]:
            if item["metadata"]["name"] == name and item["metadata"].get("namespace", "default") == "default":
                return item
        return None

    def _events(self):
        """How often each was told; one that says the same after a restart is another object."""
        found = collections.Counter()
        for event in self.kube_state["events"]:
            key = (event["involvedObject"]["name"], event["type"], event["reason"], event["message"])
            found[key] += event.get("count", 1)
        return found

    def _mark(self):
        self._look()
        self.cloud_mark = self.world.cloud.mark()
        self.kube_mark = self.world.kube.mark()
        self.event_mark = self._events()
        self.marked = time.monotonic()
        self.own_writes.clear()

    def _expect(self, expect, within=None):
        """Until it holds when the world is idle; one that differs and in which nothing happens has failed."""
        __tracebackhide__ = True
        patience = self.patience_s if within is None else within * proc.SLOW
        began = changed = time.monotonic()
        deadline = began + LIMIT_S + patience
        previous = None
        lines = []
        while True:
            if self.world.ccmd is not None and not self.world.ccmd.alive():
                raise ScenarioFailure(f"{self._place()}: ccmd ended\n{self.world.log()[-3000:]}")
            idle = self._is_idle()
            if idle:
                self._look()
                lines = self._differences(expect)
                if not lines:
                    return
            current, now = self._pulse() if idle else None, time.monotonic()
            if current is None or current != previous:  # what is busy changes
                previous, changed = current, now
            if now > deadline or (idle and now - changed > patience):
                break
            time.sleep(max(self.poll_s, min((now - began) / 10, SELDOM_S)))
        self._look()  # for the story
        lines = lines or [f"it does not come to rest: {self.world.busy}"]
        late = time.monotonic() - self.marked > RETRY_S
        raise (ScenarioLate if late else ScenarioFailure)(f"{self._place()}:\n  " + "\n  ".join(lines) + "\n" + self._story())

    def _is_idle(self):
        return self.world.idle()

    def _pulse(self):
        """What changes while something happens that the patience for a difference begins anew for."""
        return self.world.cloud.mark(), self.kube_state["resourceVersion"]

    def _place(self):
        title = f" [{self.case.title}]" if self.case.title else ""
        return f"{os.path.relpath(self.case.path)}{title}: {self.where}"

    def _story(self):
        """What happened since the step began."""
        calls = [f"{c['action']} {self._brief(c['params'])} -> {c['http']} {c['code']}".rstrip()
                 for c in self.world.cloud.calls(self.cloud_mark)]
        kept = calls if len(calls) <= 40 else calls[:20] + [f"... {len(calls) - 40} more ..."] + calls[-20:]
        events = [f"{kind} {reason} ({name}): {message}" for name, kind, reason, message in self._new_events()]
        return "cloud calls of this step:\n    " + "\n    ".join(kept or ["none"]) + (
            "\nevents of this step:\n    " + "\n    ".join(events or ["none"]))

    @staticmethod
    def _brief(params):
        return " ".join(f"{k}={v}" for k, v in params.items() if k not in ("RegionId", "ClientToken"))[:300]

    def _new_events(self):
        return [key for key, count in self._events().items() if count > self.event_mark.get(key, 0)]

    def _lb_of(self, service):
        """The load balancer of the Service: the one it names, or the one with its tag or name."""
        live = self._object("Service", service) or self.services.get(service)
        if live is None:
            return None
        wanted = live["metadata"].get("annotations", {}).get(look.PREFIX + "id")
        name = default_name(live["metadata"].get("uid", ""))
        label = live["metadata"].get("labels", {}).get(look.ID_LABEL)
        for lb in self._load_balancers():
            if wanted:
                if lb["LoadBalancerId"] == wanted:
                    return lb
            elif name in (lb["Tags"].get("kubernetes.do.not.delete"), lb["LoadBalancerName"]) or (
                    label and lb["LoadBalancerId"] == label):
                return lb
        return None

    def _group_name(self, service, key):
        live = self._object("Service", service) or self.services[service]
        eni = live["metadata"].get("annotations", {}).get("service.beta.kubernetes.io/backend-type")
        eni = (eni or (self.case.given.get("options") or {}).get("default_backend_type")) == "eni"
        return self.product.group_name(live, key, eni)

    def _domains(self, lb):
        def of(listener):
            return {e["Domain"]: e["ServerCertificateId"] for e in self.world.cloud.state().get("domainExtensions", [])
                    if e.get("LoadBalancerId") == lb["LoadBalancerId"]
                    and str(e.get("ListenerPort")) == str(listener["ListenerPort"])}

        return of

    def _lb_lines(self, expect, lb, service, path):
        if expect == "none":
            return [] if lb is None else [f"{path}: expected none, found {lb['LoadBalancerId']}"]
        if lb is None:
            return [f"{path}: there is none"]
        lines = []

        def group_of(key):
            return self._group_name(service, key)

        for key, value in expect.items():
            if key == "listeners":
                lines += look.listeners(value, lb, group_of, self._domains(lb), self.product.running)
            elif key == "groups":
                lines += look.groups(value, lb, group_of)
            elif key == "backends":
                ports = (self._object("Service", service) or self.services[service])["spec"]["ports"]
                wanted = {group_of(port["port"]): value for port in ports}
                lines += look.groups({**wanted, "*": "any"}, lb, group_of)
            elif key == "guard":
                lines += look.equal(value, self.product.guard(self.world.cloud.state(), self.services[service], lb), path + ".guard")
            elif key in ("joined", "zones"):
                lines += look.equal(sorted(value) if key == "joined" else value, lb[key], f"{path}.{key}")
            elif key == "tags":
                lines += look.match({k: v for k, v in value.items() if k != "exactly"}, lb["Tags"], path + ".tags")
                if "exactly" in value:
                    lines += look.equal(value["exactly"], lb["Tags"], path + ".tags")
            else:
                lines += look.match(value, lb.get(key), f"{path}.{key}")
        return lines

    def _differences(self, expect):
        expect = self._fill(expect)
        name = expect.get("of", "web")
        live = self._object("Service", name)
        lb = self._lb_of(name)
        lines = []
        if expect.get("ok"):
            lines += self._ok(live, lb)
        if expect.get("gone"):
            lines += [] if live is None else [f"gone: Service {name} is there: {live['metadata']}"]
            lines += self._lb_lines("none", lb, name, "gone: load balancer") + self._left(name)
        if expect.get("released"):
            lines += self._released(live) + self._lb_lines("none", lb, name, "released: load balancer") + self._left(name)
        own = {key: expect[key] for key in ("listeners", "groups", "backends", "guard", "joined", "zones") if key in expect}
        if "lb" in expect or own:
            what = expect.get("lb", {})
            lines += self._lb_lines(what if what == "none" else {**(what or {}), **own}, lb, name, "lb")
        for handle, what in (expect.get("others") or {}).items():
            other = next((one for one in self._load_balancers()
                          if one["LoadBalancerId"] == self.lbs.get(handle)), None)
            lines += self._lb_lines(what, other, name, handle)
        if "lbs" in expect:
            lines += look.number(expect["lbs"], len(self._load_balancers()), "load balancers")
        return lines + self._service_lines(expect, live, lb) + self._traffic_lines(expect)

    def _ok(self, live, lb):
        if live is None or lb is None:
            return [f"ok: Service is {'there' if live else 'missing'}, load balancer is {'there' if lb else 'missing'}"]
        labels = live["metadata"].get("labels", {})
        lines = [] if self._ingress(live) else ["ok: no address in the status"]
        lines += look.match(lb["LoadBalancerId"], labels.get(look.ID_LABEL), "ok: label of the id")
        lines += look.match(service_hash.of(live), labels.get(look.HASH_LABEL), "ok: label of the hash")
        lines += [] if self.product.finalizer in live["metadata"].get("finalizers", []) else ["ok: no finalizer"]
        if not any(e[:3] == (live["metadata"]["name"], "Normal", "EnsuredLoadBalancer") for e in self._events()):
            lines.append("ok: no event EnsuredLoadBalancer")
        return lines

    def _left(self, name):
        found = self.product.left(self.world.cloud.state(), self.services[name])
        return [f"left in the cloud: {found}"] if found else []

    def _released(self, live):
        if live is None:
            return ["released: the Service is gone"]
        left = [label for label in (look.ID_LABEL, look.HASH_LABEL) if label in live["metadata"].get("labels", {})]
        left += [self.product.finalizer] if self.product.finalizer in live["metadata"].get("finalizers", []) else []
        left += ["status"] if self._ingress(live) else []
        return [f"released: still there: {left}"] if left else []

    @staticmethod
    def _ingress(live):
        return (live or {}).get("status", {}).get("loadBalancer", {}).get("ingress", [])

    def _service_lines(self, expect, live, lb):
        lines = []
        if "status" in expect:
            found = [{k: v for k, v in item.items() if k in ("ip", "hostname")} for item in self._ingress(live)]
            wanted = {"none": [], "lb": [self.product.status(lb)] if lb else ["a load balancer"]}.get(
                expect["status"] if isinstance(expect["status"], str) else "", expect["status"])
            wanted = [{"ip": wanted}] if isinstance(wanted, str) else [wanted] if isinstance(wanted, dict) else wanted
            lines += look.equal(wanted, found, "status")
        meta = (live or {}).get("metadata", {})
        if "finalizer" in expect and expect["finalizer"] != (self.product.finalizer in meta.get("finalizers", [])):
            lines.append(f"finalizer: expected {expect['finalizer']}, found {meta.get('finalizers')}")
        if expect.get("labels") == "none":
            found = {k for k in meta.get("labels", {}) if k in (look.ID_LABEL, look.HASH_LABEL)}
            lines += [f"labels: found {found}"] if found else []
        elif "labels" in expect:
            lines += look.match(expect["labels"], meta.get("labels", {}), "labels")
        for target, wanted in (expect.get("objects") or {}).items():
            kind, _, name = target.partition("/")
            found = self._object(kind, name)
            if wanted == "none":
                lines += [] if found is None else [f"{target}: is there"]
            else:
                lines += look.match(wanted, found, target)
        return lines

    def _traffic_lines(self, expect):
        calls = self.world.cloud.calls(self.cloud_mark)
        actions = [call["action"] for call in calls]
        events = [key[1:] for key in self._new_events()]
        lines = []
        if "events" in expect:
            lines += look.events(expect["events"], events)
        if expect.get("warnings") != "any":
            lines += look.warnings(expect.get("events"), events)
        if "calls" in expect:
            lines += look.calls({} if expect["calls"] == "none" else expect["calls"], actions)
        if "order" in expect:
            lines += look.order(expect["order"], calls)
        if "sent" in expect:
            lines += look.sent(expect["sent"], calls)
        if "reads" in expect:
            lines += look.number(expect["reads"], sum(map(look.is_read, actions)), "reads")
        if "writes" in expect:
            lines += look.number(expect["writes"], sum(not look.is_read(a) for a in actions), "writes")
        if "kube_writes" in expect:
            lines += look.number(expect["kube_writes"], self._kube_writes(), "kube_writes")
        return lines

    def _kube_writes(self):
        """Writes of ccmd to the API server, without events and the lease."""
        writes = [c for c in self.world.kube.calls(self.kube_mark) if c["method"] not in ("GET", "HEAD")
                  and "/events" not in c["path"] and "/leases" not in c["path"]]
        return len(writes) - sum("/events" not in own for own in self.own_writes)


def look_keys():
    return {"listeners", "groups", "tags", "zones"}
