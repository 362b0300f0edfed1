import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AdmissionRequest,
  type AdmittedAccount,
  hitWindow,
  judgeCaller,
  PERMISSIONS,
  type RefusalReason,
  type Window,
} from '#rules/admission.ts';
import { addOutcome, type CallOutcome, emptyUsage } from '#rules/analytics/key-usage.ts';
import { PLAN_NAMES, rateOf } from '#rules/plans.ts';
import { admissionRequest, admittedAccount, admittedKey } from '../support/fixtures/admitted.ts';

const account = (change: Partial<AdmittedAccount> = {}) => admittedAccount({ tokenVersion: 3, ...change });
const jwt = { kind: 'jwt', accountId: 'account-1', tokenVersion: 3 } as const;
type Judged = ReturnType<typeof judgeCaller>;
const reasonOf = (judged: Judged): RefusalReason | null => (judged.ok ? null : judged.reason);
const callerOf = (judged: Judged) => {
  if (!judged.ok) throw new Error(judged.reason);
  return judged.caller;
};

describe('who calls', () => {
  it('is the key with its own permissions and mode', () => {
    const judged = judgeCaller(
      account({ plan: 'growth', isStaff: true }),
      admittedKey({ permissions: ['read', 'admin'], livemode: false }),
      admissionRequest(),
    );
    expect(judged).toEqual({
      ok: true,
      caller: {
        accountId: 'account-1',
        keyId: 'key-1',
        livemode: false,
        permissions: ['read', 'admin'],
        plan: 'growth',
        isStaff: true,
      },
    });
  });

  it('is, with a token, the person: read and execute, never admin, live unless the sandbox is asked for', () => {
    const judge = (change: Partial<AdmissionRequest>) =>
      judgeCaller(account(), undefined, admissionRequest({ credential: jwt, ...change }));
    expect(callerOf(judge({}))).toMatchObject({ keyId: null, livemode: true, permissions: ['read', 'execute'] });
    expect(callerOf(judge({ mode: 'live' })).livemode).toBe(true);
    expect(callerOf(judge({ mode: 'sandbox' })).livemode).toBe(false);
    expect(reasonOf(judge({ permission: 'admin' }))).toBe('permission');
    expect(reasonOf(judgeCaller(account({ isStaff: true }), undefined, admissionRequest({ credential: jwt, permission: 'admin' })))).toBe(
      'permission',
    );
  });

  // One broken thing after the other is added; the first broken one in the order of the house must name the refusal.
  const broken: [RefusalReason, Parameters<typeof judgeCaller>][] = [
    ['mode', [account(), admittedKey(), admissionRequest({ mode: 'sandbox' })]],
    ['permission', [account(), admittedKey(), admissionRequest({ mode: 'sandbox', permission: 'admin' })]],
    ['account_suspended', [account({ status: 'suspended' }), admittedKey(), admissionRequest({ mode: 'sandbox', permission: 'admin' })]],
    [
      'revoked',
      [account({ status: 'suspended' }), admittedKey({ revokedAt: 1 }), admissionRequest({ mode: 'sandbox', permission: 'admin' })],
    ],
    ['unknown_key', [account({ status: 'deleted' }), undefined, admissionRequest({ mode: 'sandbox', permission: 'admin' })]],
  ];
  it.each(broken)('with a key is refused first for what comes first: %s', (reason, [account, key, request]) => {
    expect(reasonOf(judgeCaller(account, key, request))).toBe(reason);
  });

  const ask = { mode: 'sandbox', permission: 'admin' } as const;
  const brokenTokens: [RefusalReason, Parameters<typeof judgeCaller>][] = [
    ['permission', [account(), undefined, admissionRequest({ ...ask, credential: jwt })]],
    ['stale_token', [account({ tokenVersion: 4 }), undefined, admissionRequest({ ...ask, credential: jwt })]],
    ['account_suspended', [account({ tokenVersion: 4, status: 'suspended' }), undefined, admissionRequest({ ...ask, credential: jwt })]],
    ['account_deleted', [account({ tokenVersion: 4, status: 'deleted' }), undefined, admissionRequest({ ...ask, credential: jwt })]],
    [
      'stale_token',
      [account({ status: 'deleted' }), undefined, admissionRequest({ ...ask, credential: { ...jwt, accountId: 'account-2' } })],
    ],
  ];
  it.each(brokenTokens)('with a token is refused first for what comes first: %s', (reason, [account, key, request]) => {
    expect(reasonOf(judgeCaller(account, key, request))).toBe(reason);
  });

  it('with the key of a deleted account is told only that the key is gone', () => {
    expect(reasonOf(judgeCaller(account({ status: 'deleted' }), admittedKey(), admissionRequest()))).toBe('revoked');
  });

  it('with a token of another version is refused, older and newer alike', () => {
    for (const tokenVersion of [2, 4]) {
      const credential = { ...jwt, tokenVersion };
      expect(reasonOf(judgeCaller(account(), undefined, admissionRequest({ credential })))).toBe('stale_token');
    }
  });

  it('never passes without exactly the permission asked for', () => {
    const permission = fc.constantFrom(...PERMISSIONS);
    fc.assert(
      fc.property(fc.uniqueArray(permission), permission, fc.boolean(), (held, asked, isStaff) => {
        const isAllowed = held.includes(asked) && (asked !== 'admin' || isStaff);
        expect(judgeCaller(account({ isStaff }), admittedKey({ permissions: held }), admissionRequest({ permission: asked })).ok).toBe(
          isAllowed,
        );
        expect(judgeCaller(account({ isStaff }), admittedKey({ permissions: held }), admissionRequest({ permission: null })).ok).toBe(true);
      }),
    );
  });

  it('never acts in a mode the key does not have', () => {
    fc.assert(
      fc.property(fc.boolean(), fc.constantFrom('live', 'sandbox', null), (livemode, mode) => {
        const judged = judgeCaller(account(), admittedKey({ livemode }), admissionRequest({ mode }));
        const contradicts = mode !== null && (mode === 'live') !== livemode;
        expect(reasonOf(judged)).toBe(contradicts ? 'mode' : null);
        if (judged.ok) expect(judged.caller.livemode).toBe(livemode);
      }),
    );
  });
});

