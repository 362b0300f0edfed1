import { address, addSignersToInstruction, type Instruction } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { getSale } from '#features/products/product.ts';
import { prospectOf } from '#features/products/selling/obstacles.ts';
import { confirmPlan, preparePlan, viewPlan } from '#features/rails/subscription-plan/plan.ts';
import { loadScope } from '#platform/chain/scope.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { SUBSCRIPTION_RAIL } from '#rules/rails.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { createPlanInstruction, updatePlanInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { pullerOf, SUBSCRIPTION_KEYS, SubscriptionShop, subscriptionWorld } from '../../support/people/subscription-shop.ts';
import type { Merchant, World } from '../../support/world.ts';

const w = subscriptionWorld();

class Shop extends SubscriptionShop {
  static override async open(...args: [World, Record<string, unknown>?, Merchant?]): Promise<Shop> {
    const { merchant, product } = await SubscriptionShop.open(...args);
    return new Shop(w, merchant, product);
  }

  async #ask<T>(verb: (ctx: Parameters<typeof viewPlan>[0], sale: Parameters<typeof viewPlan>[1]) => T, env: Env = w.env) {
    const ctx = newCtx(env, { requestId: 'req_plan', origin: 'https://svc.test', defer: () => {} });
    const scope = await loadScope(ctx, { merchantId: this.merchant.userId, livemode: true });
    const sale = await getSale(scope, this.product.product_id, SUBSCRIPTION_RAIL);
    return { scope, answer: await verb(scope, { ...prospectOf(sale), product: sale.product }) };
  }

  view = async (env?: Env) => (await this.#ask(viewPlan, env)).answer;
  draft = async () => (await this.view()).draft;

  async prepare() {
    const { scope, answer } = await this.#ask(preparePlan);
    return commit(scope, answer);
  }

  async confirm() {
    const { scope, answer } = await this.#ask(confirmPlan);
    return commit(scope, answer);
  }

  async land(): Promise<string> {
    const { transaction } = await this.prepare();
    return w.chain.call('sendTransaction', await w.chain.sign(this.wallet, transaction!), { encoding: 'base64' });
  }

  send = (instruction: Instruction) => w.chain.send(this.wallet, [addSignersToInstruction([this.wallet], instruction) as Instruction]);
}

const readRefusal = async (work: Promise<unknown>) => {
  const error = await work.catch((thrown: unknown) => thrown);
  if (!(error instanceof ApiError)) throw error;
  return [error.code, error.options.meta?.reason];
};

