import { setTimeout as sleep } from 'node:timers/promises';
import { base58 } from '#core/encoding.ts';
import { BODY_KB } from '#core/limits.ts';
import { MANIFEST_EXAMPLE } from '#features/agent-setup/manifest/schema.ts';
import { findUnacceptable } from '#platform/http/bodies/refused-content.ts';
import { Api } from '../../cli/api.ts';
import { cpuMsOf } from '../load/processes.ts';
import { countText, type Sizes } from '../load/sizes.ts';
import type { BenchService } from '../services/whole-service.ts';

export interface Cost {
  id: string;
  name: string;
  aimMs: number;
  run?: () => void | Promise<void>;
  /** Request to the complete service. The measured CPU time includes runtime and database, so it exceeds what the platform would bill. */
  request?: (service: BenchService, index: number) => ServiceRequest;
  prepare?: (service: BenchService) => Promise<unknown>;
}

export interface ServiceRequest {
  method: string;
  path: string;
  key?: string;
  headers?: Record<string, string>;
  body?: string;
  status: number;
}

const SCAN_GOAL_MS = 5;
const REQUEST_AIM_MS = 50;
const SHORT_BYTES = 64_000;
const LONG_BYTES = 1_000_000;
const PROVIDED_BYTES = BODY_KB.provider * 1024;

const times = (text: string, bytes: number): string[] => Array.from({ length: Math.floor(bytes / (text.length + 3)) }, () => text);
const full = (text: string, bytes: number): string => JSON.stringify(times(text, bytes));

/** Seed phrase without a valid checksum. */
const PHRASE = `${Array(11).fill('abandon').join(' ')} zoo`;
const HALF_KEY = base58.encode(new Uint8Array(64).fill(7));

const scans: Cost[] = (
  [
    ['lookPhrases', 'phrases with a wrong checksum', PHRASE, SHORT_BYTES],
    ['lookLong', 'long phrases with a wrong checksum', `${Array(23).fill('abandon').join(' ')} zoo`, SHORT_BYTES],
    ['lookLast', 'phrases whose last word is none', `${Array(11).fill('abandon').join(' ')} abandonn`, SHORT_BYTES],
    ['lookKeys', 'keys with a wrong half, in base58', HALF_KEY, SHORT_BYTES],
    ['lookHex', 'keys with a wrong half, in hex', '07'.repeat(64), SHORT_BYTES],
    [
      'lookSignatures',
      'a manifest of nothing but signatures',
      base58.encode(Uint8Array.from({ length: 64 }, (_, i) => 255 - i)),
      LONG_BYTES,
    ],
    ['lookManifest', 'a manifest of nothing but phrases', PHRASE, LONG_BYTES],
  ] as const
).map(([id, name, text, bytes]) => {
  const body = times(text, bytes);
  const run = async () => {
    if ((await findUnacceptable(body)) !== null) throw new Error(`${name}: taken for a secret`);
  };
  return { id, name: `looking for secrets: ${name}`, aimMs: SCAN_GOAL_MS, run };
});

const product = (index: number): string => {
  const metadata = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`key-${i}`, 'é'.repeat(500)]));
  return JSON.stringify({ name: `${index} ${'x'.repeat(140)}`, description: 'x'.repeat(5000), metadata });
};

const manifest = (service: BenchService): string => {
  const url = `https://api.example.com/${'x'.repeat(2000)}`;
  const resources = Array.from({ length: 100 }, (_, i) => ({ method: 'GET', url, product_ref: `product-${i % 50}`, units: 1 }));
  const products = Array.from({ length: 50 }, (_, i) => ({
    external_product_id: `product-${i}`,
    name: `product ${i} ${'x'.repeat(140)}`,
    description: 'x'.repeat(2000),
    price: { asset: 'USDC', amount: '0.01' },
    usage_units: 1,
  }));
  return JSON.stringify({
    ...MANIFEST_EXAMPLE,
    setup_secret: service.setup.setup_secret,
    description: 'x'.repeat(2000),
    resources,
    products,
  });
};

const provided = full(HALF_KEY, PROVIDED_BYTES).replaceAll(`"${HALF_KEY}"`, `{"signature":"${HALF_KEY}"}`).slice(0, PROVIDED_BYTES);
const CONSUME = { units: 1, resource: { url: `https://api.example.com/${'x'.repeat(2000)}`, description: 'x'.repeat(500) } };
const json = { 'Content-Type': 'application/json' };