describe('the rate of a plan', () => {
  it('is the published one, and in the sandbox a fifth of it but at least 30', () => {
    const rates = PLAN_NAMES.map((plan) => [true, false].map((livemode) => rateOf(plan, 'requests', livemode, 1).limit));
    expect(Object.fromEntries(PLAN_NAMES.map((plan, i) => [plan, rates[i]]))).toEqual({
      free: [60, 30],
      starter: [300, 60],
      growth: [1000, 200],
      scale: [3000, 600],
    });
  });

  it('has a bucket by the second for consume, settle and metered calls', () => {
    const rates = PLAN_NAMES.map((plan) => [true, false].map((livemode) => rateOf(plan, 'metered', livemode, 1)));
    expect(Object.fromEntries(PLAN_NAMES.map((plan, i) => [plan, rates[i]!.map(({ limit }) => limit)]))).toEqual({
      free: [5, 1],
      starter: [20, 4],
      growth: [100, 20],
      scale: [500, 100],
    });
    expect(new Set(rates.flat().map(({ windowSeconds }) => windowSeconds))).toEqual(new Set([1]));
  });
});

describe('a window of hits', () => {
  const calls = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });

  it('never lets more through than its limit, and counts down without a gap', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 1000 }), calls, (limit, windowMs, waits) => {
        let window: Window | undefined;
        let now = 1_000_000;
        const passed = new Map<number, number>();
        for (const wait of waits) {
          now += wait;
          const before = window;
          const { allowed, window: next, rate } = hitWindow(window, limit, windowMs, now);
          window = next;
          passed.set(next.openedAt, (passed.get(next.openedAt) ?? 0) + (allowed ? 1 : 0));
          expect(passed.get(next.openedAt)).toBeLessThanOrEqual(limit);
          expect(next.hits).toBe(passed.get(next.openedAt));
          expect(rate).toEqual({ limit, remaining: limit - next.hits, resetAt: next.openedAt + windowMs });
          // The moment named is ahead of us, and no further away than one window.
          expect(rate.resetAt).toBeGreaterThan(now);
          expect(rate.resetAt).toBeLessThanOrEqual(now + windowMs);
          // Refused only where the window is full, and a refusal changes nothing.
          if (!allowed) expect(next.hits).toBe(limit);
          if (!allowed && before?.openedAt === next.openedAt) expect(next).toEqual(before);
        }
      }),
    );
  });

  it('is free again at the very moment it named, and not a millisecond sooner', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 10_000 }), (limit, windowMs) => {
        let window: Window | undefined;
        for (let hit = 0; hit < limit; hit++) window = hitWindow(window, limit, windowMs, 500).window;
        const full = hitWindow(window, limit, windowMs, 500);
        expect(full.allowed).toBe(false);
        expect(hitWindow(full.window, limit, windowMs, full.rate.resetAt - 1).allowed).toBe(false);
        const reopened = hitWindow(full.window, limit, windowMs, full.rate.resetAt);
        expect(reopened).toEqual({
          allowed: true,
          window: { openedAt: full.rate.resetAt, hits: 1 },
          rate: { limit, remaining: limit - 1, resetAt: full.rate.resetAt + windowMs },
        });
      }),
    );
  });

  it('lets nobody through where the limit is nothing', () => {
    expect(hitWindow(undefined, 0, 1000, 5)).toEqual({
      allowed: false,
      window: { openedAt: 5, hits: 0 },
      rate: { limit: 0, remaining: 0, resetAt: 1005 },
    });
  });

  it('shows nothing remaining, and no debt, when a plan shrinks below what was used', () => {
    const { allowed, rate } = hitWindow({ openedAt: 0, hits: 50 }, 30, 1000, 10);
    expect(allowed).toBe(false);
    expect(rate.remaining).toBe(0);
  });
});

