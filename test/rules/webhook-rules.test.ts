import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { describe, expect, it } from 'vitest';
import { hmacSha256, seal, unseal } from '#core/crypto.ts';
import { base64, base64url, hex, utf8 } from '#core/encoding.ts';
import { DAY, HOUR, MINUTE, SECOND } from '#core/time.ts';
import {
  type AttemptOutcome,
  type Health,
  heldUntil,
  isGivenUp,
  isSuccess,
  parseRetryAfter,
  scheduleOf,
  stepAfter,
  warningsDue,
} from '#features/webhooks/deliveries/schedule.ts';
import { newSecret, type Signable, secretHint, signatureHeaders } from '#features/webhooks/deliveries/signature.ts';
import { EVENT_TYPES, isTypePattern, matchesType } from '#rules/events.ts';

const NOW = 1_790_000_000_000;
const answered = (status: number | null, retryAfterMs: number | null = null): AttemptOutcome => ({
  status,
  ms: 5,
  error: status === null ? 'timeout' : null,
  excerpt: null,
  retryAfterMs,
});
/** Delay before the next attempt, at the middle of the jitter by default, or null if none follows. */
const waitAfter = (attempt: number, livemode: boolean, { random = 0.5, outcome = answered(500) } = {}): number | null => {
  const step = stepAfter(outcome, attempt, scheduleOf(livemode).length, livemode, NOW, random);
  return step.kind === 'retrying' ? step.nextAttemptAt - NOW : null;
};
const LIVE = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

describe('delivery schedule', () => {
  it('live mode has ten attempts and the sandbox four, at the published delays', () => {
    expect(scheduleOf(true)).toEqual(LIVE);
    expect(scheduleOf(false)).toEqual(LIVE.slice(0, 4));
  });

  it('attempts end after the last delay of the schedule', () => {
    const walked = (livemode: boolean) => scheduleOf(livemode).map((_, index) => waitAfter(index + 1, livemode));
    expect(walked(true)).toEqual([...LIVE.slice(1), null]);
    expect(walked(false)).toEqual([...LIVE.slice(1, 4), null]);
  });

  it('the first retry delay is exact, and later ones vary by at most a tenth', () => {
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(fc.property(random, (r) => waitAfter(1, true, { random: r }) === 5 * SECOND));
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 9 }), random, (attempt, r) => {
        const wait = waitAfter(attempt, true, { random: r })!;
        expect(wait).toBeGreaterThanOrEqual(Math.floor(LIVE[attempt]! * 0.9));
        expect(wait).toBeLessThanOrEqual(Math.ceil(LIVE[attempt]! * 1.1));
      }),
    );
    expect([0, 0.999999].map((r) => Math.round(waitAfter(9, true, { random: r })! / HOUR / 0.024) / 1000)).toEqual([0.9, 1.1]);
  });

  it('a delivery with fewer granted attempts, as a replay, ends after those', () => {
    expect(stepAfter(answered(500), 1, 1, true, NOW, 0.5)).toEqual({ kind: 'failed', isGone: false });
  });

  it('2xx succeeds, 410 ends the delivery as gone, and any other answer is retried', () => {
    for (let status = 100; status < 600; status++) {
      const step = stepAfter(answered(status), 1, 10, true, NOW, 0.5);
      const expected = status >= 200 && status < 300 ? 'succeeded' : status === 410 ? 'failed' : 'retrying';
      expect([status, step.kind, isSuccess(answered(status))]).toEqual([status, expected, expected === 'succeeded']);
    }
    expect(stepAfter(answered(null), 1, 10, true, NOW, 0.5).kind).toBe('retrying');
    expect(stepAfter(answered(410), 1, 10, true, NOW, 0.5)).toEqual({ kind: 'failed', isGone: true });
    expect(stepAfter(answered(410), 10, 10, true, NOW, 0.5)).toEqual({ kind: 'failed', isGone: true });
    expect(stepAfter(answered(200), 10, 10, true, NOW, 0.5)).toEqual({ kind: 'succeeded' });
  });
});

describe('Retry-After', () => {
  it('parseRetryAfter accepts seconds and HTTP dates, otherwise returns null', () => {
    const [later, before] = [90_000, -90_000].map((ms) => new Date(NOW + ms).toUTCString());
    const wishes: [string, number][] = Object.entries({ '0': 0, '120': 120_000, ' 7 ': 7000, [later!]: 90_000, [before!]: 0 });
    for (const [header, wish] of wishes) expect([header, parseRetryAfter(header, NOW)]).toEqual([header, wish]);
    for (const header of [null, '', 'soon', '-5', '1.5', '1e3', '0x10', '2030-01-01', '2030-01-01T00:00:00Z', 'tomorrow GMT'])
      expect([header, parseRetryAfter(header, NOW)]).toEqual([header, null]);
  });

  it('Retry-After only lengthens the delay, to at most a day', () => {
    const wait = (retryAfterMs: number) => waitAfter(1, true, { outcome: answered(503, retryAfterMs) });
    expect([0, 1000, 5000, 6000, HOUR, DAY, DAY + 1, 400 * DAY].map(wait)).toEqual([
      ...Array(3).fill(5 * SECOND),
      6000,
      HOUR,
      DAY,
      DAY,
      DAY,
    ]);
    expect(waitAfter(10, true, { outcome: answered(503, HOUR) })).toBeNull();
  });
});

