import type { KeyPairSigner } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { newReferenceWorld } from '../../support/chain/own-reference.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { archiveAll } from '../../support/fixtures/old-books.ts';
import { openShop } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Merchant, World } from '../../support/world.ts';

interface Sale {
  path: string;
  id: string;
  merchant: Merchant;
  wallet: KeyPairSigner;
  payAgain(): Promise<string>;
}

/** Creates a final, refundable payment with every event sent, so that only its own rows are left to archive. */
async function oldSale(w: World): Promise<Sale> {
  await archiveAll(w);
  const merchant = await w.merchant();
  const wallet = await w.chain.wallet();
  const product = await w.product(merchant, { access_period_days: 30, payout_wallet: wallet.address });
  const buyer = await w.chain.wallet();
  const { payment } = await w.purchase(product, buyer);
  // The last receipt of a chain is never archived, so another sale follows.
  await w.purchase(product, await w.chain.wallet());
  await finish(w);
  const payAgain = () => w.chain.pay(buyer, payment, { units: 5_000_001n });
  return { path: `/v1/payments/${payment.payment_id}`, id: payment.payment_id, merchant, wallet, payAgain };
}

async function finish(w: World): Promise<void> {
  while (w.queue.sent.length > 0) await w.deliver();
  await w.env.DB.batch([
    w.env.DB.prepare('UPDATE payments SET finalized_at = confirmed_at WHERE finalized_at IS NULL'),
    w.env.DB.prepare('UPDATE tx_claims SET final_at = confirmed_at, next_check_at = NULL WHERE final_at IS NULL'),
  ]);
}

const readLocation = async ({ id }: Pick<Sale, 'id'>) =>
  testEnv.DB.prepare(
    `SELECT (SELECT count(*) FROM payments WHERE id = ?1) AS rows,
      (SELECT count(*) FROM archived_payments WHERE id = ?1) AS archived`,
  )
    .bind(id)
    .first();

const prepare = (w: World, { path, merchant }: Sale, env: Env = w.env) =>
  w.call('POST', `${path}/refund-transaction`, { key: merchant.key, body: { revoke_access: true }, env });

async function expectPaidBackOnce(w: World, sale: Sale, transaction: string, at: string): Promise<void> {
  const signature = await w.chain.call<string>('sendTransaction', await w.chain.sign(sale.wallet, transaction), { encoding: 'base64' });
  const confirm = () => w.call('POST', `${sale.path}/refund-confirm`, { key: sale.merchant.key, body: { tx_signature: signature } });
  const { status, body } = await confirm();
  expect([status, body.refunded], at).toEqual([200, [expect.objectContaining({ tx_signature: signature })]]);
  expect((await confirm()).body, at).toEqual(body);
  const again = await prepare(w, sale);
  expect([again.status, again.body.meta.reason], at).toEqual([409, 'refunded']);
  const { body: membership } = await w.call('GET', `/v1/memberships/lookup?payment_id=${sale.id}`, { key: sale.merchant.key });
  expect(membership.status, at).toBe('cancelled');
  expect(await readLocation(sale), at).toEqual({ rows: 1, archived: 0 });
}

/** Runs `rival` before trip `n` of `run`. Returns the number of trips. */
async function cutIn<T>(w: World, n: number, rival: () => Promise<unknown>, run: (env: Env) => Promise<T>) {
  const { env, trips } = withFaults(w.env, { before: async ({ number }) => number === n && Boolean(await rival()) && false });
  return { answer: await run(env), trips: trips.length };
}

