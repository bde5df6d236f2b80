// What is done with the cloud, as data. A step:
//   call    [product, action]
//   label   what is printed; PRODUCT.ACTION when it is left out
//   input   made from what earlier steps kept; reading something that was not kept fails the step
//   keep    names -> what of the answer later steps need
//   good    what must hold of the answer
//   again   poll until `good` holds
const list = (answer, ...names) => names.reduce((at, name) => at?.[name], answer) ?? [];
const later = [{ Key: 'interop.later', Value: 'x' }];
const tagged = (rows, id) => rows.some((t) => t.ResourceId === id && t.TagKey === 'interop.later' && t.TagValue === 'x');

const world = [
  {
    call: ['ecs', 'DescribeInstances'],
    input: () => ({ MaxResults: 100 }),
    keep: {
      instance: (a) => list(a, 'Instances', 'Instance')[0]?.InstanceId,
      vpc: (a) => list(a, 'Instances', 'Instance')[0]?.VpcAttributes?.VpcId,
    },
  },
  {
    call: ['ecs', 'DescribeInstances'],
    label: 'ecs.DescribeInstances(ids)',
    input: (k) => ({ InstanceIds: JSON.stringify([k.instance]) }),
    good: (a, k) => list(a, 'Instances', 'Instance').map((i) => i.InstanceId).join() === k.instance,
  },
  {
    call: ['ecs', 'DescribeNetworkInterfaces'],
    input: (k) => ({ InstanceId: k.instance, MaxResults: 100 }),
    good: (a) => Boolean(list(a, 'NetworkInterfaceSets', 'NetworkInterfaceSet')[0]?.NetworkInterfaceId),
  },
  {
    call: ['vpc', 'DescribeVSwitches'],
    input: (k) => ({ VpcId: k.vpc, PageNumber: 1, PageSize: 50 }),
    keep: {
      zones: (a) => {
        const zones = new Map(list(a, 'VSwitches', 'VSwitch').map((s) => [s.ZoneId, s.VSwitchId]));
        return [...zones].slice(0, 2).map(([ZoneId, VSwitchId]) => ({ ZoneId, VSwitchId }));
      },
    },
  },
  {
    call: ['vpc', 'DescribeRouteTableList'],
    input: (k) => ({ VpcId: k.vpc, PageNumber: 1, PageSize: 10 }),
    keep: { table: (a) => list(a, 'RouterTableList', 'RouterTableListType')[0]?.RouteTableId },
  },
];

const tagSteps = (product, ResourceType, name, rows) => [
  { call: [product, 'TagResources'], input: (k) => ({ ResourceType, ResourceId: [k[name]], Tag: later }) },
  {
    call: [product, 'ListTagResources'],
    input: (k) => ({ ResourceType, ResourceId: [k[name]] }),
    good: (a, k) => tagged(rows(a), k[name]),
  },
  {
    call: [product, 'UntagResources'],
    input: (k) => ({ ResourceType, ResourceId: [k[name]], TagKey: [later[0].Key] }),
  },
  {
    call: [product, 'ListTagResources'],
    label: `${product}.ListTagResources(after)`,
    input: (k) => ({ ResourceType, ResourceId: [k[name]] }),
    good: (a, k) => !tagged(rows(a), k[name]),
  },
];

const balancers = (a) => list(a, 'LoadBalancers', 'LoadBalancer');
const backends = (a) => list(a, 'BackendServers', 'BackendServer');
const members = (k, weight) => ({
  VServerGroupId: k.group,
  BackendServers: JSON.stringify([{ ServerId: k.instance, Port: '30080', Weight: String(weight), Type: 'ecs' }]),
});
const port80 = (k) => ({ LoadBalancerId: k.lb, ListenerPort: 80, ListenerProtocol: 'tcp' });

