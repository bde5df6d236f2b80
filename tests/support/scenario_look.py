"""Comparing what is with what a scenario expects: every difference is one line of text."""

import re

from .products import PREFIX

ALIASES = {key: "service.beta.kubernetes.io/" + key for key in ("backend-type", "class")}  # outside the prefix scheme
HASH_LABEL = "service.beta.kubernetes.io/hash"
ID_LABEL = "service.k8s.alibaba/loadbalancer-id"
BACKEND = re.compile(r"^(?P<server>[^*!]+?)(?::(?P<port>[0-9]+))?(?:\*(?P<weight>[0-9]+))?$")
RANGE = re.compile(r"^(?P<head>[0-9]+\.[0-9]+\.[0-9]+\.)(?P<first>[0-9]+)-(?P<last>[0-9]+)(?P<rest>.*)$")
READ = ("Describe", "List", "Get", "Query")


def expand(items):
    """10.1.0.1-3@x stands for 10.1.0.1@x, 10.1.0.2@x, 10.1.0.3@x."""
    found = []
    for item in items:
        parts = RANGE.match(item)
        if parts is None:
            found.append(item)
            continue
        numbers = range(int(parts["first"]), int(parts["last"]) + 1)
        found += [f"{parts['head']}{number}{parts['rest']}" for number in numbers]
    return found


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def match(expected, actual, path):
    """Differences of `actual` from the part that is expected; a list must contain what is listed."""
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return [f"{path}: expected a mapping, found {actual!r}"]
        return [line for key, value in expected.items() for line in match(value, actual.get(key), f"{path}.{key}")]
    if isinstance(expected, list):
        actual = actual if isinstance(actual, list) else []
        return [f"{path}: nothing like {item!r} in {actual!r}" for item in expected
                if not any(match(item, one, path) == [] for one in actual)]
    wanted, found = text_of(expected), text_of(actual)
    if wanted.startswith("~"):
        return [] if re.search(wanted[1:], found) else [f"{path}: {found!r} does not match {wanted!r}"]
    return [] if wanted == found else [f"{path}: expected {wanted!r}, found {found!r}"]


def number(expected, actual, path):
    """expected: N or "<=N" or ">=N"."""
    sign, _, limit = text_of(expected).rpartition("=")
    fits = {"": actual == int(limit), "<": actual <= int(limit), ">": actual >= int(limit)}[sign.strip()]
    return [] if fits else [f"{path}: expected {text_of(expected)}, found {actual}"]


def is_read(action):
    return action.startswith(READ)


def backend_text(backend, with_port):
    server, port, weight = backend
    text = f"{server}:{port}" if with_port else server
    return f"{text}*{weight}" if weight != 100 else text


def backends(expected, group, path):
    """expected: "any", or items SERVER[:PORT][*WEIGHT]; without weight it is 100, without port any."""
    if expected == "any":
        return []
    items = expand(text_of(item) for item in expected or [])
    with_port = any(BACKEND.match(item)["port"] for item in items)
    actual = sorted(backend_text(backend, with_port) for backend in group["servers"])
    wanted = sorted(item.removesuffix("*100") for item in items)
    return [] if wanted == actual else [f"{path}: expected backends {wanted}, found {actual}"]


def wanted_listeners(expected):
    """{"80/tcp": {...}} of a list or a mapping."""
    if isinstance(expected, dict):
        return {key: value or {} for key, value in expected.items()}
    found = {}
    for item in expected:
        found.update(item if isinstance(item, dict) else {item: {}})
    return found