describe('endpoint health', () => {
  const fresh: Health = { failureStreak: 0, lastSuccessAt: null, lastFailureAt: null, failingSince: null };
  const failed = (times: number, from = NOW, every = 1000): Health => ({
    failureStreak: times,
    lastSuccessAt: null,
    lastFailureAt: from + (times - 1) * every,
    failingSince: from,
  });

  it('an endpoint is disabled after five days without a success, by time alone', () => {
    const one = failed(1);
    expect([5 * DAY - 1, 5 * DAY, 50 * DAY].map((later) => isGivenUp(one, NOW + later))).toEqual([false, true, true]);
    expect(isGivenUp(failed(5000, NOW, 1), NOW + DAY)).toBe(false);
    expect(isGivenUp(fresh, NOW + 50 * DAY)).toBe(false);
  });

  it('warnings are due at 24 and 72 hours', () => {
    const hours = [0, 23.999, 24, 71.999, 72, 500];
    expect(hours.map((h) => warningsDue(failed(1), NOW + h * HOUR))).toEqual([0, 0, 1, 1, 2, 2]);
    expect(warningsDue(fresh, NOW + 500 * HOUR)).toBe(0);
  });

  it('the circuit opens after twenty failures in a row, with a probe every five minutes', () => {
    const last = NOW + 19 * 1000;
    expect(heldUntil(failed(19), NOW + 19_000)).toBeNull();
    expect(heldUntil(failed(20), last)).toBe(last + 5 * MINUTE);
    expect(heldUntil(failed(20), last + 5 * MINUTE - 1)).toBe(last + 5 * MINUTE);
    expect(heldUntil(failed(20), last + 5 * MINUTE)).toBeNull();
    expect(heldUntil(fresh, last)).toBeNull();
  });
});

describe('event type patterns', () => {
  it('a pattern matches one type, all of a group, or everything', () => {
    for (const type of EVENT_TYPES) {
      expect([matchesType(['*'], type), matchesType([type], type), matchesType([`${type.split('.')[0]}.*`], type)]).toEqual(
        Array(3).fill(true),
      );
      expect(
        matchesType(
          EVENT_TYPES.filter((other) => other !== type),
          type,
        ),
      ).toBe(false);
      expect(matchesType([], type)).toBe(false);
    }
    expect(matchesType(['receipt.*', 'payment.failed'], 'payment.failed')).toBe(true);
    for (const pattern of ['payment', 'pay.*', '*.confirmed', 'payment.', '', '.*', 'PAYMENT.*', 'payment.conf*'])
      expect([pattern, matchesType([pattern], 'payment.confirmed')]).toEqual([pattern, false]);
  });

  it('a pattern is valid only if an event can match it', () => {
    for (const pattern of ['*', 'payment.*', 'membership.*', ...EVENT_TYPES])
      expect([pattern, isTypePattern(pattern)]).toEqual([pattern, true]);
    for (const pattern of ['', '**', 'payment', 'payment.x', 'pay.*', '*.*', 'payment.*.*', ' payment.*', '.*', 'Payment.confirmed'])
      expect([pattern, isTypePattern(pattern)]).toEqual([pattern, false]);
  });
});

