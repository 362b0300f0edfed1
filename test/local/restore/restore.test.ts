// @module-tag volume
import type { KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { CopiedState, type Sold } from './copied-state.ts';

const state = new CopiedState();
let sold: Sold;
let buyer: KeyPairSigner;
let since: string;
let before: { paymentId: string };
let after: { paymentId: string; txSignature: string };
let settled: string;

/** The backup has a purchase of five uses, one of them used. Afterwards come five more, two used, and an agent's payment. */
beforeAll(async () => {
  await state.open();
  buyer = await state.chain.newBuyer(10_000_000n);
  await state.during('state', async (service) => {
    sold = await service.sell();
    before = await service.buy(sold, buyer);
    await service.consume(sold, buyer, 'use-number-1');
    await service.until(async () => (await service.listed(sold)) === 4);
  });
  state.copy('state', 'backup');
  since = new Date().toISOString();
  await state.during('state', async (service) => {
    after = await service.buy(sold, buyer);
    settled = await service.payForCall(sold, await state.chain.newBuyer(10_000_000n));
    await service.consume(sold, buyer, 'use-number-2');
    await service.consume(sold, buyer, 'use-number-3');
    await service.until(async () => (await service.listed(sold)) === 7);
  });
  state.mix('old-database', 'database', 'backup');
  state.mix('old-objects', 'objects', 'backup');
}, 120_000);
afterAll(() => state.close());

describe.concurrent('restored backups', () => {
  it('an old database with newer objects sells, counts and replays, and reconcile names every unknown payment', async ({ expect }) => {
    await state.during('old-database', async (service) => {
      const { status, body } = await service.api.call<{ code: string }>('GET', `/v1/payments/${after.paymentId}`);
      expect([status, body.code]).toEqual([404, 'not_found']);
      expect((await service.api.must<{ status: string }>('GET', `/v1/payments/${before.paymentId}`)).status).toBe('CONFIRMED');
      expect(await service.listed(sold)).toBe(4);

      const said = await service.reconcile(since);
      const unknown = said.split('\n').filter((line) => line.startsWith('unknown payment: '));
      const items = unknown.map((line) => JSON.parse(line.slice('unknown payment: '.length)));
      const money = { asset: 'USDC', amount: '1', recipient: state.payout.address, account_id: sold.merchant };
      expect(items).toHaveLength(2);
      expect(items).toContainEqual(expect.objectContaining({ tx_signature: after.txSignature, payer: buyer.address, ...money }));
      expect(items).toContainEqual(expect.objectContaining({ tx_signature: settled, ...money }));
      expect(await service.listed(sold)).toBe(7);
      expect((await service.consume(sold, buyer, 'use-number-3')).remaining).toBe(7);
      expect((await service.consume(sold, buyer, 'use-number-4')).remaining).toBe(6);
    });
  }, 60_000);

  it('old objects with a newer database receive, once, what was paid meanwhile', async ({ expect }) => {
    await state.during('old-objects', async (service) => {
      expect((await service.api.must<{ status: string }>('GET', `/v1/payments/${after.paymentId}`)).status).toBe('CONFIRMED');
      const said = await service.reconcile(since);
      expect(said).toMatch(/^differed: \{.*"copy":\{"remaining":7,.*"object":\{"remaining":9,/m);
      expect(said).toMatch(/ 0 payments unknown$/m);
      // Nine of ten: no database row records the two uses that the objects lost.
      expect(await service.listed(sold)).toBe(9);
      expect(await service.reconcile(since)).toMatch(/ 0 differed; .* 0 payments unknown$/m);
      expect((await service.consume(sold, buyer, 'use-number-4')).remaining).toBe(8);
    });
  }, 60_000);
});
