import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect } from 'vitest';
import { Api } from '../../../local/cli/api.ts';
import { DevProcess } from './dev-process.ts';

const CLIENTS = 8;
const CALLS_EACH = 20;
export const UNITS = CLIENTS * CALLS_EACH;
/** Pause between attempts while no worker is running. Retrying without a pause would take the processor from the starting worker. */
const PAUSE_MS = 50;

interface Consumed {
  consumption_id: string;
  remaining: number;
}

/** Runs `npm run dev` with clients that count units while one of its processes is killed. */
export function countUnits(): {
  dev: () => DevProcess;
  countThrough: (part: Parameters<DevProcess['kill']>[0], customer?: string) => Promise<void>;
} {
  const home = mkdtempSync(join(tmpdir(), 'svc-restart-test-'));
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
  afterAll(async () => {
    await dev.end();
    rmSync(home, { recursive: true, force: true });
  });

  /** Consumes one unit and repeats under the same key until answered. A request in flight at a kill gets 5xx or no answer. */
  const consume = async (customer: string, name: string): Promise<Consumed> => {
    const body = { product_id: productId, customer: { customer_ref: customer }, units: 1 };
    const options = { credential: key, body, idempotencyKey: `${customer}-${name}` };
    for (;;) {
      const answer = await api.call<Consumed>('POST', '/v1/access/entitlements/consume', options);
      if (answer.status >= 500) {
        await sleep(PAUSE_MS);
        continue;
      }
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return answer.body;
    }
  };

  /** Kills the process while a customer's units are counted, then checks that every answered unit was counted exactly once. */
  const countThrough = async (part: Parameters<DevProcess['kill']>[0], customer: string = part): Promise<void> => {
    const grant = { product_id: productId, customer: { customer_ref: customer }, units: UNITS, reason: 'test' };
    await api.must('POST', '/v1/access/entitlements/grant', { credential: key, body: grant, idempotencyKey: `grant-${customer}` });
    const answers = new Map<string, Consumed>();
    const clients = Array.from({ length: CLIENTS }, async (_, client) => {
      for (let call = 0; call < CALLS_EACH; call++) answers.set(`${client}-${call}`, await consume(customer, `${client}-${call}`));
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
    const remaining = [...answers.values()].map((answer) => answer.remaining).sort((a, b) => a - b);
    expect(remaining).toEqual(Array.from({ length: UNITS }, (_, left) => left));
    for (const [name, answer] of before.slice(0, CLIENTS)) expect(await consume(customer, name)).toEqual(answer);
  };
  return { dev: () => dev, countThrough };
}