const classic = [
  {
    call: ['slb', 'CreateLoadBalancer'],
    input: (k) => ({
      LoadBalancerName: k.run, AddressType: 'intranet', VpcId: k.vpc, VSwitchId: k.zones[0].VSwitchId,
      InstanceChargeType: 'PayByCLCU', DeleteProtection: 'off', ClientToken: `clb-${k.run}`,
      Tag: [{ Key: 'interop', Value: k.run }, { Key: 'awkward', Value: 'a b/*~+%' }],
    }),
    keep: { lb: (a) => a.LoadBalancerId },
  },
  {
    call: ['slb', 'DescribeLoadBalancers'],
    input: (k) => ({ LoadBalancerId: k.lb, PageNumber: 1, PageSize: 100 }),
    good: (a, k) => balancers(a).map((lb) => lb.LoadBalancerId).join() === k.lb,
  },
  {
    call: ['slb', 'DescribeLoadBalancers'],
    label: 'slb.DescribeLoadBalancers(tags)',
    input: (k) => ({ Tags: JSON.stringify([{ TagKey: 'interop', TagValue: k.run }]), PageNumber: 1, PageSize: 100 }),
    good: (a, k) => balancers(a).some((lb) => lb.LoadBalancerId === k.lb),
  },
  {
    call: ['slb', 'DescribeLoadBalancerAttribute'],
    input: (k) => ({ LoadBalancerId: k.lb }),
    good: (a, k) => a.LoadBalancerId === k.lb && Boolean(a.Address),
  },
  {
    call: ['slb', 'CreateVServerGroup'],
    input: (k) => ({ LoadBalancerId: k.lb, VServerGroupName: k.run }),
    keep: { group: (a) => a.VServerGroupId },
  },
  {
    call: ['slb', 'DescribeVServerGroups'],
    input: (k) => ({ LoadBalancerId: k.lb }),
    good: (a, k) => list(a, 'VServerGroups', 'VServerGroup').some((g) => g.VServerGroupId === k.group),
  },
  {
    call: ['slb', 'CreateLoadBalancerTCPListener'],
    input: (k) => ({
      LoadBalancerId: k.lb, ListenerPort: 80, Bandwidth: -1, Scheduler: 'wrr', VServerGroupId: k.group,
      healthCheckInterval: 5, HealthyThreshold: 3, UnhealthyThreshold: 3, Description: k.run,
    }),
  },
  { call: ['slb', 'StartLoadBalancerListener'], input: port80 },
  {
    call: ['slb', 'DescribeLoadBalancerListeners'],
    input: (k) => ({ LoadBalancerId: [k.lb], MaxResults: 50 }),
    good: (a) => list(a, 'Listeners').some((l) => l.ListenerPort === 80 && l.ListenerProtocol === 'tcp'),
  },
  { call: ['slb', 'AddVServerGroupBackendServers'], input: (k) => members(k, 100) },
  { call: ['slb', 'SetVServerGroupAttribute'], input: (k) => members(k, 60) },
  {
    call: ['slb', 'DescribeVServerGroupAttribute'],
    input: (k) => ({ VServerGroupId: k.group }),
    good: (a, k) => {
      const [only, ...others] = backends(a);
      return !others.length && only?.ServerId === k.instance && only.Port === 30080 && only.Weight === 60;
    },
  },
  { call: ['slb', 'RemoveVServerGroupBackendServers'], input: (k) => members(k, 60), good: (a) => !backends(a).length },
  ...tagSteps('slb', 'instance', 'lb', (a) => list(a, 'TagResources', 'TagResource')),
  { call: ['slb', 'StopLoadBalancerListener'], input: port80 },
  { call: ['slb', 'DeleteLoadBalancerListener'], input: port80 },
  { call: ['slb', 'DeleteVServerGroup'], input: (k) => ({ VServerGroupId: k.group }) },
  { call: ['slb', 'DeleteLoadBalancer'], input: (k) => ({ LoadBalancerId: k.lb }) },
  {
    call: ['slb', 'DescribeLoadBalancers'],
    label: 'slb.DescribeLoadBalancers(gone)',
    input: (k) => ({ LoadBalancerId: k.lb, PageNumber: 1, PageSize: 100 }),
    good: (a) => !balancers(a).length,
  },
];

