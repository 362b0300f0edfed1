import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting, RENEWING_NAMES, readEvents, runScenario, sequenceOf, typesOf, unlikeLive } from '../../support/clients/sandbox.ts';
import { type Merchant, World } from '../../support/world.ts';

const NAMES = [
  'payment_confirmed',
  'payment_failed',
  'payment_expired',
  'payment_late',
  'payment_underpaid',
  'payment_overpaid',
  'payment_refunded',
  'payment_duplicate_signature',
  'membership_renewed',
  'membership_grace_expired',
  'delivery_failed_then_retried',
  'entitlement_exhausted',
  'x402_settled',
  'x402_settlement_pending',
  'x402_duplicate',
  'metered_session_full',
  'metered_voucher_replay',
  'support_ticket_cycle',
  'webhook_duplicate',
  'webhook_out_of_order',
];

describe('sandbox scenarios', () => {
  const w = new World();
  let ada: Merchant;
  let published: Map<string, string[]>;
  beforeAll(async () => {
    ada = await w.merchant();
    const { body } = await callTesting(w, ada, 'GET', 'scenarios');
    published = new Map(body.items.map(({ scenario, expected }: { scenario: string; expected: string[] }) => [scenario, expected]));
  });

  it('exactly the working scenarios are listed', () => expect([...published.keys()].sort()).toEqual([...NAMES, ...RENEWING_NAMES].sort()));

  it.concurrent.each(NAMES)(
    '%s completes three times with one seed, with the documented events in order and in live form except livemode',
    async (scenario) => {
      const sessions = await Promise.all([1, 2, 3].map(() => runScenario(w, ada, scenario, { seed: 'the same' })));
      for (const session of sessions) {
        expect([session.seed, session.status, typesOf(session)]).toEqual(['the same', 'completed', published.get(scenario)]);
        const sent = await readEvents(w, session.session_id);
        expect(sent.map(({ type }) => type)).toEqual(published.get(scenario));
        expect(sent.flatMap(unlikeLive)).toEqual([]);
      }
      expect(sessions.map(sequenceOf)).toEqual(Array(3).fill(sequenceOf(sessions[0])));
    },
  );

  it('payment_refunded completes with a merchant’s product paid to a wallet without a known key', async () => {
    const { address } = await w.chain.wallet(0n);
    const { body: product } = await w.call('POST', '/v1/products', {
      key: ada.sandboxKey,
      body: { name: 'Named', price: { asset: 'USDC', amount: '3' }, access_period_days: 30, usage_units: null, payout_wallet: address },
    });
    const session = await runScenario(w, ada, 'payment_refunded', { product_id: product.product_id });
    expect([session.status, typesOf(session)]).toEqual(['completed', published.get('payment_refunded')]);
    const { id } = session.objects.find(({ type }: { type: string }) => type === 'payment');
    const { body: payment } = await w.call('GET', `/v1/payments/${id}`, { key: ada.sandboxKey });
    expect(payment.refunded).toMatchObject([{ amount: { asset: 'USDC', amount: '3' } }]);
  });
});