const requests: Omit<Cost, 'aimMs'>[] = [
  { id: 'document', name: 'the whole document', request: () => ({ method: 'GET', path: '/v1/openapi.json', status: 200 }) },
  {
    id: 'eventTypes',
    name: 'every event with its schema',
    request: ({ key }) => ({ method: 'GET', path: '/v1/webhooks/event-types', key, status: 200 }),
  },
  {
    id: 'page',
    name: 'a page of 100 events',
    request: ({ key }) => ({ method: 'GET', path: '/v1/webhooks/events?per_page=100', key, status: 200 }),
  },
  {
    id: 'product',
    name: 'a change of a product by 46 KB',
    request: ({ key, product_id }, index) => ({
      method: 'PATCH',
      path: `/v1/products/${product_id}`,
      key,
      body: product(index),
      status: 200,
    }),
  },
  {
    id: 'manifest',
    name: 'a manifest as long as may be',
    request: (service) => ({
      method: 'POST',
      path: `/v1/access/agent-bootstrap/${service.setup.setup_intent_id}/manifest`,
      body: manifest(service),
      status: 200,
    }),
  },
  {
    id: 'denied',
    name: 'a consume that is answered with a challenge',
    request: ({ key, product_id, wallet }, index) => ({
      method: 'POST',
      path: '/v1/access/entitlements/consume',
      key,
      headers: { 'Idempotency-Key': `bench-consume-${index}` },
      body: JSON.stringify({ product_id, customer: { wallet_address: wallet }, ...CONSUME }),
      status: 403,
    }),
  },
  {
    id: 'connect',
    name: 'a checkout with its transaction',
    request: ({ slug, buyer }) => ({
      method: 'POST',
      path: `/v1/products/p/${slug}/connect`,
      body: JSON.stringify({ wallet_address: buyer }),
      status: 200,
    }),
  },
  {
    id: 'refused',
    name: 'a body of 64 KB that holds only phrases',
    request: () => ({ method: 'POST', path: '/v1/auth/wallet/nonce', body: full(PHRASE, SHORT_BYTES), status: 422 }),
  },
  {
    id: 'unsigned',
    name: '256 KB from nobody’s provider',
    request: () => ({
      method: 'POST',
      path: '/v1/products/webhook/rpc',
      headers: { 'X-Rpc-Signature': '0'.repeat(64) },
      body: provided,
      status: 401,
    }),
  },
];

function figuresAt({ payments }: Sizes): Cost[] {
  let seeded: Promise<unknown> | null = null;
  const seed = async ({ baseUrl, slug }: BenchService) => {
    const api = new Api(baseUrl);
    const { payment_id } = await api.must<{ payment_id: string }>('POST', `/v1/products/p/${slug}/connect`, { body: {} });
    await api.must('POST', '/bench/figures', { body: { paymentId: payment_id, payments } });
  };
  return [
    { id: 'summary', aimMs: 100, path: '/v1/account/summary' },
    { id: 'analytics', aimMs: 200, path: '/v1/account/analytics?window_days=90&daily_days=30' },
  ].map(({ id, aimMs, path }) => ({
    id,
    name: `${id} at ${countText(payments)} payments`,
    aimMs,
    request: ({ key }) => ({ method: 'GET', path, key, status: 200 }),
    prepare: (service) => (seeded ??= seed(service)),
  }));
}

export const costsAt = (sizes: Sizes): Cost[] => [
  ...scans,
  ...requests.map((one) => ({ ...one, name: `request: ${one.name}`, aimMs: REQUEST_AIM_MS })),
  ...figuresAt(sizes),
];

export const headersOf = ({ key, headers = {}, body }: ServiceRequest): Record<string, string> => ({
  ...(body === undefined ? {} : json),
  ...(key === undefined ? {} : { 'X-Svc-Key': key }),
  ...headers,
});

const WARM_UP = 10;

export interface CostMeasured {
  cost: Cost;
  cpuMs: number;
}

export async function measureCost(cost: Cost, service: BenchService | null, repeats: number): Promise<CostMeasured> {
  return { cost, cpuMs: cost.run ? await measureRun(cost.run, repeats) : await measureRequest(cost, service!, repeats) };
}

async function measureRun(run: () => void | Promise<void>, repeats: number): Promise<number> {
  for (let i = 0; i < Math.min(WARM_UP, repeats); i++) await run();
  const started = process.cpuUsage();
  for (let i = 0; i < repeats; i++) await run();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000 / repeats;
}

async function measureRequest({ name, request, prepare }: Cost, service: BenchService, repeats: number): Promise<number> {
  if (prepare) {
    await prepare(service);
    await untilAtRest(service);
  }
  for (let i = 0; i < Math.min(WARM_UP, repeats); i++) await ask(name, service, request!(service, -1 - i));
  const before = cpuMsOf(service.pids);
  for (let i = 0; i < repeats; i++) await ask(name, service, request!(service, i));
  return (cpuMsOf(service.pids) - before) / repeats;
}

const POLL_MS = 1000;
const AT_REST_MS = 150;
const POLLS_MAX = 60;

/**
 * Waits at most a minute until background work of the setup (folding, sweeps, webhooks) has ended, which would otherwise count in the
 * first measured request.
 */
async function untilAtRest({ pids }: BenchService): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll++) {
    const before = cpuMsOf(pids);
    await sleep(POLL_MS);
    if (cpuMsOf(pids) - before < AT_REST_MS) return;
  }
}

/** Sends a request. Throws on an unexpected status, because refusals are cheaper than the measured answer. */
async function ask(name: string, { baseUrl }: BenchService, one: ServiceRequest): Promise<void> {
  const { method, path, body, status } = one;
  const response = await fetch(baseUrl + path, { method, headers: headersOf(one), body: body ?? null });
  const text = await response.text();
  if (response.status !== status) throw new Error(`${name}: ${response.status} instead of ${status}: ${text.slice(0, 500)}`);
}