const job = (a) => {
  if (a.Status === 'Failed') throw new Error('the job failed');
  return a.Status === 'Succeeded';
};
const oneJob = (of) => ({
  call: ['nlb', 'GetJobStatus'],
  label: `nlb.GetJobStatus(${of})`,
  input: (k) => ({ JobId: k.job }),
  good: job,
  again: true,
});
const listedJob = (of) => ({
  call: ['nlb', 'ListAsynJobs'],
  label: `nlb.ListAsynJobs(${of})`,
  input: (k) => ({ JobIds: [k.job] }),
  good: (a, k) => job(list(a, 'Jobs').find((j) => j.Id === k.job) ?? {}),
  again: true,
});
const withJob = (step) => ({ ...step, keep: { ...step.keep, job: (a) => a.JobId } });
const serverStep = (action, more) => withJob({
  call: ['nlb', action],
  input: (k) => ({
    ServerGroupId: k.servers, Servers: [{ ServerId: k.instance, ServerType: 'Ecs', Port: 30080, ...more }],
  }),
});
const serversAre = (weight) => ({
  call: ['nlb', 'ListServerGroupServers'],
  label: `nlb.ListServerGroupServers(${weight ?? 'none'})`,
  input: (k) => ({ ServerGroupId: k.servers, MaxResults: 100 }),
  good: (a, k) => {
    const [only, ...others] = list(a, 'Servers');
    if (weight === undefined) return only === undefined;
    return !others.length && only?.ServerId === k.instance && only.Port === 30080 && only.Weight === weight;
  },
});

const network = [
  {
    call: ['nlb', 'CreateLoadBalancer'],
    input: (k) => ({
      LoadBalancerName: k.run, AddressType: 'Intranet', AddressIpVersion: 'ipv4', VpcId: k.vpc, ZoneMappings: k.zones,
      ClientToken: `nlb-${k.run}`, Tag: [{ Key: 'interop', Value: k.run }],
      DeletionProtectionConfig: { Enabled: false }, ModificationProtectionConfig: { Status: 'NonProtection' },
    }),
    keep: { nlb: (a) => a.LoadbalancerId },
  },
  {
    call: ['nlb', 'GetLoadBalancerAttribute'],
    input: (k) => ({ LoadBalancerId: k.nlb }),
    good: (a) => a.LoadBalancerStatus === 'Active',
    again: true,
  },
  {
    call: ['nlb', 'ListLoadBalancers'],
    input: (k) => ({ LoadBalancerIds: [k.nlb], MaxResults: 20 }),
    good: (a, k) => list(a, 'LoadBalancers').some((lb) => lb.LoadBalancerId === k.nlb),
  },
  withJob({
    call: ['nlb', 'CreateServerGroup'],
    input: (k) => ({
      ServerGroupName: k.run, ServerGroupType: 'Instance', Protocol: 'TCP', Scheduler: 'Wrr', VpcId: k.vpc,
      HealthCheckConfig: { HealthCheckEnabled: true, HealthCheckType: 'TCP', HealthCheckInterval: 10 },
      ClientToken: `sgp-${k.run}`, Tag: [{ Key: 'interop', Value: k.run }],
    }),
    keep: { servers: (a) => a.ServerGroupId },
  }),
  oneJob('CreateServerGroup'),
  {
    call: ['nlb', 'ListServerGroups'], // its tags travel in the query, the rest in the body
    input: (k) => ({ ServerGroupIds: [k.servers], Tag: [{ Key: 'interop', Value: k.run }], MaxResults: 20 }),
    good: (a, k) => list(a, 'ServerGroups').some((g) => g.ServerGroupId === k.servers),
  },
  withJob({
    call: ['nlb', 'CreateListener'],
    input: (k) => ({
      LoadBalancerId: k.nlb, ListenerProtocol: 'TCP', ListenerPort: 443, ServerGroupId: k.servers,
      ListenerDescription: k.run, ProxyProtocolEnabled: true, ProxyProtocolV2Config: { Ppv2VpcIdEnabled: true },
      ClientToken: `lsn-${k.run}`,
    }),
    keep: { listener: (a) => a.ListenerId },
  }),
  listedJob('CreateListener'),
  {
    call: ['nlb', 'ListListeners'],
    input: (k) => ({ LoadBalancerIds: [k.nlb], MaxResults: 100 }),
    good: (a, k) => list(a, 'Listeners').some((l) => l.ListenerId === k.listener && l.ListenerPort === 443),
  },
  serverStep('AddServersToServerGroup', { Weight: 100, Description: 'interop' }),
  listedJob('AddServersToServerGroup'),
  serversAre(100),
  serverStep('UpdateServerGroupServersAttribute', { Weight: 60 }),
  listedJob('UpdateServerGroupServersAttribute'),
  serversAre(60),
  serverStep('RemoveServersFromServerGroup', {}),
  listedJob('RemoveServersFromServerGroup'),
  serversAre(),
  ...tagSteps('nlb', 'loadbalancer', 'nlb', (a) => list(a, 'TagResources')),
  withJob({ call: ['nlb', 'DeleteListener'], input: (k) => ({ ListenerId: k.listener }) }),
  oneJob('DeleteListener'),
  withJob({ call: ['nlb', 'DeleteServerGroup'], input: (k) => ({ ServerGroupId: k.servers }) }),
  oneJob('DeleteServerGroup'),
  withJob({ call: ['nlb', 'DeleteLoadBalancer'], input: (k) => ({ LoadBalancerId: k.nlb }) }),
  oneJob('DeleteLoadBalancer'),
  {
    call: ['nlb', 'ListLoadBalancers'],
    label: 'nlb.ListLoadBalancers(gone)',
    input: (k) => ({ LoadBalancerIds: [k.nlb], MaxResults: 20 }),
    good: (a) => !list(a, 'LoadBalancers').length,
    again: true,
  },
];

