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
const jwt = { kind: 'jwt', accountId: 'account-1', sessionId: 'session-1', tokenVersion: 3 } as const;
type Judged = ReturnType<typeof judgeCaller>;
const reasonOf = (judged: Judged): RefusalReason | null => (judged.ok ? null : judged.reason);
const callerOf = (judged: Judged) => {
  if (!judged.ok) throw new Error(judged.reason);
  return judged.caller;
};

describe('judgeCaller', () => {
  it('a key acts with its own permissions, mode and plan', () => {
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
        personId: null,
        role: null,
        livemode: false,
        permissions: ['read', 'admin'],
        plan: 'growth',
        isStaff: true,
      },
    });
  });

  it('a session token has read and execute, never admin, and is live unless the sandbox is requested', () => {
    const judge = (change: Partial<AdmissionRequest>) =>
      judgeCaller(account(), undefined, admissionRequest({ credential: jwt, ...change }), true);
    expect(callerOf(judge({}))).toMatchObject({ keyId: null, livemode: true, permissions: ['read', 'execute'] });
    expect(callerOf(judge({ mode: 'live' })).livemode).toBe(true);
    expect(callerOf(judge({ mode: 'sandbox' })).livemode).toBe(false);
    expect(reasonOf(judge({ permission: 'admin' }))).toBe('permission');
    const asStaff = judgeCaller(account({ isStaff: true }), undefined, admissionRequest({ credential: jwt, permission: 'admin' }), true);
    expect(reasonOf(asStaff)).toBe('permission');
  });

  const narrow = { expiresAt: 0, allowedIps: ['203.0.113.1'] };
  // Each row adds one fault. The first fault in the fixed order names the refusal.
  const broken: [RefusalReason, Parameters<typeof judgeCaller>][] = [
    ['mode', [account(), admittedKey(), admissionRequest({ mode: 'sandbox' })]],
    ['permission', [account(), admittedKey(), admissionRequest({ mode: 'sandbox', permission: 'admin' })]],
    ['account_suspended', [account({ status: 'suspended' }), admittedKey(), admissionRequest({ mode: 'sandbox', permission: 'admin' })]],
    [
      'revoked',
      [
        account({ status: 'suspended' }),
        admittedKey({ revokedAt: 0, ...narrow }),
        admissionRequest({ mode: 'sandbox', permission: 'admin' }),
      ],
    ],
    ['scope', [account(), admittedKey({ scopes: ['log:read'] }), admissionRequest({ mode: 'sandbox', scope: 'keys:read' })]],
    ['permission', [account(), admittedKey({ scopes: ['log:read'] }), admissionRequest({ scope: 'keys:read', permission: 'admin' })]],
    ['address', [account(), admittedKey({ allowedIps: narrow.allowedIps }), admissionRequest({ ip: '192.0.2.1', permission: 'admin' })]],
    ['account_suspended', [account({ status: 'suspended' }), admittedKey({ allowedIps: narrow.allowedIps }), admissionRequest()]],
    ['expired', [account({ status: 'suspended' }), admittedKey(narrow), admissionRequest({ ip: '192.0.2.1', permission: 'admin' })]],
    ['unknown_key', [account({ status: 'deleted' }), undefined, admissionRequest({ mode: 'sandbox', permission: 'admin' })]],
  ];
  it.each(broken)('a request with a key and several faults gets the first reason in order: %s', (reason, [account, key, request]) => {
    expect(reasonOf(judgeCaller(account, key, request))).toBe(reason);
  });

  const ask = { mode: 'sandbox', permission: 'admin' } as const;
  const brokenTokens: [RefusalReason, Parameters<typeof judgeCaller>][] = [
    ['permission', [account(), undefined, admissionRequest({ ...ask, credential: jwt }), true]],
    ['session_ended', [account(), undefined, admissionRequest({ ...ask, credential: jwt })]],
    ['stale_token', [account({ tokenVersion: 4 }), undefined, admissionRequest({ ...ask, credential: jwt })]],
    ['account_suspended', [account({ tokenVersion: 4, status: 'suspended' }), undefined, admissionRequest({ ...ask, credential: jwt })]],
    ['account_deleted', [account({ tokenVersion: 4, status: 'deleted' }), undefined, admissionRequest({ ...ask, credential: jwt })]],
    [
      'stale_token',
      [account({ status: 'deleted' }), undefined, admissionRequest({ ...ask, credential: { ...jwt, accountId: 'account-2' } })],
    ],
  ];
  it.each(brokenTokens)('a request with a token and several faults gets the first reason in order: %s', (reason, judged) => {
    expect(reasonOf(judgeCaller(...judged))).toBe(reason);
  });

  it('a key is valid until the time of its end and of its revocation', () => {
    const at = (now: number) => reasonOf(judgeCaller(account(), admittedKey({ revokedAt: 20, expiresAt: 10 }), admissionRequest({ now })));
    expect([at(9), at(10), at(19), at(20)]).toEqual([null, 'expired', 'expired', 'revoked']);
  });

  it('a key of a deleted account is refused as revoked', () => {
    expect(reasonOf(judgeCaller(account({ status: 'deleted' }), admittedKey(), admissionRequest()))).toBe('revoked');
  });

  it('a token of an older or newer version is refused with stale_token', () => {
    for (const tokenVersion of [2, 4]) {
      const credential = { ...jwt, tokenVersion };
      expect(reasonOf(judgeCaller(account(), undefined, admissionRequest({ credential })))).toBe('stale_token');
    }
  });

  it('no key passes without the requested permission, and admin requires staff', () => {
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

  it('no key acts in a mode that it does not have', () => {
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

describe('rateOf', () => {
  it('the request rate of the sandbox is a fifth of the published rate, and at least 30', () => {
    const rates = PLAN_NAMES.map((plan) => [true, false].map((livemode) => rateOf(plan, 'requests', livemode, 1).limit));
    expect(Object.fromEntries(PLAN_NAMES.map((plan, i) => [plan, rates[i]]))).toEqual({
      free: [60, 30],
      starter: [300, 60],
      growth: [1000, 200],
      scale: [3000, 600],
    });
  });

  it('consume, settle and metered calls have a limit per second', () => {
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

describe('hitWindow', () => {
  const calls = fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 200 });

  it('the limit bounds the calls that pass, and the remaining count falls by one per call', () => {
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
          expect(rate.resetAt).toBeGreaterThan(now);
          expect(rate.resetAt).toBeLessThanOrEqual(now + windowMs);
          // A call is refused only if the window is full, and a refusal changes nothing.
          if (!allowed) expect(next.hits).toBe(limit);
          if (!allowed && before?.openedAt === next.openedAt) expect(next).toEqual(before);
        }
      }),
    );
  });

  it('the window reopens at the announced millisecond and not earlier', () => {
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

  it('a limit of zero lets no call through', () => {
    expect(hitWindow(undefined, 0, 1000, 5)).toEqual({
      allowed: false,
      window: { openedAt: 5, hits: 0 },
      rate: { limit: 0, remaining: 0, resetAt: 1005 },
    });
  });

  it('the remaining count is zero, never negative, after a plan shrinks below the use', () => {
    const { allowed, rate } = hitWindow({ openedAt: 0, hits: 50 }, 30, 1000, 10);
    expect(allowed).toBe(false);
    expect(rate.remaining).toBe(0);
  });
});

describe('addOutcome', () => {
  const outcome = (i: number, status: number): CallOutcome => ({
    keyId: 'key-1',
    at: 1000 + i,
    method: 'GET',
    endpoint: `/v1/thing/${i}`,
    status,
    requestId: `request-${i}`,
  });

  it('every call counts once as success or error, and the twenty newest stay, newest first', () => {
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

  it('a late outcome does not move the latest activity back', () => {
    const usage = addOutcome(addOutcome(emptyUsage(), outcome(9, 200)), outcome(1, 200));
    expect(usage.latestActivityAt).toBe(1009);
  });

  it('the usage of a new key is empty and shares nothing with another key', () => {
    const first = addOutcome(emptyUsage(), outcome(1, 200));
    expect(emptyUsage()).toMatchObject({ totalCalls: 0, latestActivityAt: null, latestEndpoint: null, recent: [] });
    expect(first.recent).toHaveLength(1);
  });
});
