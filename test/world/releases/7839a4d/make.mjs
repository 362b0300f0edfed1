/**
 * Fills entitlement objects with the code of commit 7839a4d, inside workerd, and writes down what they hold and what they must
 * answer. It says how the files beside it were made and is not run again: at any later commit it would fill objects with other
 * code. To repeat it: check out 7839a4d, put this file in its place, `npm ci`, `node test/world/releases/7839a4d/make.mjs`.
 *
 * objects.sql       the storage of every object, as SQL; a line `-- object: NAME` begins each
 * objects.json      per object: whose it is, its alarm, what each known key must replay, and how it must read at several times
 * entitlement.js    the object's code of that commit in one module, for tests that go back to the release
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { convertV4MiniflareOptions, Miniflare } from 'miniflare';

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../../../..');
const DAY = 86_400_000;
const HOUR = 3_600_000;
/** Later than any day on which this may be run, so that no alarm rings by itself: time moves by hand. */
const START = Date.UTC(2031, 0, 6);
/** The moment of the dump. */
const END = START + 40 * DAY;

const WORKER = `
import { Entitlement } from './durable-objects/entitlement.ts';
import { consumptionIdOf, entitlementIdOf } from './worker/core/ids.ts';

let now = ${START};
Date.now = () => now;

export class Filled extends Entitlement {
  constructor(state, env) {
    const sent = [];
    super(state, { ...env, JOBS: { send: async (job) => void sent.push(job.projection) } });
    this.sent = sent;
  }
  async dump() {
    const { sql } = this.ctx.storage;
    const quoted = (value) => (typeof value === 'string' ? "'" + value.replaceAll("'", "''") + "'" : value === null ? 'NULL' : String(value));
    const tables = sql.exec("SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\\\_%' ESCAPE '\\\\' ORDER BY rowid").toArray();
    const rows = ({ name }) => sql.exec('SELECT * FROM ' + name).toArray().map((row) => 'INSERT INTO ' + name + ' VALUES (' + Object.values(row).map(quoted).join(', ') + ');');
    return { lines: tables.flatMap((table) => [table.sql.replace(/\\s+/g, ' ') + ';', ...rows(table)]), alarmAt: await this.ctx.storage.getAlarm() };
  }
  wake() {
    return this.alarm({ retryCount: 0, isRetry: false, scheduledTime: now });
  }
}

export default {
  async fetch(request, env) {
    const { name, at, verb, input } = await request.json();
    now = at;
    if (verb === 'entitlementIdOf') return Response.json(entitlementIdOf(...input));
    if (verb === 'consumptionIdOf') return Response.json(consumptionIdOf(...input));
    const answer = await env.FILLED.getByName(name)[verb](...input);
    return Response.json(answer ?? null);
  },
};`;

const bundled = async (contents, external) => {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: ROOT, loader: 'ts' },
    bundle: true,
    format: 'esm',
    target: 'es2024',
    external: ['cloudflare:workers', 'node:*', ...external],
    write: false,
    legalComments: 'none',
  });
  return outputFiles[0].text;
};