const cidrs = ['10.250.1.0/24', '10.250.2.0/24', '10.250.3.0/24'];
const entries = (k, more) => cidrs.map((DstCidrBlock) => ({
  RouteTableId: k.table, DstCidrBlock, NextHop: k.instance, ...more,
}));
const ours = (a) => list(a, 'RouteEntrys', 'RouteEntry').filter((e) => cidrs.includes(e.DestinationCidrBlock));

const routes = [
  {
    call: ['vpc', 'CreateRouteEntries'],
    input: (k) => ({ RouteEntries: entries(k, { NextHopType: 'Instance' }) }),
    good: (a) => list(a, 'RouteEntryIds').length === cidrs.length && !a.FailedCount,
  },
  {
    call: ['vpc', 'DescribeRouteEntryList'],
    input: (k) => ({ RouteTableId: k.table, RouteEntryType: 'Custom', MaxResult: 2 }),
    pages: (sum, a) => ({ RouteEntrys: { RouteEntry: [...list(sum, 'RouteEntrys', 'RouteEntry'), ...ours(a)] } }),
    good: (a, k) => ours(a).length === cidrs.length
      && ours(a).every((e) => e.Status === 'Available' && e.NextHops.NextHop[0].NextHopId === k.instance),
    again: true,
  },
  {
    call: ['vpc', 'DeleteRouteEntries'],
    input: (k) => ({ RouteEntries: entries(k, {}) }),
    good: (a) => !a.FailedCount,
  },
  {
    call: ['vpc', 'DescribeRouteEntryList'],
    label: 'vpc.DescribeRouteEntryList(gone)',
    input: (k) => ({ RouteTableId: k.table, RouteEntryType: 'Custom', MaxResult: 2 }),
    pages: (sum, a) => ({ RouteEntrys: { RouteEntry: [...list(sum, 'RouteEntrys', 'RouteEntry'), ...ours(a)] } }),
    good: (a) => !ours(a).length,
    again: true,
  },
];

export const steps = [...world, ...classic, ...network, ...routes];
