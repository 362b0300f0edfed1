// @module-tag volume
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { newReferenceWorld } from '../../support/chain/own-reference.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { SOAK } from '../../support/runner/env.ts';
import type { CallOptions, World } from '../../support/world.ts';

const CONFIRMED = ['payment.created', 'payment.submitted', 'payment.confirmed', 'membership.activated', 'receipt.created'];
/** Minutes that run call by call. The effect of the others is inserted directly. A soak runs all sixty. */
const MINUTES = SOAK > 1 ? 60 : 3;
const [SESSIONS, SIGNATURES] = [10, 5];
const madeUp = (): string => base58.encode(crypto.getRandomValues(new Uint8Array(64)));

describe('an hour of fifty made-up signatures a minute from one address', () => {
  let w: World;
  let attacked: { slug: string };
  let product: { slug: string };
  const opened: string[] = [];
  beforeAll(async () => {
    w = await newReferenceWorld();
    [attacked, product] = [await w.product(await w.merchant()), await w.product(await w.merchant())];
  });
  afterAll(endSkips);

  const call = (path: string, body: object, options: CallOptions = {}) =>
    w.call('POST', path, { body, headers: { 'CF-Connecting-IP': '203.0.113.7' }, env: { ...w.env, RATE_MULTIPLIER: '1' }, ...options });
  const open = async (): Promise<string> => {
    const { status, body } = await call(`/v1/products/p/${attacked.slug}/connect`, {});
    expect(status).toBe(200);
    return body.payment_id;
  };
  /** Runs one minute of the attack without queue deliveries. Returns how many signatures were stored. */
  async function attack(): Promise<number> {
    const ids = await Promise.all(Array.from({ length: SESSIONS }, open));
    opened.push(...ids);
    const name = async (payment_id: string) => (await call('/v1/pay/confirm', { payment_id, tx_signature: madeUp() })).status;
    const statuses = await Promise.all(ids.flatMap((id) => Array.from({ length: SIGNATURES }, () => name(id))));
    for (const status of statuses) expect([200, 429]).toContain(status);
    return statuses.filter((status) => status === 200).length;
  }
  /** Inserts what earlier minutes left: named signatures after all queue checks, due again. */
  const leaveBehind = (minutes: number, perMinute: number) => {
    const now = Date.now();
    const rows = Array.from({ length: minutes * perMinute }, (_, i) => ({
      id: opened[i % opened.length],
      signature: madeUp(),
      at: now - (Math.floor(i / perMinute) + 1) * 60_000,
    }));
    return w.env.DB.prepare(
      `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at)
       SELECT unhex(value ->> 'id', '-'), value ->> 'signature', 'named', 7, ?1, value ->> 'at' FROM json_each(?2)`,
    )
      .bind(now - 60_000, JSON.stringify(rows))
      .run();
  };

  it('the second sweep confirms a payment that was not reported', async () => {
    const stored = await attack();
    await leaveBehind(60 - MINUTES, stored);
    for (let minute = 1; minute < MINUTES; minute++) {
      await skipTime(w.chain, 60);
      await w.sweep();
      await attack();
    }
    const payment = await w.connect(product);
    await w.chain.pay(await w.chain.wallet(), payment);
    await skipTime(w.chain, 60);
    await attack();
    await w.sweep();
    await skipTime(w.chain, 60);
    await attack();
    await w.sweep();
    expect((await w.eventTypes(payment.payment_id)).slice(0, CONFIRMED.length)).toEqual(CONFIRMED);
    expect((await w.call('GET', '/health')).body.checks.queue).toBe('ok');
  });
});