const options = {
  modules: true,
  script: await bundled(WORKER, []),
  compatibilityDate: '2026-08-01',
  compatibilityFlags: ['nodejs_compat'],
  durableObjects: { FILLED: { className: 'Filled', useSQLite: true } },
};
const miniflare = new Miniflare(convertV4MiniflareOptions(options));
const ask = async (name, at, verb, ...input) => {
  const response = await miniflare.dispatchFetch('http://filled', { method: 'POST', body: JSON.stringify({ name, at, verb, input }) });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${verb}: ${text}`);
  return JSON.parse(text);
};

const described = [];
const dumped = [];
let merchants = 0;

/** Fills one object with a story, dumps it, and asks what its keys replay and how it reads. */
async function fill(label, story) {
  const merchantId = `00000000-0000-7000-8000-${String(++merchants).padStart(12, '0')}`;
  const customer =
    merchants % 2 === 1 ? { customerRef: `customer-${merchants}` } : { walletAddress: '5pwBVW7LsqxeEMCBViQ7SX2wxfdswJrpZodhKbCAuzrJ' };
  const productId = '01a1fc21-d414-7315-8bae-d95e4ff00294';
  const entitlementId = await ask('', START, 'entitlementIdOf', merchantId, true, productId, customer);
  const identity = { entitlementId, merchantId, livemode: true, productId, customer };
  const name = `${merchantId}:live:${entitlementId}`;
  let now = START;
  const known = [];
  const call = async (verb, input) => {
    if (now > END - DAY || verb === 'credit') known.push({ verb, input });
    return ask(name, now, verb, { identity, ...input, now });
  };
  const operation = (key, input) => ({ key, fingerprint: JSON.stringify(input), input });
  await story({
    at: (moment) => {
      now = moment;
    },
    consume: (key, units = 1) => call('consume', operation(key, { units })),
    grant: (key, addition) => call('grant', operation(key, { ...addition, reason: 'fixture' })),
    refund: (key, { consumptionId }) => call('refund', operation(key, { consumptionId, reason: 'fixture' })),
    credit: (paymentId, addition, consume = null) => call('credit', { paymentId, addition, consume }),
    revoke: (paymentId) => ask(name, now, 'revoke', { identity, paymentId, now }),
    read: (moment) => ask(name, now, 'read', moment),
    wake: () => ask(name, now, 'wake'),
  });
  const { lines, alarmAt } = await ask(name, END, 'dump');
  dumped.push(`-- object: ${label}`, ...lines);
  const replays = [];
  for (const { verb, input } of known) replays.push({ verb, input, answer: await ask(name, END, verb, { identity, ...input, now: END }) });
  const readings = [];
  for (const days of [0, 1, 7, 25, 60, 400])
    readings.push({ at: END + days * DAY, snapshot: await ask(name, END, 'read', END + days * DAY) });
  described.push({ label, name, identity, alarmAt, replays, readings });
}

const day = (n) => START + n * DAY;
/** The last day: what happens now is remembered under its key. */
const hour = (n) => END - DAY + n * HOUR;

await fill('everything: grants, payments with uses, refunds, taken back before and after the credit, an open outbox', async (o) => {
  o.at(day(0));
  await o.grant('old-grant', { units: 20, days: 90 });
  await o.credit('pay-1', { units: 10, days: 30 }, { key: 'settle-1', units: 3 });
  for (let i = 0; i < 5; i++) await o.consume(`old-${i}`, 2);
  o.at(day(3));
  await o.credit('pay-2', { units: 5, days: null });
  await o.wake();
  o.at(day(10));
  await o.revoke('pay-2');
  await o.revoke('pay-before');
  await o.wake();
  o.at(hour(1));
  const used = [];
  for (let i = 0; i < 8; i++) used.push(await o.consume(`young-${i}`, 1 + (i % 3)));
  await o.grant('young-grant', { units: 6 });
  await o.refund('refund-2', used[2]);
  await o.credit('pay-3', { units: 4, days: 30 }, { key: 'settle-3', units: 2 });
  o.at(hour(2));
  const first = await o.credit('pay-4', { units: 1, days: null }, { key: 'settle-4', units: 1 });
  await o.refund('refund-4', first.consumption);
  await o.credit('pay-4', { units: 1, days: null }, { key: 'settle-5', units: 1 });
  await o.credit('pay-4', { units: 1, days: null }, { key: 'settle-6', units: 1 });
  await o.credit('pay-before', { units: 50, days: null }, { key: 'settle-before', units: 1 });
  o.at(hour(23));
  await o.grant('late-grant', { days: 3 });
  await o.consume('too-much', 5000);
  await o.consume('last', 1);
});

await fill('uncounted time that runs, with uses of it, one refunded', async (o) => {
  o.at(day(0));
  await o.credit('pay-1', { units: null, days: 30 });
  await o.consume('old', 7);
  o.at(day(20));
  await o.credit('pay-2', { units: null, days: 30 });
  await o.credit('pay-3', { units: 5, days: null });
  await o.wake();
  o.at(hour(3));
  const used = await o.consume('free-1', 1000);
  await o.consume('free-2', 20);
  await o.refund('refund-1', used);
  await o.wake();
});

await fill('uncounted time that is over, and counted units drawn since', async (o) => {
  o.at(day(0));
  await o.credit('pay-1', { units: null, days: 30 });
  await o.credit('pay-2', { units: 5, days: 36 });
  o.at(day(31));
  await o.wake();
  await o.consume('old', 1);
  o.at(hour(1));
  await o.grant('thirty-days', { days: 30 });
  await o.credit('pay-3', { units: 1, days: null });
  await o.consume('young', 1);
  await o.wake();
});

await fill('units used up before more were bought', async (o) => {
  o.at(day(0));
  await o.credit('pay-1', { units: 10, days: 30 }, { key: 'settle-1', units: 10 });
  o.at(day(38));
  await o.credit('pay-2', { units: 5, days: 30 });
  await o.wake();
  o.at(hour(20));
  await o.consume('young-1', 4);
  await o.credit('pay-3', { units: 1, days: 30 });
  await o.wake();
});

await fill('everything used up, and everything told', async (o) => {
  o.at(hour(1));
  await o.credit('pay-1', { units: 2, days: null }, { key: 'settle-1', units: 1 });
  await o.consume('last', 1);
  await o.consume('none-left', 1);
  await o.wake();
});

await fill('access that ended by time, told and purged', async (o) => {
  o.at(day(0));
  await o.credit('pay-1', { units: 9, days: 7 });
  await o.consume('old', 2);
  o.at(day(8));
  await o.wake();
  o.at(day(20));
  await o.wake();
});

await fill('taken back whole', async (o) => {
  o.at(hour(1));
  await o.credit('pay-1', { units: 9, days: 30 });
  const used = await o.consume('young', 4);
  await o.revoke('pay-1');
  await o.refund('refund', used);
  await o.credit('pay-1', { units: 9, days: 30 }, { key: 'settle-late', units: 1 });
});

await fill('only a payment taken back before it came', async (o) => {
  o.at(hour(1));
  await o.revoke('pay-1');
});

await fill('more events than one message takes', async (o) => {
  o.at(hour(5));
  for (let i = 0; i < 60; i++) await o.credit(`pay-${i}`, { units: 1, days: null }, { key: `settle-${i}`, units: 1 });
  for (let i = 0; i < 20; i++) await o.grant(`grant-${i}`, { units: 2 });
});

await fill('a clock that one caller put a day ahead', async (o) => {
  o.at(hour(1));
  await o.grant('grant', { units: 10, days: 2 });
  await o.consume('before', 1);
  o.at(END + DAY - HOUR);
  await o.consume('ahead', 1);
});

await miniflare.dispose();
writeFileSync(join(HERE, 'objects.sql'), `${dumped.join('\n')}\n`);
const lines = (list) => `[\n${list.map((item) => JSON.stringify(item)).join(',\n')}\n]`;
const objects = described.map(({ replays, readings, ...object }) => {
  const head = JSON.stringify(object).slice(0, -1);
  return `${head},"readings":${lines(readings)},"replays":${lines(replays)}}`;
});
writeFileSync(join(HERE, 'objects.json'), `{"commit":"7839a4d","madeAt":${END},"objects":[\n${objects.join(',\n')}\n]}\n`);
const entitlement = await bundled("export { Entitlement } from './durable-objects/entitlement.ts';", [
  '@noble/*',
  '@scure/*',
  'canonicalize',
]);
writeFileSync(join(HERE, 'entitlement.js'), `// The entitlement object as commit 7839a4d has it, bundled by make.mjs.\n${entitlement}`);