describe('subscription plan of a product', () => {
  let shop: Shop;
  beforeAll(async () => {
    shop = await Shop.open(w);
  });

  it('a plan is published once the chain shows it with the expected terms', async () => {
    expect((await shop.view()).status).toBe('unpublished');
    expect(await readRefusal(shop.confirm())).toEqual(['payment_mismatch', 'not_published']);
    await shop.land();
    expect((await shop.confirm()).status).toBe('published');
    const { status, draft, plan } = await shop.view();
    expect(status).toBe('published');
    expect(plan).toMatchObject({ ...draft.plan, owner: shop.wallet.address, amount: 5_000_000n, periodHours: 720n, endTs: 0n });
    expect(plan).toMatchObject({ destinations: [shop.wallet.address], pullers: [pullerOf(w)] });
    expect(plan!.metadataUri).toMatch(/\/p\/[\w-]+$/);
    expect((await shop.prepare()).transaction).toBeNull();
  });

  it('another price or period makes the plan outdated, and the old terms make it current again', async () => {
    const { address: first } = await shop.draft();
    await shop.change({ price: { asset: 'USDC', amount: '6' } });
    const outdated = await shop.view();
    expect([outdated.status, outdated.draft.address === first]).toEqual(['outdated', false]);
    await shop.land();
    expect((await shop.confirm()).status).toBe('published');
    await shop.change({ access_period_days: 31 });
    expect((await shop.view()).status).toBe('outdated');
    await shop.change({ price: { asset: 'USDC', amount: '5' }, access_period_days: 30 });
    expect([(await shop.view()).status, (await shop.view()).draft.address]).toEqual(['published', first]);
  });

  it('an unreported plan on the chain needs no second signature', async () => {
    const other = await Shop.open(w);
    await other.land();
    expect((await other.view()).status).toBe('unpublished');
    expect(await other.prepare()).toMatchObject({ status: 'published', transaction: null });
    expect((await other.view()).status).toBe('published');
  });

  it('a plan stays published after its merchant changes the metadata, and a sunset plan is plan_differs', async () => {
    const { plan } = await shop.draft();
    const change = { status: 'active', endTs: 0n, pullers: plan.pullers, metadataUri: 'https://elsewhere.example' } as const;
    await shop.send(updatePlanInstruction(plan.owner, plan.planId, change));
    expect((await shop.view()).status).toBe('published');
    expect(await readRefusal(shop.confirm())).toEqual(['payment_mismatch', 'metadata']);
    const endTs = BigInt(Math.floor(Date.now() / 1000) + 60 * 86_400);
    await shop.send(updatePlanInstruction(plan.owner, plan.planId, { ...change, status: 'sunset', endTs }));
    const sunset = await shop.view();
    expect(sunset.plan).toMatchObject({ status: 'sunset', endTs });
    expect(await readRefusal(shop.prepare())).toEqual(['state_conflict', 'plan_differs']);
  });

  it.each([
    ['destinations', { destinations: [] }],
    ['amount', { amount: 1n }],
    ['pullers', { pullers: [address(pullerOf(w)), address('CktRuQ2mttgRGkXJtyksdKHjUdc2C4TgDzyB98oEzy8')] }],
    ['end', { endTs: 4_000_000_000n }],
  ])('a plan created with other %s is refused with that field and sells nothing', async (field, change) => {
    const other = await Shop.open(w);
    const { plan } = await other.draft();
    await other.send(createPlanInstruction({ ...plan, ...change }, address(TOKEN_PROGRAM)));
    expect(await readRefusal(other.confirm())).toEqual(['payment_mismatch', field]);
    expect(await readRefusal(other.prepare())).toEqual(['state_conflict', 'plan_differs']);
    expect((await other.view()).status).toBe('unpublished');
  });

  it('a plan needs automatic renewal and a payout wallet', async () => {
    const byHand = await w.product(shop.merchant, { product_type: 'link' });
    const at = (id: string) => w.call('GET', `/v1/access/products/${id}/subscription-plan`, { key: shop.merchant.key });
    const refused = await at(byHand.product_id);
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([409, 'setup_not_ready', 'rail_enabled']);
    expect(refused.body.meta.fix.body).toEqual({ renewal_mode: 'AUTOMATIC', billing_model: 'recurring' });
    const unpaid = await Shop.open(w, { payout_wallet: undefined });
    expect(await readRefusal(unpaid.view())).toEqual(['setup_not_ready', 'payout_wallet_set']);
  });

  it('a plan stays current while its key is in the ring and is outdated once the key is removed', async () => {
    const other = await Shop.open(w);
    await other.land();
    await other.confirm();
    const newer = base64url.encode(new Uint8Array(32).fill(89));
    const turned = { ...w.env, SUBSCRIPTION_KEYS: `${newer},${SUBSCRIPTION_KEYS}` } as Env;
    expect(await other.view(turned)).toMatchObject({ status: 'published', draft: { plan: { pullers: [pullerOf(w)] } } });
    expect((await other.view({ ...w.env, SUBSCRIPTION_KEYS: newer } as Env)).status).toBe('outdated');
  });

  it('the plan state is rpc_unavailable without a node', async () => {
    const silent = { ...w.env, RPC_URL: 'http://127.0.0.1:1/' } as Env;
    expect(await readRefusal(shop.view(silent))).toEqual(['rpc_unavailable', undefined]);
  });
});
