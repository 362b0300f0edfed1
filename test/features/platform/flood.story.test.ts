import { generateKeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { CALLS_MAX } from '#core/isolate/budget.ts';
import { DAY, MINUTE } from '#core/time.ts';
import { findTrouble } from '#features/operator/health-checks.ts';
import { newCtx } from '#platform/context.ts';
import { channelWorld, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { COLLECTING_KEYS, type SubscriptionLife, SubscriptionSeller } from '../../support/models/subscription-life.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { firstRun, type World } from '../../support/world.ts';

const SIGNATURES = 5_000;
const DAILY_CHECKS = 100_000;
const UNOPENED = 10_000;
const signatures = () => Array.from({ length: SIGNATURES }, () => base58.encode(crypto.getRandomValues(new Uint8Array(64))));
/** Twice the backlog that goes to the queue, and the rows of the run itself. */
const ROWS_MAX = 30_000;
const WITHIN_MS = 60_000;

describe(`flood of ${SIGNATURES} named and found signatures, ${UNOPENED} unopened sessions and ${DAILY_CHECKS} daily checks`, () => {
  let w: World;
  let model: SubscriptionLife;
  let shop: LiveShop;
  let flooded: { slug: string };
  let product: { slug: string };
  beforeAll(async () => {
    w = channelWorld({ SUBSCRIPTION_KEYS: COLLECTING_KEYS, SERVICE_REFERENCE: (await generateKeyPairSigner()).address });
    await fundChannels(w);
    const seller = await SubscriptionSeller.open(w);
    model = await seller.subscribe();
    [flooded, product] = [await w.product(seller.merchant), await w.product(await w.merchant())];
    const { periodEndsAt } = await model.read();
    await skipTime(w.chain, Math.ceil((periodEndsAt! - Date.now() + 15 * MINUTE) / 1000));
    const now = Date.now();
    await multiply(w.env.DB, 'subscription_authorizations', 'id', model.id, DAILY_CHECKS, {
      id: "'look-' || i",
      payment_id: "'look-' || i",
      subscription_address: "'look-' || i",
      next_attempt_at: String(now + 10 * DAY),
      collect_at: String(now + 10 * DAY),
      next_check_at: String(now - DAY),
    });
    shop = await LiveShop.make(w, { body: { idle_timeout_seconds: 86_400 } });
    await shop.authorize(await shop.pull());
    await shop.project();
    await shop.use(70n, 70n);
    const unopened = await LiveShop.make(w);
    await multiply(w.env.DB, 'metered_sessions', 'id', unopened.session.session_id, UNOPENED, {
      id: "printf('ms_%026d', i)",
      expires_at: '1',
      next_check_at: '1',
    });
    await w.env.DB.prepare('DELETE FROM payment_candidates').run();
    for (const origin of ['named', 'found'])
      await w.env.DB.prepare(
        `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at, merchant_id)
         SELECT ?4, value, ?1, 9, ?2, ?2, ?3 FROM json_each(?5)`,
      )
        .bind(origin, now - DAY / 2, seller.merchant.userId, (await w.connect(flooded)).payment_id, JSON.stringify(signatures()))
        .run();
    await w.env.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0, lease_until = 0').run();
  }, 120_000);
  afterAll(endSkips);

  const readStatus = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body.status;
  /** Runs a sweep once within the limits of an invocation. Returns its duration and the rounds that it sent. */
  async function runOnce(sweep: string): Promise<{ ms: number; more: number }> {
    const from = performance.now();
    const sent = await w.runSweep(firstRun(sweep), w.env, ROWS_MAX);
    return { ms: performance.now() - from, more: sent.filter((next) => next.sweep === sweep).length };
  }
  const paid = async () => {
    const payment = await w.connect(product);
    return { id: payment.payment_id as string, signature: await w.chain.pay(await w.chain.wallet(), payment) };
  };

  it('the operator is notified of each late class of work, and health is degraded', async () => {
    const trouble = await findTrouble(newCtx(w.env, { requestId: 'req_flood', defer: () => {} }));
    const late = trouble.map(({ name }) => name).filter((name) => name.startsWith('late_'));
    expect(late.sort()).toEqual(expect.arrayContaining(['late_found', 'late_named', 'late_subscription']));
    expect((await w.call('GET', '/health')).body.checks.queue).toBe('failing');
  });

  it('an unreported payment is confirmed by the first two sweep invocations', async () => {
    const { id } = await paid();
    await skipTime(w.chain, 60);
    const found = await runOnce('reference');
    const judged = await runOnce('candidates');
    expect(await readStatus(id)).toBe('CONFIRMED');
    expect(found.ms + judged.ms).toBeLessThan(WITHIN_MS);
  });

  it('a signature named by another merchant’s buyer is checked by the first invocation within the flood', async () => {
    const { id, signature } = await paid();
    await w.env.DB.prepare(
      `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at, merchant_id)
       SELECT id, ?2, 'named', 7, ?3, ?3, merchant_id FROM payments WHERE id = ?1`,
    )
      .bind(id, signature, Date.now() - MINUTE)
      .run();
    const { ms, more } = await runOnce('namedCandidates');
    expect(await readStatus(id)).toBe('CONFIRMED');
    expect([more, ms < WITHIN_MS]).toEqual([1, true]);
  });

  it('a due period is collected by the first invocation and its message', async () => {
    w.queue.sent.length = 0;
    const { ms, more } = await runOnce('collections');
    const jobs = w.queue.sent.splice(0).map(({ job }) => job);
    expect(jobs).toMatchObject([{ kind: 'collectSubscriptions', authorizationIds: [model.id] }]);
    const from = performance.now();
    await w.deliver(jobs);
    expect(ms + performance.now() - from).toBeLessThan(WITHIN_MS);
    expect(more).toBe(0);
    await skipTime(w.chain, 15);
    await w.sweepAlone('settlements');
    expect((await model.payments()).map(({ status }) => status)).toEqual(['CONFIRMED', 'CONFIRMED']);
  });

  it('a channel is sealed by the first check after its payer requested closing', async () => {
    await shop.requestClose();
    await skipTime(w.chain, 60);
    await shop.watch();
    expect(await shop.read()).toMatchObject({ status: 'closed', settled: { base_units: '70' } });
  });

  it('an invocation of daily checks ends with calls to spare and sends the next one', async () => {
    const due = () =>
      w.env.DB.prepare(`SELECT count(*) AS n FROM subscription_authorizations WHERE next_check_at < ${Date.now()}`).first<number>('n');
    const before = (await due())!;
    const { more } = await runOnce('subscriptions');
    const checked = before - (await due())!;
    expect(more).toBe(1);
    expect(checked).toBeGreaterThan(CALLS_MAX / 4);
    expect(checked).toBeLessThan(CALLS_MAX);
  });
});
