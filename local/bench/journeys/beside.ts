import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WalletChain } from '../../demo/wallet.ts';
import { requestText } from '../load/client.ts';
import { runLoad } from '../load/load.ts';
import type { Measured, MeasureOptions } from '../load/measure.ts';
import { countText, type Sizes } from '../load/sizes.ts';
import type { Whole } from '../services/whole.ts';
import { must } from './journeys.ts';

/** What `--rows` calls it. */
export const BESIDE = 'beside';
export const BESIDE_CLIENTS = 8;
const LOOK_EVERY_MS = 200;
const BEGIN_AT_ONCE = 10;
const UNITS = 1_000_000_000;
/** Scenarios of many steps: sales, renewals, payments of agents, letters of support. */
const SCENARIOS = ['payment_confirmed', 'membership_renewed', 'x402_settled', 'support_ticket_cycle'];

const countRunning = async (whole: Whole): Promise<number> =>
  (await must<{ running: number }>(whole, { method: 'GET', path: '/bench/sandboxes', status: 200 })).running;

/** From now on so many sessions of the sandbox run, others for those that end. Answers when they do, and how to let it be. */
async function keepRunning(whole: Whole, sessions: number): Promise<() => Promise<void>> {
  let [isOver, begun] = [false, 0];
  const begin = async (): Promise<void> => {
    const body = JSON.stringify({ scenario: SCENARIOS[begun++ % SCENARIOS.length] });
    await must(whole, { method: 'POST', path: '/v1/testing/sessions', key: whole.sandboxKey, body, status: 201 });
  };
  const fill = async (): Promise<void> => {
    for (let missing = sessions - (await countRunning(whole)); missing > 0 && !isOver; missing -= BEGIN_AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(missing, BEGIN_AT_ONCE) }, begin));
  };
  await fill();
  const filling = (async () => {
    for (; !isOver; await sleep(LOOK_EVERY_MS)) await fill();
  })();
  // A failure reaches the caller that waits for the end.
  filling.catch(() => {});
  return async () => {
    isOver = true;
    await filling;
    while ((await countRunning(whole)) > 0) await sleep(LOOK_EVERY_MS);
  };
}

/** A live entitlement that no round uses up, and the request that consumes one unit of it. */
async function openConsume(whole: Whole): Promise<(index: number) => string> {
  const { address } = await new WalletChain(whole.rpcUrl).newBuyer(1n);
  const named = { product_id: whole.unitsProductId, customer: { wallet_address: address } };
  const granted = JSON.stringify({ ...named, units: UNITS, reason: 'bench' });
  const headers = { 'Idempotency-Key': randomUUID() };
  await must(whole, { method: 'POST', path: '/v1/access/entitlements/grant', key: whole.key, headers, body: granted, status: 200 });
  const sent = { 'X-Svc-Key': whole.key, 'Idempotency-Key': '@' };
  const [head, tail] = requestText('POST', '/v1/access/entitlements/consume', sent, JSON.stringify(named)).split('@') as [string, string];
  const run = randomUUID();
  return (index) => `${head}${run}-${index}${tail}`;
}

/** A live consume alone and beside sessions of the sandbox, in turns, round after round. */
export async function measureBeside(
  whole: Whole,
  { rounds, warmupMs, measureMs, sizes }: MeasureOptions & { sizes: Sizes },
): Promise<Measured[]> {
  const request = await openConsume(whole);
  const server = { port: Number(new URL(whole.baseUrl).port), pids: () => whole.pids };
  let sent = 0;
  const sample = () => runLoad({ server, clients: BESIDE_CLIENTS, warmupMs, measureMs, request: () => request(sent++) });
  const measuredAs = (id: string, name: string): Measured => {
    const row = { id, name, target: 'workerd', path: '', counters: 1, units: 1 } as const;
    return { row, clients: BESIDE_CLIENTS, samples: [] };
  };
  const alone = measuredAs('liveAlone', 'a live consume');
  const beside = measuredAs('liveBeside', `  beside ${countText(sizes.sandboxes)} sandbox sessions`);
  await sample();
  for (let round = 0; round < rounds; round++) {
    alone.samples.push(await sample());
    const stop = await keepRunning(whole, sizes.sandboxes);
    beside.samples.push(await sample());
    await stop();
  }
  return [alone, beside];
}