describe('the usage of a key', () => {
  const outcome = (i: number, status: number): CallOutcome => ({
    keyId: 'key-1',
    at: 1000 + i,
    method: 'GET',
    endpoint: `/v1/thing/${i}`,
    status,
    requestId: `request-${i}`,
  });

  it('counts every call once, as success or error, and keeps the last twenty, newest first', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 200, max: 599 }), { minLength: 1, maxLength: 60 }), (statuses) => {
        const usage = statuses.reduce((usage, status, i) => addOutcome(usage, outcome(i, status)), emptyUsage());
        const errors = statuses.filter((status) => status >= 400).length;
        expect(usage).toMatchObject({ totalCalls: statuses.length, errorCalls: errors, successCalls: statuses.length - errors });
        const newest = statuses.map((status, i) => outcome(i, status)).reverse();
        expect(usage.recent).toEqual(newest.slice(0, 20).map(({ keyId: _, ...rest }) => rest));
        expect(usage.latestActivityAt).toBe(newest[0]!.at);
        expect(usage.latestEndpoint).toBe(`GET ${newest[0]!.endpoint}`);
      }),
    );
  });

  it('never moves back in time when an outcome arrives late', () => {
    const usage = addOutcome(addOutcome(emptyUsage(), outcome(9, 200)), outcome(1, 200));
    expect(usage.latestActivityAt).toBe(1009);
  });

  it('starts empty, without anything shared between two keys', () => {
    const first = addOutcome(emptyUsage(), outcome(1, 200));
    expect(emptyUsage()).toMatchObject({ totalCalls: 0, latestActivityAt: null, latestEndpoint: null, recent: [] });
    expect(first.recent).toHaveLength(1);
  });
});
