import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WalletChain } from '../../demo/wallet.ts';
import { requestText } from '../load/client.ts';
import { runLoad } from '../load/load.ts';
import type { Measured, MeasureOptions } from '../load/measure.ts';
import { countText, type Sizes } from '../load/sizes.ts';
import type { BenchService } from '../services/whole-service.ts';
import { must } from './journeys.ts';

export const WITH_LIVE = 'beside';
export const WITH_LIVE_CLIENTS = 8;
const POLL_EVERY_MS = 200;
const BEGIN_AT_ONCE = 10;
const UNITS = 1_000_000_000;
const SCENARIOS = ['payment_confirmed', 'membership_renewed', 'x402_settled', 'support_ticket_cycle'];

const countRunning = async (service: BenchService): Promise<number> =>
  (await must<{ running: number }>(service, { method: 'GET', path: '/bench/sandboxes', status: 200 })).running;

/** Starts sandbox sessions and replaces ended ones. Returns a function that stops replacing them and waits until all have ended. */
async function runSessions(service: BenchService, sessions: number): Promise<() => Promise<void>> {
  let [isOver, begun] = [false, 0];
  const begin = async (): Promise<void> => {
    const body = JSON.stringify({ scenario: SCENARIOS[begun++ % SCENARIOS.length] });
    await must(service, { method: 'POST', path: '/v1/testing/sessions', key: service.sandboxKey, body, status: 201 });
  };
  const fill = async (): Promise<void> => {
    for (let missing = sessions - (await countRunning(service)); missing > 0 && !isOver; missing -= BEGIN_AT_ONCE)
      await Promise.all(Array.from({ length: Math.min(missing, BEGIN_AT_ONCE) }, begin));
  };
  await fill();
  const filling = (async () => {
    for (; !isOver; await sleep(POLL_EVERY_MS)) await fill();
  })();
  filling.catch(() => {});
  return async () => {
    isOver = true;
    await filling;
    while ((await countRunning(service)) > 0) await sleep(POLL_EVERY_MS);
  };
}

/** Creates a live entitlement that no round exhausts. Returns the request that consumes one unit. */
async function openConsume(service: BenchService): Promise<(index: number) => string> {
  const { address } = await new WalletChain(service.rpcUrl).newBuyer(1n);
  const named = { product_id: service.unitsProductId, customer: { wallet_address: address } };
  const granted = JSON.stringify({ ...named, units: UNITS, reason: 'bench' });
  const headers = { 'Idempotency-Key': randomUUID() };
  await must(service, { method: 'POST', path: '/v1/access/entitlements/grant', key: service.key, headers, body: granted, status: 200 });
  const sent = { 'X-Svc-Key': service.key, 'Idempotency-Key': '@' };
  const [head, tail] = requestText('POST', '/v1/access/entitlements/consume', sent, JSON.stringify(named)).split('@') as [string, string];
  const run = randomUUID();
  return (index) => `${head}${run}-${index}${tail}`;
}

export async function measureWithLive(
  service: BenchService,
  { rounds, warmupMs, measureMs, sizes }: MeasureOptions & { sizes: Sizes },
): Promise<Measured[]> {
  const request = await openConsume(service);
  const server = { port: Number(new URL(service.baseUrl).port), pids: () => service.pids };
  let sent = 0;
  const sample = () => runLoad({ server, clients: WITH_LIVE_CLIENTS, warmupMs, measureMs, request: () => request(sent++) });
  const measuredAs = (id: string, name: string): Measured => {
    const row = { id, name, target: 'workerd', path: '', counters: 1, units: 1 } as const;
    return { row, clients: WITH_LIVE_CLIENTS, samples: [] };
  };
  const alone = measuredAs('liveAlone', 'a live consume');
  const withLive = measuredAs('liveBeside', `  during ${countText(sizes.sandboxes)} sandbox sessions`);
  await sample();
  for (let round = 0; round < rounds; round++) {
    alone.samples.push(await sample());
    const stop = await runSessions(service, sizes.sandboxes);
    withLive.samples.push(await sample());
    await stop();
  }
  return [alone, withLive];
}
