import { describe, expect, it } from 'vitest';
import type { AccountId } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import type { AdmissionRequest, PassedAnswer } from '#rules/admission.ts';
import type { EntitlementKey } from '#rules/balance.ts';
import type { ConsumeAnswer, KeyedUse, PassedOutcome } from '#rules/entitlement-rpc.ts';
import { ConsumeForwarder } from '../../durable-objects/consume-forwarder.ts';
import { newHolder } from '../support/clients/entitlement.ts';
import { testEnv } from '../support/runner/env.ts';

const now = Date.now();
const REQUEST: AdmissionRequest = {
  credential: { kind: 'key', keyHash: 'hash-1' },
  permission: 'execute',
  scope: 'consume:write',
  ip: null,
  mode: null,
  bucket: 'metered',
  rateMultiplier: 1_000_000,
  now,
};
const CALL = { method: 'POST', endpoint: '/v1/access/entitlements/consume', requestId: 'request-1' };

/** Opens an account with a key and an entitlement of 1,000 units, to which the account object forwards consumes. */
async function openAccount() {
  const holder = newHolder();
  const { merchantId, productId, customer } = holder.identity;
  const stub = testEnv.ADMISSION.getByName(`account:${merchantId}`);
  const account = { accountId: merchantId as AccountId, plan: 'scale', planThrough: null, status: 'active', tokenVersion: 1 } as const;
  const key = { keyId: 'key-1', keyHash: 'hash-1', permissions: ['execute' as const], livemode: true, revokedAt: null, version: 1 };
  await stub.load({ ...account, isStaff: false, ownerId: account.accountId, roles: {}, version: 1 }, [key]);
  await holder.grant('grant-1', { units: 1000 });
  const consume = (name: string, units = 1): Promise<PassedAnswer> =>
    stub.consume(REQUEST, { productId, customer, key: name, fingerprint: String(units), now, units, call: CALL });
  return { holder, stub, consume };
}

describe('consumes forwarded by the account object', () => {
  it('each consume is admitted, counted and run once, and replays byte for byte', async () => {
    const { holder, stub, consume } = await openAccount();
    const names = Array.from({ length: 600 }, (_, i) => `key-${i}`);
    const answers = await Promise.all(names.map((name) => consume(name)));
    const left = (figures: (number | null | undefined)[]) => figures.map(Number).sort((a, b) => b - a);
    expect(left(answers.map(({ used }) => (used?.ok ? used.remaining : null)))).toEqual(names.map((_, i) => 999 - i));
    const rates = answers.map(({ admission }) => (admission.ok ? admission.rate.remaining : null));
    const most = Math.max(...rates.map(Number));
    expect(left(rates)).toEqual(names.map((_, i) => most - i));
    expect((await stub.usage())['key-1']).toMatchObject({ totalCalls: 600, successCalls: 600, creditsBurned: 600 });
    const again = await Promise.all(names.map((name) => consume(name)));
    for (const [i, { used }] of again.entries()) expect(used).toEqual({ ...answers[i]!.used, replayed: true });
    expect((await consume('key-1', 2)).used).toEqual({ ok: false, reason: 'conflict' });
    expect((await stub.usage())['key-1']).toMatchObject({ totalCalls: 1200, creditsBurned: 600 });
    expect(await holder.stub.read({ now })).toMatchObject({ usedUnits: 600, remaining: 400 });
  });

  it('a revoked key is refused from the next consume on, while earlier ones are in flight', async () => {
    const { holder, stub, consume } = await openAccount();
    const before = Array.from({ length: 100 }, (_, i) => consume(`before-${i}`));
    await stub.revokeKey('hash-1', now);
    const after = await Promise.all(Array.from({ length: 50 }, (_, i) => consume(`after-${i}`)));
    expect(after).toEqual(after.map(() => ({ admission: { ok: false, reason: 'revoked' } })));
    const served = (await Promise.all(before)).filter(({ used }) => used?.ok).length;
    expect(await holder.stub.read({ now })).toMatchObject({ usedUnits: served });
  });
});

describe('calls of an entitlement object', () => {
  const answer = (use: KeyedUse): ConsumeAnswer => ({
    ok: true,
    replayed: false,
    consumptionId: use.key,
    units: 1,
    remaining: 0,
    paidThrough: null,
  });
  const use = (key: string): KeyedUse => ({ key, fingerprint: '', now, units: 1 });
  const open = (consumeMany: (identity: EntitlementKey, uses: KeyedUse[]) => Promise<(ConsumeAnswer | null)[]>) => {
    const passing = new ConsumeForwarder({ ENTITLEMENT: { getByName: () => ({ consumeMany }) } } as unknown as Env);
    return (ref: string, key: string) => passing.use(passing.keyOf('merchant-1', true, 'product-1', { customerRef: ref }), use(key));
  };
  const keyOf = (one: PassedOutcome | null) => (one?.ok ? one.consumptionId : null);

  it('calls to one object run one at a time with all consumes that arrived meanwhile, in order', async () => {
    const groups: string[][] = [];
    let underWay = 0;
    const pass = open(async (_, uses) => {
      expect(++underWay).toBe(1);
      groups.push(uses.map(({ key }) => key));
      await new Promise((resolve) => setTimeout(resolve, 5));
      underWay--;
      return uses.map(answer);
    });
    const first = pass('a', 'key-0');
    const names = Array.from({ length: 40 }, (_, i) => `key-${i + 1}`);
    expect((await Promise.all(names.map((name) => pass('a', name)))).map(keyOf)).toEqual(names);
    expect(keyOf(await first)).toBe('key-0');
    expect(groups.flat()).toEqual(['key-0', ...names]);
    expect(groups.length).toBeLessThanOrEqual(2);
  });

  it('a failed call leaves only its own consumes undecided', async () => {
    let calls = 0;
    const pass = open(async ({ customer }, uses) => {
      calls++;
      if ('customerRef' in customer && customer.customerRef === 'broken') throw new Error('away');
      return uses.map((one, i) => (i === 1 ? null : answer(one)));
    });
    const [broken, ...others] = await Promise.all([pass('broken', 'x'), ...['a', 'b', 'c'].map((name) => pass('whole', name))]);
    expect([keyOf(broken!), ...others.map(keyOf)]).toEqual([null, 'a', null, 'c']);
    expect(calls).toBe(2);
    expect(keyOf(await pass('whole', 'd'))).toBe('d');
  });

  it('an overloaded object answers overloaded, so that callers do not retry at once', async () => {
    const pass = open(() => Promise.reject(Object.assign(new Error('Durable Object is overloaded.'), { overloaded: true })));
    expect(await Promise.all([pass('a', 'x'), pass('a', 'y')])).toEqual(Array(2).fill({ ok: false, reason: 'overloaded' }));
  });
});
