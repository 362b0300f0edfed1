import type { KeyPairSigner } from '@solana/kit';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { entitlementObjectName } from '#platform/objects.ts';
import { sum, times, zero } from '../../local/bench/bill/bill.ts';
import { costPage, type Measured, POLLS } from '../../local/bench/bill/page.ts';
import type { Counts } from '../../local/bench/bill/prices.ts';
import { FIRST_CHECK, letTimePass } from '../support/faults/finality.ts';
import { putRow } from '../support/fixtures/put-row.ts';
import { newAgent, openShop, type Shop } from '../support/people/agent.ts';
import { consumer } from '../support/people/consumer.ts';
import { letTimeRun, setNoon, setTime } from '../support/runner/clock.ts';
import { testEnv } from '../support/runner/env.ts';
import { restAdmission, Spent } from '../support/runner/spent.ts';
import { World } from '../support/world.ts';

/** Id that the log does not sample. The samples are added to the counts. */
const UNSAMPLED = 'req-not-sampled';
const LINES_OF_CONSUME = 3;
const GROUP = 12;
/** Customers of one shop who each use once in a minute. */
const LONE = Array.from({ length: 60 }, (_, index) => `alone-${index}`);

const HOUR_MINUTES = 60;

describe('bill', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let shop: Shop;
  /** Sells each unit by itself. */
  let single: Shop;
  let product: { slug: string };
  let buyer: KeyPairSigner;
  const measured: Partial<Measured> = {};

  beforeAll(async () => {
    shop = await openShop(w, { usage_units: 100_000 });
    single = await openShop(w);
    product = await w.product(shop.merchant, { access_period_days: 30 });
    buyer = await w.chain.wallet();
    // The first sale of a product notes its name for the search.
    await sell();
    await settle();
    await spend(() =>
      Promise.all([...LONE, 'each10', 'each20', 'hot'].map((name) => shop.grant({ customer: customerOf(name), units: 100_000 }))),
    );
    // A range of signatures is read up to the next one, which a full table always has.
    await putRow(w.env.DB, 'tx_claims', { tx_key: 'z'.repeat(20), livemode: 1 });
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAll();
    await spend(async () => {});
    letTimeRun();
  });
  afterEach(letTimeRun);

  const customerOf = (name: string) => ({ customer_ref: `bill-${name}` });
  async function spend(run: (spent: Spent) => Promise<unknown>): Promise<Counts> {
    // Freezes the time, because the counts of some calls depend on how soon they follow others.
    setTime(Date.now() + MINUTE);
    await restAdmission();
    return watch(run);
  }
  async function watch(run: (spent: Spent) => Promise<unknown>): Promise<Counts> {
    const spent = new Spent(w);
    await spent.watch();
    try {
      await run(spent);
      await spent.drain();
    } finally {
      spent.end();
    }
    return spent.counts;
  }

  const consume = async (spent: Spent, name: string, key: string) => {
    spent.counts.requests++;
    const answer = await w.call('POST', '/v1/access/entitlements/consume', {
      key: shop.merchant.key,
      body: { product_id: shop.product.product_id, customer: customerOf(name) },
      headers: { 'Idempotency-Key': `bill-${name}-${key}`, 'X-Svc-Request-Id': UNSAMPLED },
      env: spent.env,
    });
    expect(answer.status).toBe(200);
  };
  const withSampledLines = (counts: Counts): Counts => sum(counts, { ...zero(), logLines: LINES_OF_CONSUME / 100 });

  async function sell(env = w.env, by = buyer, { slug } = product): Promise<string> {
    const { body: payment } = await w.call('POST', `/v1/products/p/${slug}/connect`, { body: {}, env });
    const signature = await w.chain.pay(by, payment);
    const confirmed = await w.confirm(payment.payment_id, signature, { env });
    expect(confirmed.status, JSON.stringify(confirmed.body)).toBe(200);
    return payment.payment_id;
  }

  async function settle(env = w.env, agent = single.agent, at = single): Promise<void> {
    const denied = await at.consume({ customer: { wallet_address: agent.wallet.address } }, { env });
    const payment = await agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    expect((await at.settle(payment, {}, { env })).status).toBe(200);
  }

  /** Runs the sweep that follows a payment. Its lease is that of every minute, so its two rows are left out. */
  async function finish(spent: Spent): Promise<void> {
    await spent.drain();
    await letTimePass(w, FIRST_CHECK);
    await w.sweepAlone('finality', spent.env);
    spent.counts.rowsWritten -= 2;
  }

  it('a minute without work is counted', async () => {
    const pass = async (env: typeof w.env): Promise<number> => {
      setTime(Date.now() + MINUTE);
      const messages = await w.cron(env);
      let invocations = 1;
      for (let next = messages.shift(); next; next = messages.shift(), invocations++) messages.push(...(await w.runSweep(next, env)));
      return invocations;
    };
    setNoon();
    // Sweeps that never ran are due at once, and the seldom ones take turns within an hour.
    for (let minute = 0; minute < HOUR_MINUTES; minute++) await pass(w.env);
    const hour = await spend(async (spent) => {
      for (let minute = 0; minute < HOUR_MINUTES; minute++) spent.counts.requests += await pass(spent.env);
    });
    measured.idle = times(hour, 1 / HOUR_MINUTES);
  });

  it.each(['sale', 'newSale'] as const)('a sale to a known or a new customer is counted: %s', async (name) => {
    const by = name === 'sale' ? buyer : await w.chain.wallet();
    measured[name] = await spend(async (spent) => {
      spent.counts.requests += 2;
      await sell(spent.env, by);
      await finish(spent);
    });
  });

  it('an abandoned session is counted', async () => {
    measured.unpaid = await spend(async (spent) => {
      spent.counts.requests += 1 + POLLS;
      const { body } = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env: spent.env });
      for (let poll = 0; poll < POLLS; poll++) await w.call('GET', `/v1/payments/${body.payment_id}`, { env: spent.env });
      await w.env.DB.prepare('UPDATE payments SET expires_at = ? WHERE id = ?')
        .bind(Date.now() - 24 * HOUR, body.payment_id)
        .run();
      await w.sweepAlone('expired', spent.env);
    });
  });

  it.each(['x402', 'newX402'] as const)('an x402 payment of a known or a new customer is counted: %s', async (name) => {
    const agent = name === 'x402' ? single.agent : await newAgent(w);
    measured[name] = await spend(async (spent) => {
      spent.counts.requests += 2;
      await settle(spent.env, agent);
      await finish(spent);
    });
  });

  it('a use alone is counted, in a shop with sixty customers a minute', async () => {
    setTime(Date.now() + HOUR);
    const together = await spend(async (spent) => {
      for (const name of LONE) await consume(spent, name, '1');
    });
    measured.alone = withSampledLines(times(together, 1 / LONE.length));
  });

  it.each([
    ['each10', 10],
    ['each20', 20],
  ] as const)('a use %s seconds after the last is counted, in the second ten minutes', async (name, seconds) => {
    const start = Date.now() + 2 * HOUR;
    const play = (from: number) => async (spent: Spent) => {
      for (let at = from; at < from + 600; at++) {
        setTime(start + at * SECOND);
        await spent.drain(0);
        if (at % seconds > 0) continue;
        await spent.evictIdle();
        await consume(spent, name, String(at));
      }
    };
    await spend(play(0));
    measured[name] = withSampledLines(times(await spend(play(600)), seconds / 600));
  });

  it('uses in groups of twelve are counted', async () => {
    const start = Date.now() + 2 * MINUTE;
    const groups = 600;
    const identity = entitlementKeyOf({ merchantId: shop.merchant.userId, livemode: true }, shop.product.product_id, {
      customerRef: 'bill-hot',
    });
    const object = () => testEnv.ENTITLEMENT.getByName(entitlementObjectName(identity, identity.entitlementId));
    const counts = await spend(async (spent) => {
      for (let i = 0; i < groups; i++) {
        setTime(start + i * 100);
        const use = (j: number) => ({ key: `consume:${i}-${j}`, fingerprint: '', now: Date.now(), requestId: UNSAMPLED, units: 1 });
        await object().consumeMany(
          identity,
          Array.from({ length: GROUP }, (_, j) => use(j)),
        );
        await spent.drain(0);
      }
    });
    const each = times(counts, 1 / (groups * GROUP));
    measured.group = withSampledLines(sum(each, { ...zero(), requests: 1, objectRequests: 1 }));
  });

  it('an endpoint adds its deliveries to a sale', async () => {
    // Ends what the endpoint itself causes before the sale, uncounted.
    await spend(() => consumer(w, shop.merchant, 'ok', { event_types: ['payment.confirmed', 'payment.finalized'] }));
    measured.saleDelivered = await spend(async (spent) => {
      spent.counts.requests += 2;
      await sell(spent.env);
      await finish(spent);
    });
  });

  it('the page of costs holds these counts: npm run bench -- --bill', async () => {
    await expect(costPage(measured as Measured)).toMatchFileSnapshot('../../docs/operations/cost.md');
  });
});
