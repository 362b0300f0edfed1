// @module-tag volume
import { beforeAll, describe, expect, it } from 'vitest';
import { BYTES } from '../../local/bench/bill/prices.ts';
import { FIRST_CHECK, letTimePass } from '../support/faults/finality.ts';
import { newAgent, openShop, type Shop } from '../support/people/agent.ts';
import { letTimeRun } from '../support/runner/clock.ts';
import { restAdmission, Spent } from '../support/runner/spent.ts';
import { World } from '../support/world.ts';

/** Payments of which the bytes are measured. Fewer fill the pages of the indexes less well. */
const STORED = 300;
/** Objects that ring together: a ring asks each for its alarm. */
const STORED_AT_ONCE = 50;

const w = new World();

async function settle(at: Shop): Promise<void> {
  const agent = await newAgent(w);
  const denied = await at.consume({ customer: { wallet_address: agent.wallet.address } });
  const payment = await agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
  expect((await at.settle(payment)).status).toBe(200);
}

/** Pays so often, until nothing is left to do. */
async function payTimes(count: number, pay: () => Promise<unknown>): Promise<void> {
  await restAdmission();
  const spent = new Spent(w);
  await spent.watch();
  try {
    for (let i = 0; i < count; i++) await pay();
    await spent.drain();
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality', spent.env);
    await spent.drain();
  } finally {
    spent.end();
    letTimeRun();
  }
}

describe.each([
  [
    'a sale',
    BYTES.sale,
    async ({ merchant }: Shop) => {
      const sold = await w.product(merchant, { access_period_days: 30 });
      return async () => {
        const { confirmed } = await w.purchase(sold, await w.chain.wallet());
        expect(confirmed).toMatchObject({ payment: { status: 'CONFIRMED' } });
      };
    },
  ],
  ['an x402 payment', BYTES.x402, async (at: Shop) => () => settle(at)],
])('bytes of %s', (_kind, bytes, open) => {
  let pay: () => Promise<unknown>;
  let before: number;
  const size = async () => (await w.env.DB.prepare('SELECT 1').run()).meta.size_after;
  beforeAll(async () => {
    pay = await open(await openShop(w));
    before = await size();
  });

  it.each(Array.from({ length: STORED / STORED_AT_ONCE }, (_, n) => n + 1))(
    `${STORED_AT_ONCE} of a kind, each by a new customer, become final: round %i`,
    async () => {
      await payTimes(STORED_AT_ONCE, pay);
      const open = "SELECT count(*) AS n FROM payments WHERE status = 'CONFIRMED' AND finalized_at IS NULL";
      expect(await w.env.DB.prepare(open).first('n')).toBe(0);
    },
  );

  it(`${STORED} of a kind take the bytes of the page`, async () => {
    const each = ((await size()) - before) / STORED;
    expect(each).toBeLessThanOrEqual(bytes);
    expect(each).toBeGreaterThan(bytes * 0.9);
  });
});
