import type { KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { ASSETS, type Asset, DECIMALS, formatAmount } from '#core/money.ts';
import { ANSWER_MS } from '#rules/analytics/answer-times.ts';
import { CHANNEL_KEYS, fundChannels, LiveShop } from '../../support/chain/live-channel.ts';
import { expireNow } from '../../support/faults/expire-now.ts';
import { sweepUntilBelieved } from '../../support/faults/finality.ts';
import { newAgent, sellToAgents, stall } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

interface Done {
  productId: string;
  asset: Asset;
  gross: bigint;
  fee: bigint;
  refunded: bigint;
  isDropped: boolean;
}

const FEE_WALLET = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';

describe('analytics of every kind of payment', () => {
  const w = new World({
    FEE_BPS: '100',
    FEE_WALLET,
    ALLOW_INSECURE_WEBHOOKS: 'true',
    CHANNEL_KEYS,
  });
  let ada: Merchant;
  let club: { slug: string; product_id: string };
  const done: Done[] = [];
  const funnel = { sessions: 0, pending: 0, confirmed: 0, failed: 0, expired: 0 };
  const members = { new: 0, renewed: 0, expired: 0, active: 0 };

  const note = (productId: string, asset: Asset, gross: bigint, fee = 0n): Done => {
    const one = { productId, asset, gross, fee, refunded: 0n, isDropped: false };
    done.push(one);
    return one;
  };
  const paidSession = (): void => {
    funnel.sessions++;
    funnel.confirmed++;
  };
  const priceOf = (payment: Body) => BigInt(payment.price.base_units);
  const send = (transaction: string) => w.chain.call<string>('sendTransaction', transaction, { encoding: 'base64' });
  const get = async (path: string): Promise<Body> => (await w.call('GET', `/v1/account/${path}`, { key: ada.key })).body;

  async function buySplit(buyer: KeyPairSigner): Promise<{ id: string; entry: Done }> {
    const payment = await w.connect(club, { wallet_address: buyer.address });
    const { status } = await w.confirm(payment.payment_id, await send(await w.chain.sign(buyer, payment.transaction)));
    expect(status).toBe(200);
    paidSession();
    return { id: payment.payment_id, entry: note(club.product_id, 'USDC', priceOf(payment), BigInt(payment.fee.base_units)) };
  }

  async function sellByCheckout(buyer: KeyPairSigner): Promise<void> {
    members.new++;
    members.active++;
    await buySplit(buyer);
    members.renewed++;
    await buySplit(buyer);
    // The merchant receives more than the price, so the fee is owed and not collected.
    const over = await w.connect(club);
    await w.confirm(over.payment_id, await w.chain.pay(await w.chain.wallet(), over, { units: priceOf(over) + 1_250_001n }));
    paidSession();
    note(club.product_id, 'USDC', priceOf(over) + 1_250_001n);
    members.new++;
    members.active++;
  }

  async function sellInSol(): Promise<void> {
    const payment = await w.connect(club, { asset: 'SOL' });
    const signature = await w.chain.paySol(await w.chain.wallet(0n), payment, { isSplit: true });
    expect((await w.confirm(payment.payment_id, signature)).body.payment.status).toBe('CONFIRMED');
    paidSession();
    note(club.product_id, 'SOL', priceOf(payment), BigInt(payment.fee.base_units));
    members.new++;
    members.active++;
  }

  /** Creates sessions that expire, are replaced, are underpaid and accepted, or stay open. */
  async function endOtherwise(): Promise<void> {
    await expireNow(w, (await w.connect(club)).payment_id);
    const first = await w.connect(club);
    await w.connect(club, { asset: 'SOL', replaces_payment_id: first.payment_id });
    const short = await w.connect(club);
    const signature = await w.chain.pay(await w.chain.wallet(), short, { units: 3_000_000n });
    await w.confirm(short.payment_id, signature);
    const accept = { key: ada.key, body: { tx_signature: signature } };
    expect((await w.call('POST', `/v1/payments/${short.payment_id}/accept-unmatched`, accept)).status).toBeLessThan(300);
    note(club.product_id, 'USDC', 3_000_000n);
    funnel.sessions += 4;
    funnel.expired++;
    funnel.failed++;
    funnel.pending += 2;
    members.new++;
    members.active++;
  }

  async function sellToMachines(): Promise<void> {
    const product = await sellToAgents(w, ada, { name: 'By the call' });
    const shop = stall(w, ada, product, await newAgent(w));
    expect((await shop.settle(await shop.pay())).status).toBe(200);
    note(product.product_id, 'USDC', BigInt(product.price.base_units));
    const metered = await LiveShop.make(w, { merchant: ada });
    await metered.authorize(await metered.pull());
    await metered.use(70_007n, 70_007n);
    expect((await metered.close()).body.status).toBe('closed');
    note(metered.session.product_id, 'USDC', 70_007n);
  }

  async function refund(): Promise<void> {
    const { id, entry } = await buySplit(await w.chain.wallet());
    members.new++;
    members.active++;
    const body = { amount: { asset: 'USDC', amount: '1.5' } };
    const prepared = await w.call('POST', `/v1/payments/${id}/refund-transaction`, { key: ada.key, body });
    const tx_signature = await send(await w.chain.sign(ada.wallet, prepared.body.transaction));
    expect((await w.call('POST', `/v1/payments/${id}/refund-confirm`, { key: ada.key, body: { tx_signature } })).status).toBe(200);
    entry.refunded = 1_500_000n;
  }

  async function drop(): Promise<void> {
    const payment = await w.connect(club);
    const signature = await w.chain.pay(await w.chain.wallet(), payment);
    await w.confirm(payment.payment_id, signature);
    paidSession();
    const entry = note(club.product_id, 'USDC', priceOf(payment));
    members.new++;
    await w.chain.fault({ kind: 'vanish', signature });
    await sweepUntilBelieved(w);
    expect(await w.eventTypes(payment.payment_id)).toContain('payment.orphaned');
    entry.isDropped = true;
  }

  async function lapse(buyer: KeyPairSigner): Promise<void> {
    for (let step = 0; step < 2; step++) {
      await testEnv.DB.prepare(
        "UPDATE memberships SET paid_through = 1, grace_until = CASE status WHEN 'grace' THEN 1 END WHERE wallet_address = ?",
      )
        .bind(buyer.address)
        .run();
      await w.sweepAlone('memberships');
    }
    members.expired++;
    members.active--;
  }

  const hook = async (habit: string, event_types: string[]) => {
    const url = `${testEnv.TEST_RECEIVER_URL}/${habit}/figures-${crypto.randomUUID()}`;
    expect((await w.call('POST', '/v1/webhooks/endpoints', { key: ada.key, body: { url, event_types } })).status).toBe(201);
  };

  beforeAll(async () => {
    await fundChannels(w);
    await w.chain.call('local_fundSol', FEE_WALLET, '1000000000');
    ada = await w.merchant();
    ada.wallet = await w.chain.wallet(1_000_000_000n);
    club = await w.product(ada, { access_period_days: 30, accepted_assets: ['USDC', 'SOL'], grace_hours: 1 });
    await hook('ok', ['payment.confirmed']);
    await hook('gone', ['payment.refunded']);
    const buyer = await w.chain.wallet();
    await sellByCheckout(buyer);
    await sellInSol();
    await endOtherwise();
    await sellToMachines();
    await refund();
    await drop();
    await lapse(buyer);
    while (w.queue.sent.length + w.attempts.length > 0) {
      await w.deliver();
      await w.attempt();
    }
  }, 60_000);

  /** Reference model: plain sums of the list. */
  const modelSums = (asset: Asset, of: Done[]) => {
    const theirs = of.filter((one) => one.asset === asset);
    const sum = (what: (one: Done) => bigint) => theirs.reduce((all, one) => all + what(one), 0n);
    const sumValid = (what: (one: Done) => bigint) => sum((one) => (one.isDropped ? 0n : what(one)));
    const [gross, fee, refunded] = [sumValid(({ gross: units }) => units), sumValid(({ fee: units }) => units), sum((one) => one.refunded)];
    const decimal = (units: bigint) => formatAmount({ asset, units });
    return { gross: decimal(gross), net: decimal(gross - fee - refunded), fee: decimal(fee), refunded: decimal(refunded) };
  };
  const withoutDropped = (of: Done[]) => of.filter(({ isDropped }) => !isDropped);
  const byAsset = (of: Done[]) => Object.fromEntries(ASSETS.map((asset) => [asset, modelSums(asset, of)]));

  async function expectModel(): Promise<void> {
    expect(await get('summary')).toMatchObject({
      active_templates: new Set(done.map(({ productId }) => productId)).size,
      paying_members: members.active,
      receipts_issued: done.length,
      confirmed_payments: withoutDropped(done).length,
      totals: byAsset(done),
    });
    const shown = await get('analytics?daily_days=30');
    const share = Math.round((funnel.confirmed / funnel.sessions) * 10_000) / 10_000;
    expect(shown.funnel).toEqual({ ...funnel, conversion_rate: share });
    expect(shown.members).toEqual(members);
    for (const asset of ASSETS) {
      const count = withoutDropped(done).filter((one) => one.asset === asset).length;
      expect(shown.totals[asset]).toEqual({ ...modelSums(asset, done), count });
    }
    const products = [...Map.groupBy(done, ({ productId }) => productId)].map(([product_id, of]) => ({
      product_id,
      name: expect.any(String),
      count: withoutDropped(of).length,
      ...byAsset(of),
    }));
    const byId = (list: { product_id: string }[]) => list.toSorted((one, other) => (one.product_id < other.product_id ? -1 : 1));
    expect(byId(shown.top_products)).toEqual(byId(products));
    expect(shown.top_products[0].product_id).toBe(club.product_id);
    expectDays(shown.daily);
    await expectTable(shown.daily);
  }

  function expectDays(daily: Body[]): void {
    const units = (decimal: string, asset: Asset) => {
      const [integerPart, fraction = ''] = decimal.replace('-', '').split('.');
      return BigInt(integerPart + fraction.padEnd(DECIMALS[asset], '0')) * (decimal.startsWith('-') ? -1n : 1n);
    };
    for (const asset of ASSETS)
      for (const name of ['gross', 'net', 'fee', 'refunded'] as const) {
        const sum = daily.reduce((all: bigint, day) => all + units(day[asset][name], asset), 0n);
        expect([asset, name, formatAmount({ asset, units: sum })]).toEqual([asset, name, modelSums(asset, done)[name]]);
      }
    for (const name of ['sessions', 'confirmed', 'failed'] as const)
      expect([name, daily.reduce((all: number, day) => all + day[name], 0)]).toEqual([name, funnel[name]]);
  }

  async function expectTable(daily: Body[]): Promise<void> {
    const lines = String(await get('analytics.csv?daily_days=30'))
      .trimEnd()
      .split('\r\n')
      .slice(1);
    const sums = (day: Body) => ASSETS.flatMap((asset) => ['gross', 'net', 'fee', 'refunded'].map((name) => day[asset][name]));
    expect(lines).toEqual(daily.map((day) => [day.date, day.sessions, day.confirmed, day.failed, ...sums(day)].join()));
  }

  it('all metrics equal a plain sum of the payments, before the fold and after repeated folds', async () => {
    await expectModel();
    for (let round = 0; round < 2; round++) {
      await w.sweepAlone('analytics');
      await expectModel();
    }
  });

  it('webhook metrics count every accepted confirmation and the one failed refund delivery', async () => {
    const { webhooks } = await get('analytics');
    expect(webhooks.success_rate).toBe(Math.round((done.length / (done.length + 1)) * 10_000) / 10_000);
    expect(ANSWER_MS).toContain(webhooks.p95_ms);
  });

  it('metrics rebuilt from the events are the same', async () => {
    const { DB } = testEnv;
    await DB.batch(
      ['analytics_days', 'analytics_quarters', 'analytics_totals', 'analytics_cursors'].map((table) => DB.prepare(`DELETE FROM ${table}`)),
    );
    await w.sweepAlone('analytics');
    await expectModel();
  });
});
