/**
 * Entry of `npm run bench`: the service, and under /bench/ the same work with less around it.
 * @module
 */

import { DurableObject } from 'cloudflare:workers';
import { Hono } from 'hono';
import { base58 } from '#core/encoding.ts';
import { type AccountId, admissionIdOf, newId, newMeteredSessionId } from '#core/ids.ts';
import { draftKey } from '#features/accounts/keys/keys.ts';
import { consumeEntitlement, entitlementKeyOf, readEntitlement } from '#features/entitlements/entitlement.ts';
import { grantEntitlement } from '#features/entitlements/grant.ts';
import { claimChannel, readSession } from '#features/metered/session.ts';
import { type Ctx, type Env, type Job, newCtx } from '#platform/context.ts';
import { wantedColumns } from '#platform/db/tables/schema-check.ts';
import { entitlementObjectName, meteredObject } from '#platform/objects.ts';
import type { AdmittedKey, Credential } from '#rules/admission.ts';
import { projectedOf } from '#rules/entitlement-rpc.ts';
import type { MeteredTerms } from '#rules/metered/rpc.ts';
import { EntitlementObject } from '../../../durable-objects/entitlement.ts';
import { MeteredSession } from '../../../durable-objects/metered/metered-session.ts';
import service from '../../../worker/index.ts';

export { Admission } from '../../../durable-objects/admission.ts';

interface BenchEnv extends Env {
  UNGROUPED: Env['ENTITLEMENT'];
  BARE: DurableObjectNamespace<Bare>;
}

/** Answers the schema check that an isolate makes once. Throws on any other statement. */
const prepare = (sql: string) => {
  if (!sql.includes('pragma_table_info')) throw new Error('the measured path asked the database');
  return { bind: () => ({ all: async () => ({ results: wantedColumns().map((name) => ({ name })) }) }) };
};
const STUBS = { DB: { prepare }, JOBS: { send: async () => {} } } as unknown as Pick<Env, 'DB' | 'JOBS'>;

/** Acknowledges projections as soon as they are sent, which makes no difference to the object. */
class BenchEntitlement extends EntitlementObject {
  readonly #spent: Spent;

  constructor(state: DurableObjectState, env: Env) {
    const { sql } = state.storage;
    const spent = { calls: 0, uses: 0, rows: 0 };
    const exec = (...args: Parameters<SqlStorage['exec']>) => {
      const cursor = sql.exec(...args);
      spent.rows += cursor.rowsWritten;
      return cursor;
    };
    Object.defineProperty(state.storage, 'sql', { value: { exec, databaseSize: 0 } });
    super(state, env);
    this.#spent = spent;
    const send = async (job: Job) => void (job.kind === 'projectEntitlement' && (await this.published(projectedOf(job.projection))));
    this.env = { ...env, ...STUBS, JOBS: { send } } as unknown as Env;
  }

  override consumeMany(...args: Parameters<EntitlementObject['consumeMany']>): ReturnType<EntitlementObject['consumeMany']> {
    this.#spent.calls++;
    this.#spent.uses += args[1].length;
    return super.consumeMany(...args);
  }

  protected override async storeUses(): Promise<boolean> {
    return true;
  }

  async spent(): Promise<Spent> {
    return this.#spent;
  }
}

export { BenchEntitlement as Entitlement };

/**
 * The same object without group commit: one call at a time, and its ledger waits for no commit, so every call makes one of its
 * own, and the platform holds each answer back until that is on disk. Nothing else differs.
 */
export class Ungrouped extends BenchEntitlement {
  #last: Promise<unknown> = Promise.resolve();

  constructor(state: DurableObjectState, env: Env) {
    Object.defineProperty(state.storage, 'sync', { value: () => Promise.resolve() });
    super(state, env);
  }

  override consume(operation: Parameters<EntitlementObject['consume']>[0]): ReturnType<EntitlementObject['consume']> {
    const answer = this.#last.then(() => super.consume(operation));
    this.#last = answer.catch(() => {});
    return answer;
  }
}

class BenchMeteredSession extends MeteredSession {
  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    const send = async (job: Job) => void (job.kind === 'projectMeteredSession' && (await this.published(projectedOf(job.projection))));
    this.env = { ...env, ...STUBS, JOBS: { send } } as unknown as Env;
  }
}

export { BenchMeteredSession as MeteredSession };

