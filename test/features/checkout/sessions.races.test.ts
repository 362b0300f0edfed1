import { beforeAll, describe, expect, it } from 'vitest';
import { expireNow } from '../../support/faults/expire-now.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { sellToAgents } from '../../support/people/agent.ts';
import { openSession } from '../../support/people/sale.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type CallOptions, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('concurrent and interrupted connects of a payment session', REPEATED, () => {
  const w = new World();
  let ada: Merchant;
  let product: Body;
  beforeAll(async () => {
    ada = await w.merchant();
    product = await sellToAgents(w, ada);
  });
  const open = async (): Promise<Body> => (await openSession(w, ada, { product_id: product.product_id })).body;
  const connect = (session: Body, options: CallOptions = {}) => {
    const body = { payment_session_id: session.payment_session_id };
    return w.call('POST', `/v1/products/p/${product.slug}/connect`, { body, ...options });
  };
  const paymentsIn = async (session: Body) => {
    const rows = w.env.DB.prepare('SELECT id, status FROM payments WHERE payment_session_id = ?').bind(session.payment_session_id);
    return (await rows.all<{ id: string; status: string }>()).results;
  };
  const running = (payments: { id: string; status: string }[]) => payments.filter(({ status }) => status.startsWith('PENDING'));

  it.each(['before', 'after'] as const)('a database loss right %s any trip of connect leaves one payment', async (moment) => {
    const counted = withFaults(w.env);
    await connect(await open(), { env: counted.env });
    const trips = counted.trips.length;
    expect(trips).toBeGreaterThanOrEqual(3);
    for (let cut = 1; cut <= trips; cut++) {
      for (const isForGood of [false, true]) {
        const session = await open();
        const isCut = ({ number }: { number: number }) => (isForGood ? number >= cut : number === cut);
        const broken = await connect(session, { env: withFaults(w.env, { [moment]: isCut }).env });
        expect([200, 503]).toContain(broken.status);
        const { status, body } = await connect(session);
        expect([cut, status]).toEqual([cut, 200]);
        if (broken.status === 200) expect(body.payment_id).toBe(broken.body.payment_id);
        expect((await paymentsIn(session)).map(({ id }) => id)).toEqual([body.payment_id]);
        expect(await w.eventTypes(body.payment_id)).toEqual(['payment.created']);
      }
    }
  });

  it('a lost database answer leaves the hand-off with its payment', async () => {
    const buyer = await w.chain.wallet();
    const input = { key: ada.key, body: { customer_ref: 'user-1', wallet_address: buyer.address } };
    const { handoff_token } = (await w.call('POST', `/v1/products/${product.product_id}/handoffs`, input)).body;
    const session = await open();
    const body = { payment_session_id: session.payment_session_id, handoff_token };
    const begin = (options: CallOptions = {}) => w.call('POST', `/v1/products/p/${product.slug}/connect`, { body, ...options });
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' });
    const first = await begin({ env });
    expect([first.status, typeof first.body.transaction]).toEqual([200, 'string']);
    const again = await begin();
    expect([again.body.payment_id, typeof again.body.transaction]).toEqual([first.body.payment_id, 'string']);
    expect((await paymentsIn(session)).map(({ id }) => id)).toEqual([first.body.payment_id]);
    expect(await w.eventTypes(first.body.payment_id)).toEqual(['payment.created']);
    const used = await w.env.DB.prepare('SELECT payment_id FROM handoffs WHERE payment_id = ?').bind(first.body.payment_id).all();
    expect(used.results).toHaveLength(1);
  });

  it('concurrent connects and failures never leave two running payments', async () => {
    const session = await open();
    for (let round = 0; round < 4; round++) {
      const { body: current } = await connect(session);
      const connecting = Array.from({ length: 10 }, () => connect(session));
      await expireNow(w, current.payment_id);
      const answers = await Promise.all([...connecting, ...Array.from({ length: 10 }, () => connect(session))]);
      const known = await paymentsIn(session);
      expect(running(known).length).toBeLessThanOrEqual(1);
      for (const { status, body } of answers) {
        expect([200, 409]).toContain(status);
        if (status === 200) expect(known.map(({ id }) => id)).toContain(body.payment_id);
        else expect(body.meta.reason).toBe('contended');
      }
    }
  });

  it('money for a failed payment and concurrent connects leave one paid and at most one running payment', async () => {
    const session = await open();
    const { body: bill } = await connect(session);
    const signature = await w.chain.pay(await w.chain.wallet(), bill);
    await expireNow(w, bill.payment_id);
    const [confirmed, ...answers] = await Promise.all([
      w.confirm(bill.payment_id, signature),
      ...Array.from({ length: 10 }, () => connect(session)),
    ]);
    const recovered = confirmed!.body.meta.recovered_payment_id;
    const known = await paymentsIn(session);
    expect(known.filter(({ status }) => status === 'CONFIRMED').map(({ id }) => id)).toEqual([recovered]);
    expect(running(known).length).toBeLessThanOrEqual(1);
    const last = await connect(session);
    if (running(known).length === 0) expect([last.status, last.body.meta.payment_id]).toEqual([409, recovered]);
    else expect([last.status, last.body.payment_id]).toEqual([200, running(known)[0]!.id]);
    for (const { status, body } of answers) if (status === 200) expect(body.payment_id).not.toBe(bill.payment_id);
  });
});
