import { beforeAll, describe, expect, it } from 'vitest';
import { DAY, MINUTE } from '#core/time.ts';
import { sweepOf } from '#features/retention/retention.ts';
import { newCtx } from '#platform/context.ts';
import { sellRenewing, subscribeRenewing } from '../../support/fixtures/renewing.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('accounts of the simulated chain outside sessions', () => {
  const w = new World();
  let ada: Merchant;
  let product: Body;
  let running: Body;
  let over: Body;
  beforeAll(async () => {
    ada = await w.merchant();
    product = await sellRenewing(w, ada);
    running = await subscribeRenewing(w, ada, product, 'anna');
    over = await subscribeRenewing(w, ada, product, 'bert');
    await end(over);
  });

  const end = ({ authorization_id: id }: Body) =>
    w.env.DB.prepare("UPDATE subscription_authorizations SET status = 'cancelled', ended_at = 1, next_check_at = NULL WHERE id = ?")
      .bind(id)
      .run();
  const addresses = async (): Promise<string[]> =>
    (
      await w.env.DB.prepare("SELECT address FROM sandbox_accounts WHERE merchant_id = ? AND session_id = '' ORDER BY address")
        .bind(ada.userId)
        .all<{ address: string }>()
    ).results.map(({ address }) => address);
  const sweepAfter = (days: number, env = w.env) =>
    sweepOf('sandboxAccounts')(newCtx(env, { requestId: 'req_accounts', now: Date.now() + days * DAY, defer: () => {} }));
  const runAt = async <T>(at: number, run: () => Promise<T>): Promise<T> => {
    setTime(at);
    try {
      return await run();
    } finally {
      letTimeRun();
    }
  };

  it('an account is deleted after 90 days without use unless a plan or a subscription needs it', async () => {
    const all = await addresses();
    // Each subscriber has an authority, a subscription and a token account. The merchant has a plan and a token account.
    expect(all).toHaveLength(3 + 3 + 2);
    await sweepAfter(89);
    expect(await addresses()).toEqual(all);
    expect((await sweepAfter(91)).taken).toBe(all.length);
    const left = await addresses();
    expect(left).toHaveLength(3 + 2);
    // Accounts in use are checked once in 90 days.
    expect((await sweepAfter(180)).taken).toBe(0);
    expect((await sweepAfter(182)).taken).toBe(left.length);
    expect(await addresses()).toEqual(left);
  });

  it('subscriptions still collect after the deletion, and a wallet with deleted accounts subscribes again', async () => {
    const { authorization_id: id, paid_through: periodEnd } = running;
    for (const minutes of [11, 12, 13])
      await runAt(Date.parse(periodEnd) + minutes * MINUTE, async () => {
        await w.deliver([{ kind: 'sweepSandbox', merchantId: ada.userId }]);
        for (let i = 0; i < 3; i++) await w.deliver();
      });
    const read = async () => (await w.call('GET', `/v1/access/native-subscriptions/${id}`, { key: ada.sandboxKey })).body;
    expect(Date.parse((await read()).paid_through)).toBe(Date.parse(periodEnd) + 30 * DAY);
    const again = await subscribeRenewing(w, ada, product, 'bert');
    expect(again).toMatchObject({ status: 'active', subscriber_wallet: over.subscriber_wallet });
    expect(await addresses()).toHaveLength(3 + 3 + 2);
    await Promise.all([end(again), end(running)]);
    await sweepAfter(400);
    expect(await addresses()).toHaveLength(2);
  });

  it('the sweep finds idle accounts by an index without session rows and reads no other rows', async () => {
    await w.env.DB.prepare(
      `INSERT INTO sandbox_accounts SELECT merchant_id, 'a-session', address || n.value, owner, data, changed_by, 0 FROM sandbox_accounts,
        json_each('[1,2,3,4,5,6,7,8,9]') n WHERE session_id = ''`,
    ).run();
    const { env, readings } = withRowCount(w.env);
    expect((await sweepAfter(0, env)).taken).toBe(0);
    expect(rowsOf(readings), worstOf(readings)).toBeLessThanOrEqual(1);
  });
});
