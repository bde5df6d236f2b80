#!/usr/bin/env node
// Runs the steps with the official clients: node smoke.mjs http://127.0.0.1:PORT [--signer v3|v1|pop] [--region R]
// [--key ID] [--secret S] [--wait SECONDS]. A line per step; exit code 1 when one failed, 2 for a bad command line.
import { parseArgs } from 'node:util';
import { setTimeout as pause } from 'node:timers/promises';
import { connect } from './clients.mjs';
import { steps } from './steps.mjs';

function usage(why) {
  console.error(`${why}\nusage: smoke.mjs http://HOST:PORT [--signer v3|v1|pop] [--region R] [--key ID] [--secret S] [--wait S]`);
  process.exit(2);
}

function options() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        signer: { type: 'string', default: 'v3' },
        region: { type: 'string', default: 'cn-hangzhou' },
        key: { type: 'string', default: 'testAccessKeyId' },
        secret: { type: 'string', default: 'testAccessKeySecret' },
        wait: { type: 'string', default: '30' },
      },
    });
  } catch (error) {
    return usage(error.message);
  }
}

/** Reading what no step has kept is an error that names it. */
const kept = new Proxy({ run: `interop-${Date.now().toString(36)}` }, {
  get(target, name) {
    if (target[name] === undefined) throw new Error(`no ${String(name)} from an earlier step`);
    return target[name];
  },
});

/** The answer, of all pages where the step sums them up. */
async function ask(call, step) {
  const [product, action] = step.call;
  const input = step.input(kept);
  let answer = await call(product, action, input);
  if (!step.pages) return answer;
  let sum = step.pages(undefined, answer);
  while (answer.NextToken) {
    answer = await call(product, action, { ...input, NextToken: answer.NextToken });
    sum = step.pages(sum, answer);
  }
  return sum;
}

async function run(call, step, seconds) {
  const end = Date.now() + seconds * 1000;
  for (;;) {
    const answer = await ask(call, step);
    if (!step.good || step.good(answer, kept)) return answer;
    if (!step.again || Date.now() > end) throw new Error(`unexpected answer ${JSON.stringify(answer).slice(0, 300)}`);
    await pause(100);
  }
}

function keep(step, answer) {
  for (const [name, pick] of Object.entries(step.keep ?? {})) {
    const value = pick(answer);
    if (value === undefined || value === '' || value?.length === 0) throw new Error(`the answer has no ${name}`);
    kept[name] = value;
  }
}

const { values, positionals } = options();
if (positionals.length !== 1 || !['v3', 'v1', 'pop'].includes(values.signer)) usage('one address and a known signer are needed');
const call = connect({ ...values, base: new URL(positionals[0]) });
let failed = 0;
for (const step of steps) {
  const label = step.label ?? step.call.join('.');
  try {
    keep(step, await run(call, step, Number(values.wait)));
    console.log(`ok ${label}`);
  } catch (error) {
    failed++;
    console.log(`FAIL ${label}: ${[error.code, error.message].filter(Boolean).join(' ').replace(/\s+/g, ' ').slice(0, 400)}`);
  }
}
console.log(`${steps.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
