import { afterAll, beforeAll, expect, it } from 'vitest';
import { channelWorld, fundChannels, LiveShop, operatorOf } from '../../support/chain/live-channel.ts';
import { endSkips } from '../../support/runner/clock.ts';

const SECRET = 'the secret of an operator in a test';
const w = channelWorld({ OPERATOR_SECRET: SECRET });
beforeAll(() => fundChannels(w));
afterAll(endSkips);

interface Unknown {
  tx_signature: string;
  payer: string;
  recipient: string;
  amount: string;
  account_id: string | null;
}

async function unknownMoney(): Promise<Unknown[]> {
  const pages: { unknown_payments: Unknown[]; next: string | null }[] = [];
  const since = new Date(Date.now() - 60_000).toISOString();
  for (let after: string | null = '0.'; after !== null; after = pages.at(-1)!.next) {
    const { status, body } = await w.call('POST', '/v1/operator/reconcile', {
      headers: { 'X-Svc-Operator-Secret': SECRET },
      body: { since, after },
    });
    expect(status, JSON.stringify(body)).toBe(200);
    pages.push(body);
  }
  return pages.flatMap((page) => page.unknown_payments);
}

it('after a restore, reconcile names unknown payouts and deposits of channels, and no known ones', async () => {
  const [closed, open, known] = [await LiveShop.make(w), await LiveShop.make(w), await LiveShop.make(w)];
  for (const shop of [closed, open, known]) {
    await shop.authorize(await shop.pull());
    await shop.use(500n, 500n);
  }
  expect((await closed.close()).body.status).toBe('closed');
  expect((await known.close()).body.status).toBe('closed');
  expect(await unknownMoney()).toEqual([]);
  for (const { session } of [closed, open]) {
    const ofProduct = ['payments', 'settlements', 'metered_sessions'].map((table) =>
      w.env.DB.prepare(`DELETE FROM ${table} WHERE product_id = ?`).bind(session.product_id),
    );
    const claims = 'DELETE FROM tx_claims WHERE subject_id IN (SELECT id FROM payments WHERE product_id = ?)';
    await w.env.DB.batch([w.env.DB.prepare(claims).bind(session.product_id), ...ofProduct]);
  }
  const found = await unknownMoney();
  expect(found.map(({ payer, recipient, amount, account_id }) => ({ payer, recipient, amount, account_id }))).toEqual(
    expect.arrayContaining([
      {
        payer: closed.buyer.channelId,
        recipient: closed.merchant.wallet.address,
        amount: '0.0005',
        account_id: closed.merchant.userId,
      },
      { payer: open.wallet.address, recipient: open.buyer.channelId, amount: '1', account_id: null },
    ]),
  );
  expect(found).toHaveLength(2);
  expect(found.map(({ recipient }) => recipient)).not.toContain(operatorOf(w));
});
