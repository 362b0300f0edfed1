import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from '../../../local/api.ts';
import { workerdPath } from '../../../local/wrangler.ts';
import { DevProcess, isAlive } from './dev-process.ts';

/** What a worker that ends by itself leaves behind, and what `npm run dev` makes of it. */
const stateDir = mkdtempSync(join(tmpdir(), 'svc-restart-test-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

/** That of the wrangler in package.json. The one the test pool brings is older, and stories inside it say nothing of this one. */
const RUNTIME_SINCE = Date.parse('2026-10-23');
const CLIENTS = 8;
const CALLS_EACH = 20;
const UNITS = CLIENTS * CALLS_EACH;

interface Consumed {
  consumption_id: string;
  remaining: number;
}

describe('a worker that is killed while it counts units', () => {
  const home = join(stateDir, 'counts');
  let dev: DevProcess;
  let api: Api;
  let key: string;
  let productId: string;

  beforeAll(async () => {
    dev = new DevProcess(home);
    api = new Api((await dev.ready()).baseUrl);
    key = JSON.parse(readFileSync(join(home, 'secrets.json'), 'utf8')).merchant.key;
    const product = { name: 'Calls', price: { asset: 'USDC', amount: '1' }, usage_units: UNITS, access_period_days: null };
    const { items } = await api.must<{ items: { payout_wallet: string }[] }>('GET', '/v1/products', { credential: key });
    const body = { ...product, payout_wallet: items[0]!.payout_wallet };
    productId = (await api.must<{ product_id: string }>('POST', '/v1/products', { credential: key, body })).product_id;
  }, 60_000);
  afterAll(() => dev.end());

  /** One unit, asked for with the same key until there is an answer: a request under way at the kill is answered 5xx, or not at all. */
  const consume = async (customer: string, name: string): Promise<Consumed> => {
    const body = { product_id: productId, customer: { customer_ref: customer }, units: 1 };
    const options = { credential: key, body, idempotencyKey: `${customer}-${name}` };
    for (;;) {
      const answer = await api.call<Consumed>('POST', '/v1/access/entitlements/consume', options);
      if (answer.status >= 500) continue;
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body;
    }
  };

  it.each(['wrangler', 'proxy', 'worker'] as const)(
    '%s killed: it comes back with every answered unit, and counts none twice',
    async (part) => {
      const grant = { product_id: productId, customer: { customer_ref: part }, units: UNITS, reason: 'test' };
      await api.must('POST', '/v1/access/entitlements/grant', { credential: key, body: grant, idempotencyKey: `grant-${part}` });
      const runtime = execFileSync(`/proc/${dev.find('worker')}/exe`, ['--version'], { encoding: 'utf8' });
      expect(Date.parse(runtime.split(' ')[1]!), runtime).toBeGreaterThanOrEqual(RUNTIME_SINCE);

      const answers = new Map<string, Consumed>();
      const clients = Array.from({ length: CLIENTS }, async (_, client) => {
        for (let call = 0; call < CALLS_EACH; call++) answers.set(`${client}-${call}`, await consume(part, `${client}-${call}`));
      });
      while (answers.size < UNITS / 4) await sleep(1);
      const before = [...answers];
      const { restarts } = dev;
      dev.kill(part);
      await Promise.all(clients);

      expect(before.length).toBeLessThan(UNITS);
      expect(dev.restarts).toBe(restarts + 1);
      expect(answers.size).toBe(UNITS);
      expect(new Set([...answers.values()].map(({ consumption_id: id }) => id)).size).toBe(UNITS);
      // Every unit was counted once: the numbers left, from answer to answer, are those below the grant, each of them once.
      const remaining = [...answers.values()].map((answer) => answer.remaining).sort((a, b) => a - b);
      expect(remaining).toEqual(Array.from({ length: UNITS }, (_, left) => left));
      for (const [name, answer] of before.slice(0, CLIENTS)) expect(await consume(part, name)).toEqual(answer);
    },
  );

  it('ends cleanly when it is interrupted in the middle of a restart', async () => {
    const { restarts } = dev;
    const killed = dev.find('worker');
    dev.kill('worker');
    while (dev.restarts === restarts || [killed, undefined].includes(dev.find('worker'))) await sleep(5);
    const processes = dev.descendants();
    expect(await dev.end(), dev.output).toBe(0);
    expect(processes.filter(isAlive)).toEqual([]);
    expect(dev.output.match(/^ready /gm)).toHaveLength(1);
  });
});

it('a worker that cannot start is given up after five tries, with its last words', async () => {
  const home = join(stateDir, 'cannot-start');
  const [runtime, isBroken, starts] = ['workerd', 'is-broken', 'starts'].map((name) => join(stateDir, name)) as [string, string, string];
  // A runtime that works for the migrations, and for nothing after them.
  const script = `#!/bin/sh\n[ -e '${isBroken}' ] || exec '${workerdPath()}' "$@"\necho >> '${starts}'\necho 'there is no runtime today' >&2\nexit 1\n`;
  writeFileSync(runtime, script, { mode: 0o755 });
  const dev = new DevProcess(home, [], { MINIFLARE_WORKERD_PATH: runtime });
  await dev.says(/^Starting the service$/m);
  writeFileSync(isBroken, '');
  expect(await dev.ended()).toBe(1);
  expect(dev.output).not.toMatch(/^ready /m);
  expect(dev.restarts).toBe(5);
  expect(readFileSync(starts, 'utf8').length).toBeGreaterThanOrEqual(6);
  const [, lastWords] = dev.output.split('was started again 5 times');
  expect(lastWords).toContain('there is no runtime today');
});
