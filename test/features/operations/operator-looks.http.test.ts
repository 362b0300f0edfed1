import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';
const headers = { 'X-Svc-Operator-Secret': SECRET };
const w = new World({ OPERATOR_SECRET: SECRET });
const look = (path: string, options: CallOptions = {}) => w.call('GET', `/v1/operator/${path}`, { headers, ...options });

const search = async (body: object) => (await w.call('POST', '/v1/operator/accounts/search', { headers, body })).body;

describe('what an operator looks at', () => {
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('lists the newest accounts, those before one, and one by e-mail or id', async () => {
    const body = await search({});
    expect(body.items.map(({ user_id }: { user_id: string }) => user_id)).toContain(ada.userId);
    expect(JSON.stringify(body)).not.toMatch(/password|hash|key/i);
    for (const named of [ada.email, ada.userId])
      expect((await search({ account: named })).items).toMatchObject([
        { user_id: ada.userId, email: ada.email, status: 'active', is_staff: false },
      ]);
    const held = JSON.stringify([{ plan: 'growth', planThrough: Date.now() + 86_400_000 }]);
    await w.env.DB.prepare("UPDATE accounts SET plan = 'free', plan_through = NULL, processor_plans = ? WHERE id = ?")
      .bind(held, ada.userId)
      .run();
    expect((await search({ account: ada.userId })).items).toMatchObject([{ plan: 'growth', plan_source: 'processor' }]);
    const older = await search({ before: ada.userId });
    expect(older.items.map(({ user_id }: { user_id: string }) => user_id)).not.toContain(ada.userId);
    expect((await search({ account: 'nobody@example.com' })).code).toBe('not_found');
  });

  it('finds a payment of any merchant by its id and by its transaction', async () => {
    const product = await w.product(ada);
    const session = await w.connect(product);
    const buyer = await w.chain.wallet();
    const signature = await w.chain.pay(buyer, session);
    await w.confirm(session.payment_id, signature);
    for (const named of [session.payment_id, signature]) {
      const { status, body } = await look(`payments/${named}`);
      expect([status, body.payment_id, body.account_id, body.status, body.tx_signature]).toEqual([
        200,
        session.payment_id,
        ada.userId,
        'CONFIRMED',
        signature,
      ]);
    }
    expect((await look('payments/01900000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  it('adds up accounts and live sales', async () => {
    const { status, body } = await look('totals');
    expect(status).toBe(200);
    expect(body.accounts.active).toBeGreaterThan(0);
    expect(body.live).toBeTypeOf('object');
  });

  it('is told nothing without the secret: there is no such path', async () => {
    for (const path of ['accounts/search', 'payments/x', 'totals', 'dead-letters']) {
      const { status, body } = await look(path, { headers: { 'X-Svc-Operator-Secret': 'a guess of another person, long enough' } });
      expect([status, body.meta.reason]).toEqual([404, 'unknown_path']);
    }
  });
});

describe('dead letters', () => {
  const park = (id: string, queue: string) =>
    w.env.DB.prepare(
      `INSERT INTO parked_messages (id, queue, kind, body, reason, parked_at) VALUES (?, ?, 'fanOut', '{"kind":"fanOut","eventIds":["secret"]}', 'failed', 1)`,
    )
      .bind(id, queue)
      .run();
  /** An environment whose queue keeps what it is sent, or takes nothing. */
  const withQueue = (send: (body: unknown) => Promise<void>): Env => ({ ...w.env, JOBS: { send } }) as unknown as Env;
  const resend = (ids: 'all' | string[], env: Env = w.env) => w.call('POST', '/v1/operator/dead-letters', { headers, body: { ids }, env });

  it('are listed without what they say, sent into their queue again, and forgotten once they are there', async () => {
    await park('letter-1', 'svc-jobs-dead');
    const { body } = await look('dead-letters');
    expect(body.items).toContainEqual({ id: 'letter-1', queue: 'svc-jobs-dead', kind: 'fanOut', parked_at: expect.any(String) });
    expect(JSON.stringify(body)).not.toContain('secret');
    const sent: unknown[] = [];
    const env = withQueue(async (one) => void sent.push(one));
    expect((await resend(['letter-1'], env)).body.items).toHaveLength(1);
    expect(sent).toEqual([{ kind: 'fanOut', eventIds: ['secret'] }]);
    expect((await resend(['letter-1'], env)).status).toBe(404);
    expect(sent).toHaveLength(1);
  });

  it.each(['JOBS', 'WEBHOOKS', 'WEBHOOKS_SLOW', 'MAIL', 'TELEGRAM', 'DISCORD', 'SANDBOX'])(
    'of %s go back into that queue',
    async (binding) => {
      const id = `letter-of-${binding}`;
      await park(id, `svc-${binding.toLowerCase().replace('_', '-')}-dead`);
      const sent: unknown[] = [];
      const queue = { send: async (one: unknown) => void sent.push(one) };
      expect((await resend([id], { ...w.env, [binding]: queue } as unknown as Env)).body.items).toMatchObject([{ id }]);
      expect(sent).toHaveLength(1);
    },
  );

  it('stay where the queue did not take them', async () => {
    await park('letter-2', 'svc-jobs-dead');
    const env = withQueue(() => Promise.reject(new Error('D1_ERROR: the queue is away')));
    expect((await resend(['letter-2'], env)).status).toBe(503);
    const ids = (await look('dead-letters')).body.items.map(({ id }: { id: string }) => id);
    expect(ids).toContain('letter-2');
  });

  it('of a queue that this release does not have stay for one that has', async () => {
    await park('letter-3', 'svc-of-the-next-release-dead');
    expect((await resend(['letter-3'])).body.items).toEqual([]);
    expect((await look('dead-letters')).body.items.map(({ id }: { id: string }) => id)).toContain('letter-3');
  });
});