describe('webhook signatures', () => {
  const body = '{"id":"evt_1","data":{"object":{"name":"Ada’s weather ☀"}}}';
  const signable: Signable = {
    eventId: 'evt_1',
    eventType: 'payment.confirmed',
    deliveryId: 7,
    attempt: 2,
    body,
    signedPayload: 'timestamp.body',
  };
  const at = Date.now();
  const { webhooks } = new Stripe('sk_test_x');
  const stripe = (text: string, header: string, secret: string, tolerance = 300) =>
    webhooks.constructEventAsync(text, header, secret, tolerance, Stripe.createSubtleCryptoProvider());
  const signed = (secrets: string[], over: Partial<Signable> = {}, now = at) => {
    const headers = signatureHeaders({ ...signable, ...over }, secrets, now);
    return { headers, ours: headers['X-Svc-Signature']! };
  };

  it('a secret has 32 random bytes in Standard Webhooks form, and its hint shows four characters', () => {
    const secrets = Array.from({ length: 50 }, newSecret);
    expect(new Set(secrets).size).toBe(50);
    for (const secret of secrets) {
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(base64.decode(secret.slice(6))).toHaveLength(32);
      expect(secretHint(secret)).toBe(`whsec_…${secret.slice(-4)}`);
    }
  });

  it('a delivery has every published header', () => {
    const { headers } = signed([newSecret()]);
    const timestamp = String(Math.floor(at / 1000));
    expect(headers).toMatchObject({
      'Content-Type': 'application/json',
      'X-Svc-Event-Id': 'evt_1',
      'X-Svc-Event-Type': 'payment.confirmed',
      'X-Svc-Delivery-Id': '7',
      'X-Svc-Attempt': '2',
      'webhook-id': 'evt_1',
      'webhook-timestamp': timestamp,
    });
    expect(headers['X-Svc-Signature']).toMatch(new RegExp(`^t=${timestamp},v1=[0-9a-f]{64}$`));
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
  });

  it('the official stripe and standardwebhooks packages accept the signatures', async () => {
    const secret = newSecret();
    const { headers, ours } = signed([secret]);
    expect(await stripe(body, ours, secret)).toEqual(JSON.parse(body));
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  });

  it('both the old and the new secret verify during a rotation, and no third does', async () => {
    const [old, fresh, other] = [newSecret(), newSecret(), newSecret()];
    const { headers, ours } = signed([fresh, old]);
    expect(ours.match(/v1=/g)).toHaveLength(2);
    for (const secret of [old, fresh]) {
      expect(await stripe(body, ours, secret)).toEqual(JSON.parse(body));
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    }
    await expect(stripe(body, ours, other)).rejects.toThrow(/No signatures found/);
    expect(() => new Webhook(other).verify(body, headers)).toThrow(/No matching signature/);
  });

  it('both packages refuse a changed body, time or id, and an old timestamp', async () => {
    const secret = newSecret();
    const { headers, ours } = signed([secret]);
    const t = Math.floor(at / 1000);
    await expect(stripe(body.replace('evt_1', 'evt_2'), ours, secret)).rejects.toThrow(/No signatures found/);
    await expect(stripe(body, ours.replace(`t=${t}`, `t=${t + 1}`), secret)).rejects.toThrow(/No signatures found/);
    const refused = (text: string, over: Record<string, string>) =>
      expect(() => new Webhook(secret).verify(text, { ...headers, ...over })).toThrow(/No matching signature/);
    refused(body.replace('evt_1', 'evt_2'), {});
    refused(body, { 'webhook-timestamp': String(t + 1) });
    refused(body, { 'webhook-id': 'evt_2' });
    const stale = signed([secret], {}, at - 310 * SECOND);
    await expect(stripe(body, stale.ours, secret)).rejects.toThrow(/outside the tolerance/);
    expect(() => new Webhook(secret).verify(body, stale.headers)).toThrow(/too old/);
  });

  it('signed_payload `body` gives the plain HMAC of the raw body, and Standard Webhooks headers stay the same', () => {
    const secret = newSecret();
    const { headers, ours } = signed([secret], { signedPayload: 'body' });
    expect(ours.split('v1=')[1]).toBe(hex.encode(hmacSha256(utf8(secret), utf8(body))));
    expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
    expect(signed([secret]).ours.split('v1=')[1]).not.toBe(ours.split('v1=')[1]);
  });
});

describe('seal and unseal', () => {
  const key = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));

  it('any text unseals for its purpose, and the sealed text does not show it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', maxLength: 200 }), async (text) => {
        const sealed = await seal(key(1), 'webhook:a', text);
        expect(await unseal(key(1), 'webhook:a', sealed)).toBe(text);
      }),
      { numRuns: 50 },
    );
    const twice = await Promise.all([1, 2].map(() => seal(key(1), 'webhook:a', 'whsec_abcdefgh')));
    expect(twice[0]).not.toBe(twice[1]);
    expect(twice.join()).not.toContain('whsec_');
  });

  it('another purpose, another key or one changed character is refused', async () => {
    const sealed = await seal(key(1), 'webhook:a', newSecret());
    await expect(unseal(key(1), 'webhook:b', sealed)).rejects.toThrow();
    await expect(unseal(key(2), 'webhook:a', sealed)).rejects.toThrow(/unknown key/);
    for (let at = 0; at < sealed.length - 1; at++) {
      const other = sealed[at] === 'A' ? 'B' : 'A';
      await expect(unseal(key(1), 'webhook:a', sealed.slice(0, at) + other + sealed.slice(at + 1)), `character ${at}`).rejects.toThrow();
    }
    for (const garbage of ['', '.', '..', 'a.b.c', sealed.split('.')[0]!, `${sealed.split('.')[0]}..`])
      await expect(unseal(key(1), 'webhook:a', garbage), garbage).rejects.toThrow();
  });

  it('the first key seals and every key of the ring unseals after a rotation', async () => {
    const old = await seal(key(1), 'p', 'before');
    const both = `${key(2)},${key(1)}`;
    expect(await unseal(both, 'p', old)).toBe('before');
    const fresh = await seal(both, 'p', 'after');
    expect(await unseal(key(2), 'p', fresh)).toBe('after');
    await expect(unseal(key(1), 'p', fresh)).rejects.toThrow(/unknown key/);
  });
});