def listeners(expected, lb, group_of, domains_of, running):
    """Exactly these listeners, with these attributes; "group" and "domains" stand for more than an attribute. running: what
    is implied."""
    wanted = wanted_listeners(expected)
    found = {one["key"]: one for one in lb["Listeners"]}
    if sorted(wanted) != sorted(found):
        return [f"listeners: expected {sorted(wanted)}, found {sorted(found)}"]
    names = {group["id"]: group["name"] for group in lb["Groups"]}
    lines = []
    for key, attributes in wanted.items():
        listener = found[key]
        path = f"listeners.{key}"
        rest = {**running, **attributes}
        if "group" in rest:
            wanted_name = group_of(rest.pop("group"))
            actual_name = names.get(listener["group"])
            if actual_name != wanted_name:
                lines.append(f"{path}: expected group {wanted_name!r}, found {actual_name!r}")
        if "domains" in rest:
            lines += equal(rest.pop("domains"), domains_of(listener), path + ".domains")
        lines += match(rest, listener, path)
    return lines


def equal(expected, actual, path):
    return [] if expected == actual else [f"{path}: expected exactly {expected!r}, found {actual!r}"]


def groups(expected, lb, group_of):
    """Exactly these groups, but with the key "*" others may be there. Values are backends, or attributes and "backends"."""
    found = {group["name"]: group for group in lb["Groups"]}
    wanted = {group_of(key): value for key, value in expected.items() if key != "*"}
    actual = sorted(group["name"] for group in lb["Groups"])
    lines = []
    if sorted(wanted) != actual and not ("*" in expected and set(wanted) <= set(found)):
        return [f"groups: expected {sorted(wanted)}, found {actual}"]
    for name, what in wanted.items():
        what = what if isinstance(what, dict) else {"backends": what}
        lines += backends(what.get("backends", "any"), found[name], f"group {name}")
        lines += match({k: v for k, v in what.items() if k != "backends"}, found[name], f"group {name}")
    return lines


def events(expected, found):
    """found: (type, reason, message) since the step. Items are "Type Reason[: pattern]" or "no Reason"."""
    if expected == "none":
        return [f"events: expected none, found {found}"] if found else []
    lines = []
    for item in [expected] if isinstance(expected, str) else expected:
        if item.startswith("no "):
            lines += [f"events: {event} is not expected" for event in found if item[3:] in event[:2]]
            continue
        head, _, pattern = item.partition(": ")
        kind, _, reason = head.partition(" ")
        if not any(e[0] == kind and e[1] == reason and re.search(pattern, e[2]) for e in found):
            lines.append(f"events: no {item!r} among {found}")
    return lines


def warnings(expected, found):
    """A Warning that the step does not name is a difference."""
    named = [item.partition(": ")[0].partition(" ")[2]
             for item in ([expected] if isinstance(expected, str) else expected or []) if item.startswith("Warning ")]
    return [f"events: unexpected {event}" for event in found if event[0] == "Warning" and event[1] not in named]


def calls(expected, found):
    """found: actions since the step. A mapping counts, a list is the exact order; reads only where one is named."""
    names = [item for item in expected]
    if any(is_read(name) for name in names) and isinstance(expected, list):
        actual = found
    else:
        actual = [action for action in found if not is_read(action) or action in names]
    if isinstance(expected, list):
        return [] if expected == actual else [f"calls: expected {expected}, found {actual}"]
    counts = {action: actual.count(action) for action in actual}
    lines = []
    for action in sorted(set(counts) | set(expected)):
        lines += number(expected.get(action, 0), counts.get(action, 0), f"calls.{action}")
    return lines


def sent(expected, found):
    """found: the calls since the step. For each action: some call of it has these parameters; null: not sent."""
    lines = []
    for action, wanted in expected.items():
        params = [call["params"] for call in found if call["action"] == action]
        for one in wanted if isinstance(wanted, list) else [wanted]:
            if not any(match(one, have, "") == [] for have in params):
                lines.append(f"sent.{action}: no call with {one}, but {params}")
    return lines


def order(expected, found):
    """found: the calls since the step. Items are "Action [Parameter=value ...]"; they happened in this order."""
    place = 0
    for item in expected:
        action, *pairs = item.split()
        wanted = dict(pair.split("=", 1) for pair in pairs)
        while place < len(found) and not (
                found[place]["action"] == action and match(wanted, found[place]["params"], "") == []):
            place += 1
        if place == len(found):
            return [f"order: {item!r} is missing behind the ones before it"]
        place += 1
    return []
