import { describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { withConfig } from '../../support/people/agent.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { World } from '../../support/world.ts';

const w = new World();
/** Two hundred an hour are four here, and everything else of an address is a fiftieth too. */
const env = withConfig(w, { RATE_MULTIPLIER: '0.02' });
const madeUp = () => base58.encode(crypto.getRandomValues(new Uint8Array(64)));
const from = (address: string) => ({ headers: { 'CF-Connecting-IP': address }, env });
const kept = async () =>
  (await w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE origin = 'named'").first<number>('n'))!;

describe('a candidate that is no signature', () => {
  it('is dropped, and the others of its group are looked up', async () => {
    const payment = await w.connect(await w.product(await w.merchant()));
    const landed = await w.chain.pay(await w.chain.wallet(), payment);
    const due = Date.now() - 600_000;
    for (const signature of ['nowhere', landed])
      await w.env.DB.prepare(
        `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at)
         VALUES (?1, ?2, 'named', 9, ?3, ?3)`,
      )
        .bind(payment.payment_id, signature, due)
        .run();
    await w.sweepEach(PAYMENT_SWEEPS);
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
    expect(await kept()).toBe(0);
  });
});

describe('signatures that the chain does not show', () => {
  it('are kept for one address two hundred times an hour; the next is 429 and not kept, whatever payment it names', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada);
    const payments: { payment_id: string }[] = [];
    for (let i = 0; i < 7; i++) payments.push(await w.connect(product));
    const before = await kept();
    const name = (index: number, signature = madeUp(), address = '198.51.100.7') =>
      w.confirm(payments[index]!.payment_id, signature, from(address));
    const first = madeUp();
    expect((await name(0, first)).status).toBe(200);
    for (let i = 1; i < 4; i++) expect((await name(i)).status).toBe(200);
    // More than once the same is once, for its payment.
    expect(await kept()).toBe(before + 4);
    const refused = await name(4);
    expect([refused.status, refused.body.code, Number(refused.headers.get('Retry-After')) > 3000]).toEqual([429, 'rate_limited', true]);
    expect(await kept()).toBe(before + 4);
    // Another address is another caller, and the merchant's own server is none of these.
    expect((await name(5, madeUp(), '198.51.100.8')).status).toBe(200);
    expect((await w.confirm(payments[6]!.payment_id, madeUp(), { key: ada.key })).status).toBe(200);
    expect(await kept()).toBe(before + 6);
  });

  it('that are known already, or shown by the chain, do not count', async () => {
    const product = await w.product(await w.merchant());
    const address = '198.51.100.9';
    const payment = await w.connect(product);
    const signature = madeUp();
    // Asked again from elsewhere, as a buyer does whose network changes; a bucket of confirms is not what this is about.
    for (let i = 0; i < 6; i++)
      expect((await w.confirm(payment.payment_id, signature, { headers: { 'CF-Connecting-IP': `192.0.2.${i}` } })).status).toBe(200);
    for (let i = 0; i < 3; i++) expect((await w.confirm((await w.connect(product)).payment_id, madeUp(), from(address))).status).toBe(200);
    const paid = await w.connect(product);
    const landed = await w.chain.pay(await w.chain.wallet(), paid);
    expect((await w.confirm(paid.payment_id, landed, from(address))).body.payment.status).toBe('CONFIRMED');
    expect((await w.confirm((await w.connect(product)).payment_id, madeUp(), from(address))).status).toBe(200);
    expect((await w.confirm((await w.connect(product)).payment_id, madeUp(), from(address))).status).toBe(429);
  });
});
