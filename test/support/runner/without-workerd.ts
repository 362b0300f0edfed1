import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inject } from 'vitest';

// Replaces `cloudflare:workers` and `cloudflare:test` for rule tests in Node. Object modules are loaded there, and no object is created.
export class DurableObject {}

const ROOT = join(import.meta.dirname, '../../..');
const ASSETS = join(ROOT, 'dist/assets');
const VARIABLES = Object.fromEntries(
  [...readFileSync(join(ROOT, 'wrangler.toml'), 'utf8').matchAll(/^([A-Z][A-Z0-9_]*) = "(.*)"$/gm)].map(([, name, value]) => [name, value]),
);

export const env = {
  ...VARIABLES,
  TEST_SOAK: process.env.SOAK ?? '1',
  TEST_SEED: process.env.SEED ?? String(Date.now() % 1_000_000),
  TEST_FUZZ_SEED: process.env.SEED ?? (process.env.SOAK ? String(Date.now() % 1_000_000) : '20261122'),
  TEST_CHAIN_URL: inject('chainUrl'),
  TEST_PRICE_URL: inject('priceUrl'),
  TEST_OUTSIDE_URL: inject('outsideUrl'),
  DB: {},
  ASSETS: { fetch: async (url: string) => new Response(await readFile(join(ASSETS, normalize(new URL(url).pathname)))) },
};

const deferred: Promise<unknown>[] = [];
export const createExecutionContext = () => ({ waitUntil: (work: Promise<unknown>) => void deferred.push(work), props: {} });
export const waitOnExecutionContext = async () => void (await Promise.all(deferred.splice(0)));

const outside = () => {
  throw new Error('A test of a rule runs in Node and reaches no object and no database.');
};
export const [runInDurableObject, runDurableObjectAlarm, evictDurableObject, listDurableObjectIds, reset, applyD1Migrations] =
  Array(6).fill(outside);

// Globals of workerd. @solana/kit resolves to its browser build here too, which requires a secure context.
Object.assign(globalThis, { scheduler: { wait }, isSecureContext: true });