export class Bare extends DurableObject {
  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    state.storage.sql.exec('CREATE TABLE IF NOT EXISTS count (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)');
    state.storage.sql.exec('INSERT OR IGNORE INTO count VALUES (1, 0)');
  }

  async ping(): Promise<number> {
    return 1;
  }

  async write(): Promise<number> {
    return this.ctx.storage.sql.exec<{ n: number }>('UPDATE count SET n = n + 1 WHERE id = 1 RETURNING n').one().n;
  }
}

interface Spent {
  calls: number;
  uses: number;
  rows: number;
}

interface ConsumeBody {
  product_id: string;
  customer: { customer_ref: string };
  units: number;
}
type Counters = { customerRefs: string[]; isGrouped: boolean };

// Their partition is one that the first database has.
const OWNER = { merchantId: '01a1fc21-d414-7315-8000-d95e4ff00293' as AccountId, livemode: true };
const PRODUCT_ID = '01a1fc21-d414-7315-8000-d95e4ff00294';
const GRANTED_UNITS = 1_000_000_000;
/** Network of the narrowed key, from which its requests come. */
const NARROWED_TO = '203.0.113.0/24';

let envs: { grouped: Env; ungrouped: Env } | null = null;
/** Single object per isolate: the service caches its checked configuration by object identity. */
function envsOf(env: BenchEnv) {
  envs ??= { grouped: { ...env, ...STUBS }, ungrouped: { ...env, ...STUBS, ENTITLEMENT: env.UNGROUPED } };
  return envs;
}
const ctxOf = (env: BenchEnv, isGrouped: boolean): Ctx =>
  newCtx(isGrouped ? envsOf(env).grouped : envsOf(env).ungrouped, { requestId: 'bench', defer: () => {} });
const identity = (customerRef: string) => entitlementKeyOf(OWNER, PRODUCT_ID, { customerRef });

const bench = new Hono<{ Bindings: BenchEnv }>();
bench.get('/bench/empty', (c) => c.text('ok'));
bench.get('/bench/bare', async (c) => c.json(await c.env.BARE.getByName('bare').ping()));
bench.get('/bench/bare-write', async (c) => c.json(await c.env.BARE.getByName('bare').write()));

let credential: Credential | null = null;
bench.get('/bench/admit', async (c) => {
  const now = Date.now();
  const rate = {
    permission: 'execute',
    scope: 'consume:write',
    ip: null,
    mode: null,
    bucket: 'metered',
    rateMultiplier: 1_000_000,
    now,
  } as const;
  const answer = await c.env.ADMISSION.getByName(`account:${admissionIdOf(OWNER.merchantId)}`).admit({ ...rate, credential: credential! });
  return c.json(answer, answer.ok ? 200 : 403);
});

bench.post('/bench/consume', (c) => consumeStraight(c.env, true, c.req.raw));
bench.post('/bench/consume-ungrouped', (c) => consumeStraight(c.env, false, c.req.raw));
async function consumeStraight(env: BenchEnv, isGrouped: boolean, request: Request): Promise<Response> {
  const ctx = ctxOf(env, isGrouped);
  const text = await request.text();
  const body = JSON.parse(text) as ConsumeBody;
  const owned = entitlementKeyOf(OWNER, body.product_id, { customerRef: body.customer.customer_ref });
  const key = request.headers.get('Idempotency-Key')!;
  const answer = await consumeEntitlement(ctx, owned, { scope: '', key, text }, { units: body.units });
  return Response.json(answer, { status: answer.ok ? 200 : 403 });
}

bench.post('/bench/account', async (c) => {
  const ctx = ctxOf(c.env, true);
  const admissionId = admissionIdOf(OWNER.merchantId);
  const draft = () =>
    draftKey(ctx, OWNER.merchantId, { name: 'bench', permissions: ['execute'], livemode: true, createdBy: { kind: 'setup' } });
  const [plain, narrowed] = [draft(), draft()];
  const account = {
    accountId: OWNER.merchantId,
    plan: 'scale',
    status: 'active',
    planThrough: null,
    tokenVersion: 1,
    isStaff: false,
    ownerId: OWNER.merchantId,
    roles: {},
    version: 1,
  } as const;
  const admitted = ({ id: keyId, keyHash }: (typeof plain)['key']): AdmittedKey => ({
    ...{ keyId, keyHash, permissions: ['execute'], livemode: true, revokedAt: null, version: 1 },
  });
  const restrictions: Partial<AdmittedKey> = { scopes: ['consume:write'], allowedIps: [NARROWED_TO], expiresAt: Date.now() + 1e9 };
  credential = { kind: 'key', keyHash: plain.key.keyHash };
  const keys = [admitted(plain.key), { ...admitted(narrowed.key), ...restrictions }];
  await c.env.ADMISSION.getByName(`account:${admissionId}`).load(account, keys);
  return c.json({ rawKey: plain.rawKey, narrowedKey: narrowed.rawKey, productId: PRODUCT_ID });
});

