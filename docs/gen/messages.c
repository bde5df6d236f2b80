#include "pages.h"

const struct docs_message docs_messages[] = {
    { "There are no available nodes for LoadBalancer: port {ports}: {cause}",
      "For unserved_wait_s no ready backend serves these ports, also with externalTrafficPolicy "
      "Cluster, where every node is a backend. The cause follows: no endpoint, none that is ready, "
      "a targetPort that no container names, pods only on nodes that take no traffic "
      "(NotReady, excluded by label), annotation backend-label selects no node, no "
      "network interface for the pods. Condition LoadBalancerReady is False (NoReadyBackend), "
      "ccmd_unserved_ports and /statusz count the ports.",
      "See the cause; `kubectl get endpointslices -l kubernetes.io/service-name={name}` and "
      "`kubectl get nodes` show the rest." },
    { "No backend of port {ports} is healthy: the health checks of load balancer [{id}] fail",
      "The cloud's health checks reach none of the backends of these ports, so nobody is served. "
      "Backends that are not checked, or not yet, and those of weight 0 do not count. Read with "
      "each second look, and half a minute after a load balancer was made; as long as it lasts "
      "again after 1, 2, 4 and so on minutes, and half a minute after what a pass changes. "
      "Condition LoadBalancerReady is False (UnhealthyBackends), ccmd_unserved_ports and /statusz "
      "count the ports.",
      "Security groups have to let the probes in (CLB: 100.64.0.0/10, NLB: the addresses that it "
      "has in its vSwitches), as have firewalls on the nodes. See port and path of the health "
      "check (annotations health-check-...), and whether the application listens on its target "
      "port, at all addresses. `ccmd resync {namespace}/{name}` reads it at once." },
    { "{count} backend(s) left load balancer [{id}]: {reason} {names}",
      "No failure: these were taken out of the server groups, for this reason. All that leave "
      "within a minute are told as one event.",
      "Nothing, unless they should have stayed." },
    { "{count} backend(s) are kept as they are (nodes NotReady: {nodes}; nodes missing: {nodes}; "
      "EndpointSlices missing that had told: {endpoints}; {rule}: {names}); {until}; to let them "
      "go now: ccmd allow-removals {plugin}",
      "Nobody sent these backends away: their nodes are not ready or missing, or the "
      "EndpointSlices "
      "that told them are missing, which is more likely a fault of the control plane than the end "
      "of so many nodes or pods. Within removal_window_s at most removal_share_percent of a group "
      "goes because of it, what no watch saw being deleted not before missing_wait_s, and of nodes "
      "that are not ready never the last. A rule: ccmd would not add these backends, see Nodes "
      "that vanish in operations.md; they stay as long as their endpoint is ready.",
      "Repair the control plane, or delete the Node objects whose machines are gone; backends "
      "follow by themselves. Are the nodes really gone for good, `ccmd allow-removals {plugin}` "
      "lets their backends go at once. A rule: correct the EndpointSlice, or release them." },
    { "Only EndpointSlices of another address family: backends are kept",
      "The Service is to have the address family of its backends, but all EndpointSlices of it are "
      "missing, which is more likely a fault than the end of all pods.",
      "Look at the EndpointSlices of the Service, and why nobody writes those of this family: "
      "kube-controller-manager, or whoever keeps them. Backends follow by themselves." },
    { "bandwidth must be integer, got [{value}], error: {why}, "
      "{attribute} must be integer in range [{a},{b}] , got [{value}], "
      "Annotation {attribute} must be integer, but got [{value}]. message=[{why}], "
      "parse {attribute} error: [{value}] {why}",
      "The value of an annotation is no number, or none that it takes.",
      "Behind it stands the annotation, with the range that it takes. Numbers need quotes in "
      "YAML." },
    { "port protocol format must be either [http|https|tcp|udp], protocol not supported with "
      "[{word}], "
      "port and protocol format must be like 'https:443' with colon separated. got=[[{entry}]]",
      "An entry of annotation protocol-port names no protocol, or is no pair.",
      "Write protocol:port separated by commas, such as https:443,http:80." },
    { "alicloud: can not find loadbalancer, but it's defined in service [{ip}]",
      "The Service has an address, but its load balancer is gone, has lost its ownership tag, or "
      "was "
      "an existing one whose id annotation was removed. ccmd searches for all missing ones "
      "together, once a minute, and uses one that has its tag back at once.",
      "As the message says: it has the command that makes a new one (option recreate_deleted does "
      "that by itself), and the tag that is to be put back on the old one. A load balancer of a "
      "person is used again once the id annotation names it; until then its backends follow. An "
      "address that another controller wrote (MetalLB, servicelb) gives this only where a load "
      "balancer of the account has it, or a label of the Service names one." },
    { "no load balancer is created before it is known whether one of the account has the address "
      "in "
      "the status [{ip}]: {why}",
      "The status of the Service shows an address, and no label names a load balancer: another "
      "controller has written it (MetalLB, servicelb), or a load balancer of the account has it. "
      "The list of all load balancers of the account, which tells, has failed.",
      "The cause stands behind it. The list is retried; `DescribeLoadBalancers` (CLB) or "
      "`ListLoadBalancers` (NLB) has to be allowed for all load balancers, not for some." },
    { "load balancer {id} carries tag kubernetes.do.not.delete={owner} of another owner, "
      "load balancer {id} carries the same name or tag but belongs to cluster {cluster}",
      "Whoever changed its tags has given the load balancer to another Service or cluster. Nothing "
      "of it is changed or deleted here.",
      "If that was a mistake, put the tags back. When the Service goes, the load balancer stays: "
      "event LoadBalancerLeftAlone." },
    { "load balancer {id} [{name}] has lost its tag kubernetes.do.not.delete={value}",
      "Somebody took the ownership tag off, and the load balancer has a name of its own, so nobody "
      "can tell whose it is.",
      "Put the tag back on. If the Service is gone already and the load balancer serves nobody, "
      "switch its deletion protection off and delete it in the console." },
    { "load balancer {id} has not become ready for 10 minutes",
      "The cloud says that it still works on the load balancer. It takes no change until that "
      "ends, "
      "and the Service has no address. Each retry reads it again.",
      "Check the load balancer in the console of the cloud. The deletion of the Service deletes "
      "it, ready or not." },
    { "load balancer {id} is locked by the cloud (status locked)",
      "The cloud has locked a CLB: it forwards no traffic and refuses changes.",
      "Look for overdue payments, and for messages of the cloud about its security." },
    { "{count} load balancers were created, and none of them came to serve the {kind}",
      "Each of them vanished before it served, or its creation stayed in doubt and no list showed "
      "it. No further one is created for at least ten minutes, so that they do not pile up.",
      "Find out in the cloud what became of them. A change of the Service, or `ccmd resync "
      "{namespace}/{name}`, tries again at once." },
    { "find multiple loadbalances by tag, lbIds[{ids}], event DuplicateLoadBalancer",
      "Several load balancers carry the ownership tag of the Service, because somebody has copied "
      "it. The one that the Service's label names is used, and the event names all of them; where "
      "no label names one, nothing is changed. The deletion of the Service looks for them again. "
      "It deletes the one that the label names, and each copy that has both tags and the name of "
      "the Service's own: the event names each of these with (goes). Any other stays, and is "
      "named, too.",
      "Delete the others in the console if they serve nobody, or take their tag "
      "kubernetes.do.not.delete off." },
    { "annotation {key}name must be no default name of another Service",
      "By such a name a load balancer that has lost its tag is found again: that of another "
      "Service "
      "would be taken for this one's.",
      "Choose another name. The present one stays meanwhile." },
    { "the answer holds {id}, which does not carry tag kubernetes.do.not.delete={value}",
      "The cloud answered with load balancers that were not asked for. Such an answer is not "
      "believed.",
      "It is tried again by itself." },
    { "create public address slb is not allowed",
      "Option disable_public_slb is set, and the Service asks for a public address.",
      "Set the address-type annotation to intranet, or change the option." },
    { "Not sync pods [{pods}] whose eni is invalid, "
      "Not sync pods whose eni is invalid: {pods}",
      "No network interface of the cloud has the address of these pods: the pods are just being "
      "replaced, or backends of type eni are used on a network without pod interfaces.",
      "If it lasts, set the backend-type annotation or option default_backend_type to ecs." },
    { "Skip delete and update servers to servergroup {name} due to invalid servers: {pods}",
      "While more than half of the pods of a server group cannot be resolved, nothing is taken "
      "out of it.",
      "As above; the rest follows by itself." },
    { "LoadBalancerSourceRanges is not supported for user-managed LB.",
      "The security groups of a load balancer that the id annotation names are its owner's.",
      "Remove spec.loadBalancerSourceRanges, and restrict access at that load balancer." },
    { "can not find eniid for ip {ip} in vpc {vpc} (of the reference controller)",
      "No network interface of the VPC has this address.",
      "If it lasts, set the backend-type annotation or option default_backend_type to ecs." },
    { "Not sync pods [{pods}] whose ip is not in vpc cidrs",
      "These endpoints lie outside of the VPC, where a load balancer cannot reach them.",
      "Check alicloud.vpc_id and the endpoints of the Service." },
    { "spec.loadBalancerSourceRanges says who may connect, and option source_ranges of plugin clb "
      "is "
      "off: no load balancer is made that accepts connections from everywhere. ...",
      "Nothing would keep others out.",
      "Set option source_ranges of plugin clb, or take the field out of the Service." },
    { "Not sync pods [{pods}] whose ip is that of a node",
      "These endpoints have the address of a node, by its status or by its primary network "
      "interface in the cloud, where more listens than this Service. Their targetRef names no pod "
      "of the namespace that has hostNetwork and this address.",
      "Correct the EndpointSlice, or set the backend-type annotation to ecs." },
    { "Left out of the backends: node {node} ({provider id}): {call}: {code}: ...",
      "The cloud does not take this backend. All other backends are registered, and follow nodes "
      "and pods.",
      "Correct or delete the node. The backend is tried again after 10 s, later every 10 min." },
    { "Left out of the backends: node {node} ({provider id}): the provider id names another region "
      "than {region}",
      "A load balancer takes no instance of another region. The cloud is not asked about it.",
      "Register the node with the provider id of its instance, or exclude it by label." },
    { "{step}: left out, and there is no other backend: ...; {step}: kept, because the cloud does "
      "not take what replaces them: ...",
      "All backends of a group, or all that replace present ones, are left out.",
      "Correct or delete the nodes that the text names. Present backends stay until then." },
    { "Endpoints that are no pods are left out: {address}",
      "Option endpoints of the plugin is pods, and the targetRef of this endpoint names no pod of "
      "the Service's namespace.",
      "Let a selector of the Service choose its pods, or set the option to any." },
    { "annotation {key} is unknown and has no effect, did you mean {key}?",
      "The key has the prefix of this controller, but is none of its annotations.",
      "Correct the key; `ccmd lint` finds such slips before they are applied." },
    { "this version does not support annotation {keys}: remove it, nothing was changed in the "
      "cloud",
      "The annotation is known, but not built yet.", "Remove it." },
    { "spec.{field} has no effect: {why}",
      "The Service asks for something that nothing acts on as it is configured.",
      "Remove the field, or switch on the option that serves it, if there is one." },
    { "spec.ipFamilies is IPv6 alone, but the load balancer reaches its backends over IPv4: "
      "{remedy}, "
      "spec.ipFamilies lacks IPv6, which annotation backend-ip-version asks for: {remedy}, "
      "spec.ipFamilies lacks one of the families that annotation backend-ip-version asks for: "
      "{remedy}",
      "Pods have no addresses in the family that the load balancer sends to: with pods as "
      "backends, "
      "or externalTrafficPolicy Local, it gets none.",
      "Set spec.ipFamilyPolicy to PreferDualStack in a cluster of both families, or change the "
      "annotations as the message says." },
    { "create listener: left out for the same lack of room: {listeners}",
      "The load balancer has as many listeners as it may have. The first one too many was refused, "
      "as told beside; these were not asked for.",
      "Spread the ports over several Services, or raise the quota." },
    { "alicloud: can not change LoadBalancer AddressType once created. delete and retry",
      "A load balancer keeps the kind of address it was made with.",
      "Set the annotation back to what the message has, or recreate the Service." },
    { "alicloud: can not change ResourceGroupId once created",
      "A load balancer stays in the resource group it was made in.",
      "Remove the resource-group-id annotation, or set it to the group that the load balancer is "
      "in." },
    { "alicloud: can not change LoadBalancer {attribute} once created",
      "Network type, zones, address and IP version are chosen when a load balancer is made.",
      "Set the annotation back, or recreate the Service." },
    { "the loadbalancer {id} can not be reused, can not reuse loadbalancer created by kubernetes.",
      "The id annotation names a load balancer that a cluster made for itself.",
      "While the address is pending: name a load balancer that was made in the console. When the "
      "Service has the address of that load balancer already: remove the id annotation. Otherwise "
      "name the load balancer that owns the address, or recreate the Service." },
    { "the loadbalancer {id} can not be reused, service has been associated with ip [{a}], cannot "
      "be bound to ip [{b}], the loadbalancer {id} can not be reused, service has been associated "
      "with loadbalancer [{a}], cannot be bound to another one: {remedy}",
      "The Service works on another load balancer than the one that the id annotation names. It "
      "stays there: its backends follow pods and nodes, and nothing else is changed.",
      "As the message says, or recreate the Service: moving it to another load balancer is not "
      "supported while the one that it has exists." },
    { "the loadbalancer {id} can not be reused, option reuse of the {CLB} plugin is off: {remedy}, "
      "the loadbalancer {id} can not be reused, option reuse of the {CLB} plugin is tagged, and "
      "its tag {tag} does not name namespace {namespace}: {remedy}",
      "The operator decides which load balancers of persons a namespace may use.",
      "As the message says; see Tenants in operations.md." },
    { "the loadbalancer {id} can not be reused, its {address type} is {a} and the Service needs "
      "{b}: {remedy}",
      "Address type and VPC of somebody else's load balancer are never changed, and must be what "
      "the Service needs. What is served there already stays served.",
      "Name another load balancer, or set the annotation to what that one is; of an NLB in another "
      "VPC set server-group-type to Ip." },
    { "annotations left aside: {annotations}; option reuse is tagged, and the load balancer's tag "
      "{tag} does not name this namespace",
      "The namespace may serve ports on that load balancer, but not change what a person made "
      "there.",
      "Whoever owns it may set that tag, or make the change; see Tenants in operations.md." },
    { "{key}={value}: tags of load balancer {id} that this Service did not set stay as they are",
      "A tag of somebody else's load balancer is never overwritten. After a restart all that are "
      "there count as somebody else's.",
      "Take the tag off by hand, or the annotation." },
    { "namespace {namespace} may not use {kind} {id}: option allowed_ids of the {CLB} plugin does "
      "not name it",
      "The operator lists which ids of the account a namespace may name.",
      "Name another one, or ask the operator; what the annotation is for stays as it is." },
    { "server group {id} belongs to load balancer {a} and not to {b}",
      "Annotation vgroup-port puts servers into groups of the load balancer that is named, or "
      "into groups that none uses.",
      "Choose another server group." },
    { "listener {port} (description [{text}], server group [{id}]) of load balancer [{id}], which "
      "a person made, is taken over",
      "Annotation force-override-listeners takes a listener that was there: its traffic goes to "
      "this Service now.",
      "If that is a mistake, take the port out of the Service: with option taken_listeners restore "
      "(the default) the listener is put back." },
    { "no listener on {ports} of load balancer [{id}] sends to this Service, because annotation "
      "{key}force-override-listeners is not \"true\"",
      "The load balancer is a person's, and so are its listeners unless the Service asks for them. "
      "Its server groups are kept, but nobody sends to them.",
      "Set the annotation to \"true\": listeners are made then, and those that are on these ports "
      "are taken over, which ends what they serve now. Or set it to \"false\" and make a listener "
      "(or forwarding rule) by hand that sends to the server group of the Service." },
    { "the loadbalancer {id} can not be reused, its specification is shared-performance and takes "
      "no pods as backends: {remedy}",
      "Network interfaces of pods are backends of load balancers with a specification only.",
      "Set the spec annotation to slb.s1.small or a larger one, or let nodes be the backends." },
    { "80 % or more of {limit} {what} are used; beyond them the cloud refuses: {remedy}, event "
      "QuotaNear",
      "Little is left of a quota of the account, as option quota_* of the plugin says it. On the "
      "Service it is about its load balancer, on the Lease about what all Services share.",
      "Before it is used up do as the message says, or have the quota raised, and the option with "
      "it. limits.md has the formulas; /statusz and ccmd_quota_used have the figures." },
    { "vSwitch {id}: 80 % or more of its {limit} addresses are used; without a free one the cloud "
      "makes no load balancer there: {remedy}, event QuotaNear",
      "Few addresses are left in a vSwitch that load balancers stand in, whoever uses them. It is "
      "read with second looks (option backend_health).",
      "Free some, or let new load balancers stand in another vSwitch; that of one that is there "
      "cannot be changed (CLB). It ends when fewer than 70 % are used." },
    { "inside of the cluster nodes send traffic for the address straight to the pods, past the "
      "load balancer: {what}, inside of the cluster the address may not be reached from nodes "
      "without a pod of the Service (externalTrafficPolicy Local), event InClusterAccess",
      "Nodes know the addresses in the status of Services and answer for them themselves, unless "
      "ipMode Proxy stands beside them (Kubernetes 1.30, option status_ip_mode) or a name stands "
      "in their place (annotation hostname). So TLS, X-Forwarded-For and the proxy protocol, which "
      "the load balancer would add, are missing; with policy Local nodes without a pod drop it.",
      "Inside of the cluster use the ClusterIP or its DNS name. Or set annotation hostname to a "
      "name that leads to the address; then a node still cannot be client and backend of a tcp or "
      "udp listener at once, so keep both on different nodes, or let pods be the backends. Policy "
      "Cluster works from everywhere, and hides the clients' addresses." },
    { "port {port}: HTTPS ends at the load balancer, which sends plain HTTP to the targetPort, and "
      "that one is named or numbered like an HTTPS port, event PlainHttpToTls",
      "Pods that expect TLS answer \"The plain HTTP request was sent to HTTPS port\".",
      "Let targetPort be the HTTP port of the pods, or end TLS in the pods: protocol-port tcp." },
    { "nodes have different numbers of pods (externalTrafficPolicy Local) and so different "
      "weights, which scheduler rr takes no notice of, event UnevenLoad",
      "With policy Local a node weighs what its pods come to. Scheduler rr, the default of CLB, "
      "gives each node the same.",
      "Set the scheduler annotation to wrr, or to wlc for connections that last." },
    { "nodes are the backends, but the pods have addresses of the VPC (Terway) and could be, event "
      "PodsCanBeBackends",
      "Terway says of the nodes of these pods (annotation k8s.aliyun.com/max-available-ip) that it "
      "gives pods network interfaces, to which a load balancer sends without a hop over a node. "
      "The Service says nothing about its backends, and option default_backend_type is ecs.",
      "Set annotation service.beta.kubernetes.io/backend-type to eni, or the option for all "
      "Services; the annotation's value ecs leaves all as it is, and the hint out." },
    { "option cluster_id of group alicloud is not set: it marks what belongs to this cluster and "
      "must "
      "be unique",
      "Without it two clusters would take each other's resources for their own.",
      "Set alicloud.cluster_id." },
};
const size_t docs_message_count = sizeof(docs_messages) / sizeof(docs_messages[0]);
