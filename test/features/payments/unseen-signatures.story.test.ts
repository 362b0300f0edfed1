import { describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { withConfig } from '../../support/people/agent.ts';
import { PAYMENT_SWEEPS } from '../../support/runner/sweeps.ts';
import { World } from '../../support/world.ts';

const w = new World();
/** Reduces every limit to a fiftieth: two hundred an hour become four. */
const env = withConfig(w, { RATE_MULTIPLIER: '0.02' });
const madeUp = () => base58.encode(crypto.getRandomValues(new Uint8Array(64)));
const from = (address: string) => ({ headers: { 'CF-Connecting-IP': address }, env });
const countNamed = async () =>
  (await w.env.DB.prepare("SELECT count(*) AS n FROM payment_candidates WHERE origin = 'named'").first<number>('n'))!;

describe('malformed candidates', () => {
  it('a malformed signature is dropped and the rest of its batch is checked', async () => {
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
    expect(await countNamed()).toBe(0);
  });
});

describe('hourly limit of unknown signatures', () => {
  it('an address can name two hundred unknown signatures an hour, and the next is 429 for any payment', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada);
    const payments: { payment_id: string }[] = [];
    for (let i = 0; i < 7; i++) payments.push(await w.connect(product));
    const before = await countNamed();
    const name = (index: number, signature = madeUp(), address = '198.51.100.7') =>
      w.confirm(payments[index]!.payment_id, signature, from(address));
    const first = madeUp();
    expect((await name(0, first)).status).toBe(200);
    for (let i = 1; i < 4; i++) expect((await name(i)).status).toBe(200);
    expect(await countNamed()).toBe(before + 4);
    const refused = await name(4);
    expect([refused.status, refused.body.code, Number(refused.headers.get('Retry-After')) > 3000]).toEqual([429, 'rate_limited', true]);
    expect(await countNamed()).toBe(before + 4);
    // Another address is another caller, and the merchant's own server is not counted.
    expect((await name(5, madeUp(), '198.51.100.8')).status).toBe(200);
    expect((await w.confirm(payments[6]!.payment_id, madeUp(), { key: ada.key })).status).toBe(200);
    expect(await countNamed()).toBe(before + 6);
  });

  it('known signatures and those the chain shows do not count against the limit', async () => {
    const product = await w.product(await w.merchant());
    const address = '198.51.100.9';
    const payment = await w.connect(product);
    const signature = madeUp();
    // Other addresses repeat the signature, as after a change of network, which avoids the limit of confirms.
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
