import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';
const headers = { 'X-Svc-Operator-Secret': SECRET };
const w = new World({ OPERATOR_SECRET: SECRET });
const getOperator = (path: string, options: CallOptions = {}) => w.call('GET', `/v1/operator/${path}`, { headers, ...options });

const search = async (body: object) => (await w.call('POST', '/v1/operator/accounts/search', { headers, body })).body;

describe('operator lookups', () => {
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('account search lists the newest accounts, those before an id, and one by email or id', async () => {
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

  it('payment lookup finds a payment of any merchant by its id and by its transaction', async () => {
    const product = await w.product(ada);
    const session = await w.connect(product);
    const buyer = await w.chain.wallet();
    const signature = await w.chain.pay(buyer, session);
    await w.confirm(session.payment_id, signature);
    for (const named of [session.payment_id, signature]) {
      const { status, body } = await getOperator(`payments/${named}`);
      expect([status, body.payment_id, body.account_id, body.status, body.tx_signature]).toEqual([
        200,
        session.payment_id,
        ada.userId,
        'CONFIRMED',
        signature,
      ]);
    }
    expect((await getOperator('payments/01900000-0000-7000-8000-000000000000')).status).toBe(404);
  });

  it('totals count accounts and live sales', async () => {
    const { status, body } = await getOperator('totals');
    expect(status).toBe(200);
    expect(body.accounts.active).toBeGreaterThan(0);
    expect(body.live).toBeTypeOf('object');
  });

  it('operator routes answer 404 unknown_path without the secret', async () => {
    for (const path of ['accounts/search', 'payments/x', 'totals', 'dead-letters']) {
      const { status, body } = await getOperator(path, { headers: { 'X-Svc-Operator-Secret': 'a guess of another person, long enough' } });
      expect([status, body.meta.reason]).toEqual([404, 'unknown_path']);
    }
  });
});

describe('dead letters of the operator API', () => {
  const park = (id: string, queue: string) =>
    w.env.DB.prepare(
      `INSERT INTO parked_messages (id, queue, kind, body, reason, parked_at) VALUES (?, ?, 'fanOut', '{"kind":"fanOut","actIds":["secret"]}', 'failed', 1)`,
    )
      .bind(id, queue)
      .run();
  /** True for the message that chains the entry of the operator's act. */
  const isOfLog = (message: unknown) => (message as { kind?: string }).kind === 'chainEntries';
  const withQueue = (send: (body: unknown) => Promise<void>): Env => ({ ...w.env, JOBS: { send } }) as unknown as Env;
  const resend = (ids: 'all' | string[], env: Env = w.env) => w.call('POST', '/v1/operator/dead-letters', { headers, body: { ids }, env });

  it('dead letters are listed without their bodies, resent to their queue, and deleted once they are sent', async () => {
    await park('letter-1', 'svc-jobs-dead');
    const { body } = await getOperator('dead-letters');
    expect(body.items).toContainEqual({ id: 'letter-1', queue: 'svc-jobs-dead', kind: 'fanOut', parked_at: expect.any(String) });
    expect(JSON.stringify(body)).not.toContain('secret');
    const sent: unknown[] = [];
    const env = withQueue(async (one) => void (isOfLog(one) || sent.push(one)));
    expect((await resend(['letter-1'], env)).body.items).toHaveLength(1);
    expect(sent).toEqual([{ kind: 'fanOut', actIds: ['secret'] }]);
    expect((await resend(['letter-1'], env)).status).toBe(404);
    expect(sent).toHaveLength(1);
  });

  it.each(['JOBS', 'WEBHOOKS', 'WEBHOOKS_SLOW', 'MAIL', 'TELEGRAM', 'DISCORD', 'SANDBOX'])(
    'dead letters of %s are resent to that queue',
    async (binding) => {
      const id = `letter-of-${binding}`;
      await park(id, `svc-${binding.toLowerCase().replace('_', '-')}-dead`);
      const sent: unknown[] = [];
      const queue = { send: async (one: unknown) => void (isOfLog(one) || sent.push(one)) };
      expect((await resend([id], { ...w.env, [binding]: queue } as unknown as Env)).body.items).toMatchObject([{ id }]);
      expect(sent).toHaveLength(1);
    },
  );

  it('dead letters stay stored if the queue refuses them', async () => {
    await park('letter-2', 'svc-jobs-dead');
    const env = withQueue(() => Promise.reject(new Error('D1_ERROR: the queue is away')));
    expect((await resend(['letter-2'], env)).status).toBe(503);
    const ids = (await getOperator('dead-letters')).body.items.map(({ id }: { id: string }) => id);
    expect(ids).toContain('letter-2');
  });

  it('dead letters of a queue unknown to this release stay stored', async () => {
    await park('letter-3', 'svc-of-the-next-release-dead');
    expect((await resend(['letter-3'])).body.items).toEqual([]);
    expect((await getOperator('dead-letters')).body.items.map(({ id }: { id: string }) => id)).toContain('letter-3');
  });
});
