import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import type { Teardown } from '../../cli/teardown.ts';
import type { Session } from '../../demo/purchase.ts';
import { WalletChain } from '../../demo/wallet.ts';
import type { Counted, Sample } from '../load/load.ts';
import type { Measured } from '../load/measure.ts';
import { cpuMsOf } from '../load/processes.ts';
import { countText, type Sizes } from '../load/sizes.ts';
import type { BenchService } from '../services/whole-service.ts';
import { headersOf, type ServiceRequest } from './costs.ts';

export const JOURNEY_CLIENTS = 8;
const COUNTED = 3;
const ENDPOINTS = 10;
const ARRIVES_WITHIN_MS = 30_000;
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

interface Once {
  request: ServiceRequest;
  isDone?: () => Promise<void>;
}

export interface Journey {
  id: string;
  name: string;
  /** Counts database rows and object calls of the queue consumers instead of the request's. */
  isQueued?: true;
  open(service: BenchService, teardown: Teardown): Promise<(index: number) => Promise<Once>>;
}

const json = <T>(response: Response): Promise<T> => response.json() as Promise<T>;

export async function must<T>({ baseUrl }: BenchService, one: ServiceRequest): Promise<T> {
  const response = await fetch(baseUrl + one.path, { method: one.method, headers: headersOf(one), body: one.body ?? null });
  if (response.status !== one.status) throw new Error(`${one.path} answered ${response.status}: ${await response.text()}`);
  return json<T>(response);
}

const connectOf = ({ slug }: BenchService, wallet: string): ServiceRequest => ({
  method: 'POST',
  path: `/v1/products/p/${slug}/connect`,
  body: JSON.stringify({ wallet_address: wallet }),
  status: 200,
});

async function paid(service: BenchService): Promise<ServiceRequest & { paymentId: string }> {
  const chain = new WalletChain(service.rpcUrl);
  const buyer = await chain.newBuyer(1_000_000n);
  const session = await must<Session>(service, connectOf(service, buyer.address));
  const signature = await chain.pay(buyer, session, BigInt(session.price.base_units));
  await chain.waitUntilConfirmed(signature);
  const body = JSON.stringify({ payment_id: session.payment_id, tx_signature: signature });
  return { method: 'POST', path: '/v1/pay/confirm', body, status: 200, paymentId: session.payment_id };
}

/** Creates ten webhook endpoints on one local server. Returns the number of received deliveries by payment id. */
async function openEndpoints(service: BenchService, teardown: Teardown): Promise<Map<string, number>> {
  const heard = new Map<string, number>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const event = JSON.parse(Buffer.concat(chunks).toString()) as { data: { object: { payment_id?: string } } };
    const id = event.data.object.payment_id ?? '';
    heard.set(id, (heard.get(id) ?? 0) + 1);
    response.end('ok');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  teardown.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < ENDPOINTS; i++) {
    const body = JSON.stringify({ url: `http://127.0.0.1:${port}/${i}`, event_types: ['payment.confirmed'] });
    await must(service, { method: 'POST', path: '/v1/webhooks/endpoints', key: service.key, body, status: 201 });
  }
  return heard;
}

async function untilHeard(heard: Map<string, number>, paymentId: string): Promise<void> {
  for (const until = Date.now() + ARRIVES_WITHIN_MS; (heard.get(paymentId) ?? 0) < ENDPOINTS; await new Promise((go) => setTimeout(go, 1)))
    if (Date.now() > until) throw new Error(`${heard.get(paymentId) ?? 0} of ${ENDPOINTS} endpoints received ${paymentId}`);
}

const READ = { method: 'GET', path: '/v1/products', status: 200 } as const;