describe('refund racing the archive', () => {
  it('a refund prepared between any two steps of the archive is paid once, and its payment stays in the database', async () => {
    const w = await newReferenceWorld();
    const locations: unknown[] = [];
    for (let n = 1, trips = Number.POSITIVE_INFINITY; n <= trips; n++) {
      const sale = await oldSale(w);
      let prepared: Awaited<ReturnType<typeof prepare>> | undefined;
      const rival = async () => (prepared = await prepare(w, sale));
      ({ trips } = await cutIn(w, n, rival, (env) => archiveAll(w, env)));
      const at = `before step ${n} of ${trips}`;
      expect(prepared?.status, at).toBe(200);
      locations.push(await readLocation(sale));
      await expectPaidBackOnce(w, sale, prepared!.body.transaction, at);
    }
    expect(locations.length).toBeGreaterThan(8);
    expect(new Set(locations.map((location) => JSON.stringify(location)))).toEqual(new Set(['{"rows":1,"archived":0}']));
  });

  it('a refund is prepared or can be retried if the archive interrupts its steps', async () => {
    const w = await newReferenceWorld();
    let archived = 0;
    for (let n = 1, trips = Number.POSITIVE_INFINITY; n <= trips; n++) {
      const sale = await oldSale(w);
      const rival = async () => {
        await archiveAll(w);
        archived += ((await readLocation(sale)) as { archived: number }).archived;
      };
      let prepared: Awaited<ReturnType<typeof prepare>>;
      ({ answer: prepared, trips } = await cutIn(w, n, rival, (env) => prepare(w, sale, env)));
      const at = `before step ${n} of ${trips}`;
      expect([200, 409], at).toContain(prepared.status);
      const { body } = prepared.status === 200 ? prepared : await prepare(w, sale);
      await expectPaidBackOnce(w, sale, body.transaction, at);
    }
    expect(archived).toBeGreaterThan(3);
  });
});

describe('settlement racing the archive', () => {
  it('a repeated settlement between any two steps of the archive gets the same answer', async () => {
    const w = await newReferenceWorld();
    for (let n = 1, trips = Number.POSITIVE_INFINITY; n <= trips; n++) {
      await archiveAll(w);
      const shop = await openShop(w);
      const payment = await shop.pay();
      const { body: first } = await shop.settle(payment);
      await shop.settle(await shop.pay());
      await finish(w);
      let again: Awaited<ReturnType<typeof shop.settle>> | undefined;
      const rival = async () => (again = await shop.settle(payment));
      ({ trips } = await cutIn(w, n, rival, (env) => archiveAll(w, env)));
      const at = `before step ${n} of ${trips}`;
      for (const { status, body } of [again!, await shop.settle(payment)])
        expect([status, body.payment_id, body.duplicate, body.granted_units], at).toEqual([200, first.payment_id, true, 0]);
      const { rows, archived } = (await readLocation({ id: first.payment_id })) as { rows: number; archived: number };
      expect(rows + archived, at).toBe(1);
    }
  });
});

describe('second payment racing the archive', () => {
  async function expectRecordedOnce(w: World, sale: Sale, signature: string, at: string): Promise<void> {
    const { key } = sale.merchant;
    const { body } = await w.call('GET', sale.path, { key });
    expect(body.unmatched, at).toEqual([expect.objectContaining({ tx_signature: signature, reason: 'second_payment', status: 'open' })]);
    expect([body.status, body.tx_signature === signature], at).toEqual(['CONFIRMED', false]);
    const accept = () => w.call('POST', `${sale.path}/accept-unmatched`, { key, body: { tx_signature: signature } });
    const accepted = await accept();
    expect([accepted.status, accepted.body.status], at).toEqual([200, 'CONFIRMED']);
    await accept();
    const recovered = w.env.DB.prepare('SELECT count(*) AS n FROM payments WHERE recovers_payment_id = ?').bind(sale.id);
    expect(await recovered.first('n'), at).toBe(1);
  }

  it('a second payment confirmed between any two steps of the archive is recorded once', async () => {
    const w = await newReferenceWorld();
    for (let n = 1, trips = Number.POSITIVE_INFINITY; n <= trips; n++) {
      const sale = await oldSale(w);
      const signature = await sale.payAgain();
      const confirm = () => w.confirm(sale.id, signature);
      ({ trips } = await cutIn(w, n, confirm, (env) => archiveAll(w, env)));
      const at = `before step ${n} of ${trips}`;
      expect((await confirm()).status, at).toBe(409);
      await expectRecordedOnce(w, sale, signature, at);
    }
  });

  it('a second payment is recorded once if the archive interrupts its confirmation', async () => {
    const w = await newReferenceWorld();
    for (let n = 1, trips = Number.POSITIVE_INFINITY; n <= trips; n++) {
      const sale = await oldSale(w);
      const signature = await sale.payAgain();
      ({ trips } = await cutIn(
        w,
        n,
        () => archiveAll(w),
        (env) => w.confirm(sale.id, signature, { env }),
      ));
      const at = `before step ${n} of ${trips}`;
      expect((await w.confirm(sale.id, signature)).status, at).toBe(409);
      await expectRecordedOnce(w, sale, signature, at);
    }
  });
});
