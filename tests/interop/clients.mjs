// The official clients behind one function: call(product, action, input) with parameters and answers by wire name.
//
// vpc and ecs go through their typed clients, whose models are filled from and read back to wire names. slb and nlb go
// through the generic call of the core that the typed clients stand on, or through pop-core.
import { readFileSync } from 'node:fs';
import core from '@alicloud/openapi-core';
import Ecs from '@alicloud/ecs20140526';
import Vpc from '@alicloud/vpc20160428';
import Pop from '@alicloud/pop-core';

const { OpenApiUtil, $OpenApiUtil } = core;
const typedModules = { vpc: Vpc, ecs: Ecs };

function table(product) {
  return JSON.parse(readFileSync(new URL(`../sim/cloud/data/${product}.json`, import.meta.url), 'utf8'));
}

/** A model of the SDK from an object by wire names, nested models included. */
function toModel(Model, input) {
  const names = Model.names();
  const types = Model.types();
  const values = {};
  for (const [member, wire] of Object.entries(names)) {
    if (input[wire] === undefined) continue;
    const type = types[member];
    const Item = type?.itemType;
    if (Array.isArray(input[wire]) && typeof Item === 'function') {
      values[member] = input[wire].map((item) => toModel(Item, item));
    } else {
      values[member] = input[wire];
    }
  }
  const unknown = Object.keys(input).filter((wire) => !Object.values(names).includes(wire));
  if (unknown.length) throw new Error(`${Model.name} has no ${unknown.join(', ')}`);
  return new Model(values);
}

/** The other way round. */
function toWire(value) {
  if (Array.isArray(value)) return value.map(toWire);
  if (value === null || typeof value !== 'object' || typeof value.constructor.names !== 'function') return value;
  const names = value.constructor.names();
  return Object.fromEntries(
    Object.entries(names)
      .filter(([member]) => value[member] !== undefined && value[member] !== null)
      .map(([member, wire]) => [wire, toWire(value[member])]),
  );
}

/** Fails where the answer has a list, an object or a plain value in the place of another, by the paths of the table. */
function checkShape(answer, paths, action) {
  const kind = (x) => (Array.isArray(x) ? 'list' : x !== null && typeof x === 'object' ? 'object' : 'plain');
  for (const path of Object.keys(paths)) {
    const parts = path.split('.');
    let level = [answer];
    parts.forEach((part, index) => {
      const name = part.replaceAll('[]', '');
      const wanted = index === parts.length - 1 ? 'plain' : 'object';
      level = level.map((item) => item[name]).filter((item) => item !== undefined && item !== null);
      if (part.endsWith('[]')) {
        if (level.some((item) => kind(item) !== 'list')) throw new Error(`${action}: ${path} is no list`);
        level = level.flat();
      }
      if (level.some((item) => kind(item) !== wanted)) throw new Error(`${action}: ${path} is no ${wanted}`);
    });
  }
}

export function connect({ base, region, signer, key, secret }) {
  const config = () =>
    new $OpenApiUtil.Config({
      accessKeyId: key,
      accessKeySecret: secret,
      regionId: region,
      endpoint: base.host,
      protocol: base.protocol.slice(0, -1).toUpperCase(),
      connectTimeout: 5000,
      readTimeout: 15000,
      ...(signer === 'v3' ? {} : { signatureAlgorithm: 'v2' }), // the core's own word for the older one
    });
  const generic = new core.default(config());
  const typed = Object.fromEntries(Object.entries(typedModules).map(([name, m]) => [name, new m.default(config())]));
  const tables = { slb: table('slb'), nlb: table('nlb') };

  async function callTyped(product, action, input) {
    const Request = typedModules[product][`${action}Request`];
    const method = action[0].toLowerCase() + action.slice(1);
    const { body } = await typed[product][method](toModel(Request, { RegionId: region, ...input }));
    return toWire(body);
  }

  async function callGeneric(product, action, input) {
    const { version, actions } = tables[product];
    const spec = actions[action];
    const known = new Set(Object.keys(spec.parameters).map((name) => name.split('.')[0]));
    const given = known.has('RegionId') ? { RegionId: region, ...input } : input;
    const places = { query: {}, body: {} };
    for (const [name, value] of Object.entries(given)) {
      if (!known.has(name)) throw new Error(`${action} has no ${name}`);
      const asText = spec.parameters[name]?.type === 'string' && typeof value === 'object';
      const inBody = spec.inBody === 'all' || (spec.inBody ?? []).includes(name);
      places[inBody ? 'body' : 'query'][name] = asText ? JSON.stringify(value) : value;
    }
    const query = OpenApiUtil.query(places.query);
    const form = OpenApiUtil.query(places.body);
    let answer;
    if (signer === 'pop') {
      const pop = new Pop({ endpoint: base.origin, apiVersion: version, accessKeyId: key, accessKeySecret: secret });
      answer = await pop.request(action, { ...query, ...form }, { method: 'POST', formatParams: false });
    } else {
      const how = new $OpenApiUtil.Params({
        action, version, protocol: 'HTTPS', pathname: '/', method: 'POST', authType: 'AK', style: 'RPC',
        reqBodyType: 'formData', bodyType: 'json',
      });
      const request = new $OpenApiUtil.OpenApiRequest({ query, ...(Object.keys(form).length ? { body: form } : {}) });
      answer = (await generic.callApi(how, request, {})).body;
    }
    checkShape(answer, spec.answer, action);
    return answer;
  }

  return (product, action, input) => (product in typed ? callTyped : callGeneric)(product, action, input);
}