bench.post('/bench/grant', async (c) => {
  const { customerRefs, isGrouped } = await c.req.json<Counters>();
  const ctx = ctxOf(c.env, isGrouped);
  const grant = { sold: { usageUnits: 1, accessPeriodDays: null }, units: GRANTED_UNITS, reason: 'bench' };
  await Promise.all(customerRefs.map((ref) => grantEntitlement(ctx, identity(ref), { scope: '', key: 'grant', text: '' }, grant)));
  return c.json({});
});

bench.post('/bench/spent', async (c) => {
  const { customerRefs, isGrouped } = await c.req.json<Counters>();
  const objects = (isGrouped ? c.env.ENTITLEMENT : c.env.UNGROUPED) as unknown as DurableObjectNamespace<BenchEntitlement>;
  const all = await Promise.all(
    customerRefs.map((ref) => objects.getByName(entitlementObjectName(OWNER, identity(ref).entitlementId)).spent()),
  );
  const sum = (figure: (one: Spent) => number) => all.reduce((total, one) => total + figure(one), 0);
  return c.json({ calls: sum(({ calls }) => calls), uses: sum(({ uses }) => uses), rows: sum(({ rows }) => rows) });
});

bench.post('/bench/used', async (c) => {
  const { customerRefs, isGrouped } = await c.req.json<Counters>();
  const ctx = ctxOf(c.env, isGrouped);
  const snapshots = await Promise.all(customerRefs.map((ref) => readEntitlement(ctx, OWNER, identity(ref).entitlementId)));
  return c.json({ used: snapshots.reduce((sum, snapshot) => sum + snapshot!.usedUnits, 0) });
});

const SESSION_TERMS: Omit<MeteredTerms, 'sessionId'> = {
  merchantId: OWNER.merchantId,
  livemode: true,
  productId: PRODUCT_ID,
  customer: null,
  cap: String(GRANTED_UNITS),
  minVoucherDelta: '1',
  unitPrice: null,
  idleSeconds: 3_600,
  gracePeriodSeconds: 900,
  generation: 'older',
  operator: PRODUCT_ID,
  merchantWallet: PRODUCT_ID,
  mint: PRODUCT_ID,
  expiresAt: 0,
  createdAt: 0,
};

bench.post('/bench/sessions', async (c) => {
  const { count, signer } = await c.req.json<{ count: number; signer: string }>();
  const ctx = ctxOf(c.env, true);
  const now = Date.now();
  const open = async () => {
    const sessionId = newMeteredSessionId(now, newId(now, null));
    const channelId = base58.encode(crypto.getRandomValues(new Uint8Array(32)));
    const object = meteredObject(ctx, sessionId);
    await claimChannel(ctx, { sessionId, livemode: true }, channelId);
    const bound = { channelId, payer: null, authorizedSigner: signer };
    await object.open({
      ...bound,
      terms: { ...SESSION_TERMS, sessionId },
      deposit: BigInt(GRANTED_UNITS),
      settled: 0n,
      challengeId: null,
      now,
    });
    return { sessionId, channelId };
  };
  return c.json(await Promise.all(Array.from({ length: count }, open)));
});

bench.post('/bench/promised', async (c) => {
  const sessions = await c.req.json<{ sessionId: string }[]>();
  const snapshots = await Promise.all(sessions.map(({ sessionId }) => readSession(ctxOf(c.env, true), sessionId)));
  return c.json({ promised: snapshots.reduce((sum, { cumulative }) => sum + Number(cumulative), 0) });
});

export default {
  fetch: (request, env, execution) =>
    request.url.includes('/bench/')
      ? bench.fetch(request, env, execution)
      : service.fetch(request as Request, envsOf(env).grouped, execution),
} satisfies ExportedHandler<BenchEnv>;
