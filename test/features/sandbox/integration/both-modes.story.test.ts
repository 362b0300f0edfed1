import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import { createClient } from '../../../../sdk/src/index.ts';
import worker from '../../../../worker/index.ts';
import { callTesting, joinEntitlement } from '../../../support/clients/sandbox.ts';
import { newAgent, readyToBePaid } from '../../../support/people/agent.ts';
import { testEnv } from '../../../support/runner/env.ts';
import type { Received } from '../../../support/servers/receiver.ts';
import { type Merchant, World } from '../../../support/world.ts';
import { openShop, type Shop } from './shop.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

/** Buyers, the only part that differs between the modes. */
interface Buyers {
  pay(payment: Body): Promise<string>;
  answer(header: string): Promise<string>;
}

const testBuyers = (w: World, merchant: Merchant): Buyers => ({
  pay: async ({ payment_id }) => (await callTesting(w, merchant, 'POST', 'pay', { payment_id })).body.tx_signature,
  answer: async (header) => (await callTesting(w, merchant, 'POST', 'pay', { payment_required: header })).body.payment_signature,
});

const liveBuyers = (w: World): Buyers => ({
  pay: async (payment) => w.chain.pay(await w.chain.wallet(), payment),
  answer: async (header) => (await newAgent(w)).pay(header),
});

interface ShopRecord {
  wasAccess: boolean;
  hasAccess: boolean;
  orders: string[];
  newEvents: string[];
  refused: number;
  answers: [number, Body][];
}

function joinBuyer(w: World, { userId, key: liveKey }: Merchant, key: string, productId: string, customerRef: string) {
  const livemode = key === liveKey;
  return joinEntitlement(w, userId, livemode, entitlementIdOf(userId, livemode, productId, { customerRef }));
}

/** Runs a buyer at the checkout, then an agent without an account, and records their external view. */
async function trade(w: World, merchant: Merchant, key: string, buyers: Buyers): Promise<ShopRecord> {
  const box = crypto.randomUUID();
  const fetch = async (request: Request): Promise<Response> => {
    const execution = createExecutionContext();
    const response = await worker.fetch(request as never, w.env, execution);
    await waitOnExecutionContext(execution);
    return response;
  };
  const client = createClient({ baseUrl: 'https://svc.test', key, fetch });
  const hookUrl = `${testEnv.TEST_RECEIVER_URL}/ok/${box}`;
  const shop = await openShop(client, { hookUrl, payoutWallet: merchant.wallet.address });
  const customerRef = 'customer-4711';
  const customers = await Promise.all([customerRef, 'agent-1'].map((ref) => joinBuyer(w, merchant, key, shop.productId, ref)));
  const settleDown = async () => {
    for (let i = 0; i < 3; i++) {
      await w.deliver();
      for (const customer of customers) await customer.waitForProjection();
      await w.attempt();
    }
  };
  const wasAccess = await shop.hasAccess(customerRef);

  const payment = await w.connect(shop, { customer_ref: customerRef });
  expect((await w.confirm(payment.payment_id, await buyers.pay(payment))).status).toBe(200);
  await settleDown();
  const hasAccess = await shop.hasAccess(customerRef);
  const answers: [number, Body][] = [];
  const ask = async (customer: string, payment: string | null = null) => {
    const headers = { 'X-Customer': customer, ...(payment === null ? {} : { 'PAYMENT-SIGNATURE': payment }) };
    const response = await shop.serve(new Request('https://weather.test/forecast', { headers }));
    const body = (await response.json()) as Body;
    answers.push([response.status, body.code ?? body]);
    return response;
  };
  // Two uses were bought. The third is refused with a challenge, which an agent pays.
  for (let i = 0; i < 3; i++) await ask(customerRef);
  const refusal = await ask('agent-1');
  await ask('agent-1', await buyers.answer(refusal.headers.get('PAYMENT-REQUIRED')!));
  await settleDown();
  const newEvents = await hand(shop, box);
  return { wasAccess, hasAccess, orders: [...shop.orders.values()].sort(), newEvents, refused: shop.refused, answers };
}

/** Hands the shop its received webhooks, newest first, each twice, plus a forged one. Returns the event types. */
async function hand(shop: Shop, box: string): Promise<string[]> {
  const got = await (await fetch(`${testEnv.TEST_RECEIVER_URL}/_box/${box}`)).json<Received[]>();
  const request = ({ headers, body }: Received) => new Request('https://shop.test/hooks', { method: 'POST', headers, body });
  for (const one of [...got, ...got].reverse()) expect((await shop.receive(request(one))).status).toBe(204);
  expect((await shop.receive(request({ ...got[0]!, body: got[0]!.body.replace('evt_', 'evt_x') }))).status).toBe(401);
  return got.map(({ headers }) => headers['x-svc-event-type']!).sort();
}

describe('shop integration', () => {
  it('code written against the sandbox gets the same webhooks, access and answers in live mode', async () => {
    const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
    const merchant = await w.merchant();
    await w.chain.call('local_resetCalls');
    const inSandbox = await trade(w, merchant, merchant.sandboxKey, testBuyers(w, merchant));
    expect(await w.chain.call('local_calls')).toEqual({});
    await readyToBePaid(w, merchant);
    const live = await trade(w, merchant, merchant.key, liveBuyers(w));
    expect(inSandbox).toEqual(live);
    expect(live).toMatchObject({
      wasAccess: false,
      hasAccess: true,
      orders: ['paid', 'paid'],
      refused: 1,
      answers: [
        [200, { weather: 'sunny', paid: false }],
        [200, { weather: 'sunny', paid: false }],
        [402, 'entitlement_missing'],
        [402, 'entitlement_missing'],
        [200, { weather: 'sunny', paid: true }],
      ],
    });
    expect(live.newEvents).toEqual(
      expect.arrayContaining(['payment.created', 'payment.confirmed', 'receipt.created', 'entitlement.granted']),
    );
  });
});