export const journeysAt = ({ receipts }: Sizes): Journey[] => [
  {
    id: 'readByKey',
    name: 'read with a key',
    open:
      async ({ key }) =>
      async () => ({ request: { ...READ, key } }),
  },
  {
    id: 'readByToken',
    name: '  the same with a token of a session',
    open:
      async ({ token }) =>
      async () => ({ request: { ...READ, headers: { Authorization: `Bearer ${token}` } } }),
  },
  {
    id: 'connecting',
    name: 'connect: a session with its transaction',
    open: async (service) => {
      const chain = new WalletChain(service.rpcUrl);
      return async () => ({ request: connectOf(service, (await chain.newBuyer(1_000_000n)).address) });
    },
  },
  {
    id: 'confirming',
    name: 'confirm: receipt, membership, events',
    open: async (service) => async () => ({ request: await paid(service) }),
  },
  {
    id: 'settling',
    name: 'settle: x402, on chain, one unit used',
    open: async (service) => {
      const chain = new WalletChain(service.rpcUrl);
      const agent = await chain.newBuyer(1_000_000_000n);
      const http = new x402HTTPClient(new x402Client().register(DEVNET, new ExactSvmScheme(agent, { rpcUrl: service.rpcUrl })));
      const product_id = service.unitsProductId;
      const refused = await fetch(`${service.baseUrl}/v1/access/entitlements/consume`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', 'X-Svc-Key': service.key, 'Idempotency-Key': 'bench-challenge' },
        body: JSON.stringify({ product_id, customer: { customer_ref: 'nobody' } }),
      });
      const challenge = http.getPaymentRequiredResponse((name) => refused.headers.get(name));
      return async (index) => {
        const payload = await http.createPaymentPayload(challenge);
        const payment_signature = http.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'];
        const body = JSON.stringify({ product_id, payment_signature, consume_units: 1 });
        const headers = { 'Idempotency-Key': `bench-settle-${index}` };
        return { request: { method: 'POST', path: '/v1/access/x402/settle', key: service.key, headers, body, status: 200 } };
      };
    },
  },
  {
    id: 'delivering',
    name: `a confirmed sale delivered to ${ENDPOINTS} endpoints`,
    isQueued: true,
    open: async (service, teardown) => {
      const heard = await openEndpoints(service, teardown);
      return async () => {
        const request = await paid(service);
        return { request, isDone: () => untilHeard(heard, request.paymentId) };
      };
    },
  },
  {
    id: 'receipts',
    name: `first page of ${countText(receipts)} receipts`,
    open: async (service) => {
      const { receipt_id: receiptId } = await must<{ receipt_id: string }>(service, await paid(service));
      const body = JSON.stringify({ receiptId, times: receipts });
      await must(service, { method: 'POST', path: '/bench/receipts', body, status: 200 });
      const request = { method: 'GET', path: '/v1/receipts', key: service.key, status: 200 };
      return async () => ({ request });
    },
  },
];

async function timed(service: BenchService, { request, isDone }: Once): Promise<number> {
  const from = performance.now();
  await must(service, request);
  await isDone?.();
  return performance.now() - from;
}

async function sample(service: BenchService, next: () => Promise<Once>, repeats: number): Promise<Sample> {
  const latencies: number[] = [];
  let [ms, cpuMs] = [0, 0];
  while (latencies.length < repeats) {
    const batch = await Promise.all(Array.from({ length: JOURNEY_CLIENTS }, next));
    const [from, before] = [performance.now(), cpuMsOf(service.pids)];
    latencies.push(...(await Promise.all(batch.map((once) => timed(service, once)))));
    ms += performance.now() - from;
    cpuMs += cpuMsOf(service.pids) - before;
  }
  const sorted = latencies.sort((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
  const answered = sorted.length;
  return { perSecond: (answered * 1000) / ms, p50: at(0.5), p99: at(0.99), cpuMicros: (cpuMs * 1000) / answered, answered };
}

async function count({ isQueued }: Journey, service: BenchService, next: () => Promise<Once>): Promise<Counted> {
  const queued = (method: 'GET' | 'POST') => must<Counted>(service, { method, path: '/bench/queued', status: 200 });
  const counts: Counted[] = [];
  for (let i = 0; i < COUNTED; i++) {
    const { request, isDone } = await next();
    if (isQueued) await queued('POST');
    const counted = await must<Counted>(service, { ...request, headers: { ...request.headers, 'X-Bench-Count': '1' } });
    await isDone?.();
    counts.push(isQueued ? await queued('GET') : counted);
  }
  const mean = (figure: keyof Counted) => counts.reduce((sum, one) => sum + one[figure], 0) / COUNTED;
  return { rowsRead: mean('rowsRead'), rowsWritten: mean('rowsWritten'), objectCalls: mean('objectCalls') };
}

export async function measureJourney(
  journey: Journey,
  service: BenchService,
  { rounds, repeats, teardown }: { rounds: number; repeats: number; teardown: Teardown },
): Promise<Measured> {
  const make = await journey.open(service, teardown);
  let index = 0;
  const next = () => make(index++);
  await timed(service, await next());
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round++) samples.push(await sample(service, next, repeats));
  const counted = await count(journey, service, next);
  const { id, name } = journey;
  const row = { id, name, target: 'workerd', path: '', counters: 0, units: 0 } as const;
  return { row, clients: JOURNEY_CLIENTS, samples: samples.map((one) => ({ ...one, ...counted })) };
}
