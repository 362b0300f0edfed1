import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { type Merchant, World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';
const w = new World({ OPERATOR_SECRET: SECRET });

interface Page {
  payments_recredited: number;
  entitlements_compared: number;
  differing: { entitlement_id: string }[];
  unknown_payments: { tx_signature: string }[];
  failed: string[];
  next: string | null;
}

async function reconcile(env: Env = w.env): Promise<Page[]> {
  const pages: Page[] = [];
  for (let after: string | null = '0.'; after !== null; after = pages.at(-1)!.next) {
    const { status, body } = await w.call('POST', '/v1/operator/reconcile', {
      headers: { 'X-Svc-Operator-Secret': SECRET },
      body: { since: new Date(Date.now() - 60_000).toISOString(), after },
      env,
    });
    expect(status, JSON.stringify(body)).toBe(200);
    pages.push(body);
  }
  return pages;
}

describe('POST /v1/operator/reconcile', () => {
  let ada: Merchant;
  let paymentId: string;
  let signature: string;
  beforeAll(async () => {
    ada = await w.merchant();
    const product = await w.product(ada, { usage_units: 5 });
    const session = await w.connect(product);
    const buyer = await w.chain.wallet();
    paymentId = session.payment_id;
    signature = await w.chain.pay(buyer, session);
    await w.confirm(paymentId, signature);
  });

  it('a second reconcile finds no difference and reports no known payment as unknown', async () => {
    const count = (pages: Page[], of: (page: Page) => number) => pages.reduce((sum, page) => sum + of(page), 0);
    const first = await reconcile();
    expect(count(first, (page) => page.payments_recredited)).toBeGreaterThan(0);
    const second = await reconcile();
    expect(count(second, (page) => page.differing.length + page.failed.length)).toBe(0);
    expect(second.flatMap((page) => page.unknown_payments.map((one) => one.tx_signature))).not.toContain(signature);
  });

  it('reconcile lists a payment as failed if its object did not answer', async () => {
    const away = {
      getByName: () => {
        throw new Error('the object is away');
      },
    };
    const pages = await reconcile({ ...w.env, ENTITLEMENT: away } as unknown as Env);
    expect(pages.flatMap(({ failed }) => failed)).toContain(paymentId);
  });

  it('reconcile answers 503 rpc_unavailable without a node and 422 to an invalid time or cursor', async () => {
    const headers = { 'X-Svc-Operator-Secret': SECRET };
    const since = new Date().toISOString();
    const env = { ...w.env, RPC_URL: 'http://127.0.0.1:1' } as Env;
    const away = await w.call('POST', '/v1/operator/reconcile', { headers, body: { since, after: '2.' }, env });
    expect([away.status, away.body.code]).toEqual([503, 'rpc_unavailable']);
    for (const body of [{ since: 'yesterday' }, { since, after: 'x' }, {}])
      expect((await w.call('POST', '/v1/operator/reconcile', { headers, body })).status).toBe(422);
  });
});
