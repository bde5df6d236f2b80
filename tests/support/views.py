"""What the cloud holds for a Service, in the few words that tests compare."""


def nodes(world, count, first=1, **options):
    from . import objects

    for number in range(first, first + count):
        world.kube.create(objects.node(f"node-{number}", f"i-node-{number}", **options))


def only_lb(world):
    """The one load balancer of the cloud; a second one is a failure, none is nothing yet."""
    found = world.cloud.load_balancers()
    assert len(found) <= 1, f"more than one load balancer: {[lb['LoadBalancerId'] for lb in found]}"
    return found[0] if found else None


def listeners(lb):
    """(port, protocol, status) of each listener, sorted."""
    return sorted((int(l["ListenerPort"]), l["ListenerProtocol"], l["Status"]) for l in lb["Listeners"])


def groups(lb):
    """name -> set of (server, port, weight)"""
    return {
        group["VServerGroupName"]: {
            (b["ServerIp"] or b["ServerId"], int(b["Port"]), int(b["Weight"])) for b in group["BackendServers"]
        }
        for group in lb["VServerGroups"]
    }


def backends(lb):
    """Servers of each group, in order of the group names."""
    found = groups(lb)
    return [sorted(server for server, _, _ in found[name]) for name in sorted(found)]


def complete(lb, ports):
    """Every port has a running listener whose group exists and has backends, and nothing else is there."""
    if lb is None:
        return False
    wanted = sorted((port, protocol.lower(), "running") for port, protocol in ports)
    if listeners(lb) != wanted:
        return False
    ids = {group["VServerGroupId"] for group in lb["VServerGroups"]}
    used = {listener["VServerGroupId"] for listener in lb["Listeners"]}
    return used == ids and all(group["BackendServers"] for group in lb["VServerGroups"])
