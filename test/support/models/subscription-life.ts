import { type Address, address, addSignersToInstruction, type Instruction, type KeyPairSigner } from '@solana/kit';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { type AccountId, type AuthorizationId, newAuthorizationId, newId, type PaymentId, type ProductId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { planAuthorization, routeOf } from '#features/authorizations/authorization.ts';
import { findAuthorization } from '#features/authorizations/store.ts';
import { newPayment, planCreate } from '#features/payments/payment.ts';
import { getPayment } from '#features/payments/store.ts';
import { collectFirst, type FirstCollection } from '#features/subscriptions/collect-first.ts';
import type { Env } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import { collectInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { type DraftPlan, draftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { findSubscriptionAddress } from '#solana/programs/subscriptions/subscription.ts';
import { memoInstruction, USDC } from '../chain/chain.ts';
import { prepareOnEvents } from '../fixtures/acts.ts';
import { newKey } from '../people/agent.ts';
import { publishPlan, Subscriber } from '../people/subscriber.ts';
import { skipTime } from '../runner/clock.ts';
import { shardOf } from '../runner/shards.ts';
import { type Merchant, World } from '../world.ts';

export const COLLECTING_KEYS = base64url.encode(new Uint8Array(32).fill(96));
export const collectingWorld = (config: Record<string, string> = {}): World => new World({ SUBSCRIPTION_KEYS: COLLECTING_KEYS, ...config });

export const collectorOf = (w: World): Address => address(base58.encode(keyRing(w.env.SUBSCRIPTION_KEYS as string)[0]!.publicKey));

export const PRICE = 5_000_000n;
const DAY_SECONDS = 86_400;

export class SubscriptionSeller {
  readonly w: World;
  readonly merchant: Merchant;
  readonly productId: ProductId;
  readonly slug: string;
  readonly draft: DraftPlan;
  readonly periodDays: number;

  constructor(w: World, merchant: Merchant, product: { product_id: string; slug: string }, draft: DraftPlan, periodDays: number) {
    this.w = w;
    this.merchant = merchant;
    this.productId = product.product_id as ProductId;
    this.slug = product.slug;
    this.draft = draft;
    this.periodDays = periodDays;
  }

  static async open(
    w: World,
    { periodDays = 30, terms = {}, by }: { periodDays?: number; terms?: Record<string, unknown>; by?: Merchant } = {},
  ) {
    const merchant = by ?? (await w.merchant());
    await w.chain.call('local_fundSol', merchant.wallet.address, '1000000000');
    await w.chain.call('local_fundSol', collectorOf(w), '1000000000');
    const product = await w.product(merchant, { billing_model: 'recurring', usage_units: null, access_period_days: periodDays, ...terms });
    const parties = { merchant: merchant.wallet.address, puller: collectorOf(w) };
    const draft = draftPlan({ productId: product.product_id, mint: address(USDC), amount: PRICE, periodDays, page: '', ...parties });
    await publishPlan(w.chain, merchant.wallet, draft);
    return new SubscriptionSeller(w, merchant, product, draft, periodDays);
  }

  /** Opens a checkout for a wallet with `usdc` base units. Nothing is signed yet. */
  async checkout({
    usdc = 1_000n * PRICE,
    customerRef = null,
    email = null,
  }: {
    usdc?: bigint;
    customerRef?: string | null;
    email?: string | null;
  } = {}) {
    const wallet = await this.w.chain.wallet(usdc);
    return SubscriptionLife.begin(this, wallet, { customerRef, email });
  }

  async subscribe(options: { usdc?: bigint; customerRef?: string | null; email?: string | null } = {}): Promise<SubscriptionLife> {
    const life = await this.checkout(options);
    await life.sign();
    await life.collectFirst();
    await life.settle();
    return life;
  }

  /** Collects as the plan's owner, without the service. */
  pull({ subscriber }: SubscriptionLife, { amount = PRICE, memos = [] }: { amount?: bigint; memos?: string[] } = {}): Promise<string> {
    const { wallet } = this.merchant;
    const by = { puller: wallet.address, receiver: wallet.address, amount, mint: address(USDC), tokenProgram: address(TOKEN_PROGRAM) };
    const collected = addSignersToInstruction([wallet], collectInstruction(subscriber.route, by)) as Instruction;
    return this.w.chain.send(wallet, [...memos.map(memoInstruction), collected]);
  }
}

export class SubscriptionLife {
  readonly seller: SubscriptionSeller;
  readonly subscriber: Subscriber;
  readonly paymentId: PaymentId;
  readonly id: AuthorizationId;

  constructor(seller: SubscriptionSeller, subscriber: Subscriber, paymentId: PaymentId, id: AuthorizationId) {
    this.seller = seller;
    this.subscriber = subscriber;
    this.paymentId = paymentId;
    this.id = id;
  }

  static async begin(
    seller: SubscriptionSeller,
    wallet: KeyPairSigner,
    { customerRef, email }: { customerRef: string | null; email: string | null },
  ): Promise<SubscriptionLife> {
    const { w, merchant, draft, periodDays } = seller;
    const ctx = shardOf(w.env, merchant.userId);
    const id = newAuthorizationId(ctx.now, merchant.userId);
    const payment = newPayment(ctx.now, {
      id: newId<PaymentId>(ctx.now, merchant.userId),
      merchantId: merchant.userId as AccountId,
      livemode: true,
      productId: seller.productId,
      slug: seller.slug,
      status: 'PENDING_SIGNATURE',
      nonce: base58.encode(crypto.getRandomValues(new Uint8Array(16))),
      reference: base58.encode(crypto.getRandomValues(new Uint8Array(32))),
      asset: 'USDC',
      mint: USDC,
      priceAmount: PRICE,
      recipientWallet: merchant.wallet.address,
      recipientAta: await associatedTokenAccount(merchant.wallet.address, USDC),
      terms: { productName: 'Weather API', accessPeriodDays: periodDays, usageUnits: null, successUrl: null, authorizationId: id },
      expectedWallet: wallet.address,
      customerRef,
      email,
      expiresAt: ctx.now + 30 * MINUTE,
      lateGraceSeconds: 120,
    });
    const subscriptionAddress = findSubscriptionAddress(draft.address, wallet.address).address;
    const agreed = { planAddress: draft.address, subscriptionAddress, puller: draft.plan.pullers[0]!, periodHours: 24 * periodDays };
    const created = planCreate(ctx, payment);
    const authorized = planAuthorization(ctx, { ...payment, expectedWallet: wallet.address }, agreed);
    await commit(ctx, { ...created, writes: [...created.writes, ...authorized.writes] });
    return new SubscriptionLife(seller, new Subscriber(w.chain, wallet, draft), payment.id, id);
  }

  get w(): World {
    return this.seller.w;
  }

  sign = (): Promise<void> => this.subscriber.sign();

  read = async (): Promise<AuthorizationRow> => (await findAuthorization(shardOf(this.w.env, this.id).db, this.id))!;

  payment = (): Promise<Payment> => getPayment(shardOf(this.w.env, this.paymentId), this.paymentId);

  collectFirst = async (env: Env = this.w.env, payment?: Payment): Promise<FirstCollection> =>
    collectFirst(shardOf(env, this.paymentId), payment ?? (await this.payment()), await this.read(), { patienceMs: 0 });

  /** Finishes all work: queue messages, sweeps and the messages they send. */
  async settle(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await skipTime(this.w.chain, 35);
      await run(this.w);
    }
  }

  get path(): string {
    return `/v1/access/native-subscriptions/${this.id}`;
  }

  show = (key: string = this.seller.merchant.key) => this.w.call('GET', this.path, { key });

  cancelIntent = (wallet: string = this.subscriber.wallet.address) =>
    this.w.call('POST', `${this.path}/cancel-intent`, { body: { wallet_address: wallet } });

  cancelConfirm = (body: Record<string, unknown>, idempotencyKey = newKey()) =>
    this.w.call('POST', `${this.path}/cancel-confirm`, { body, headers: { 'Idempotency-Key': idempotencyKey } });

  payments = async () =>
    (
      await this.w.env.DB.prepare(
        `SELECT id, status, terms ->> '$.periodEndsAt' AS periodEndsAt, receipt_id AS receiptId, tx_signature AS txSignature FROM payments
          WHERE terms ->> '$.authorizationId' = ? ORDER BY confirmed_at, rowid`,
      )
        .bind(this.id)
        .all<{ id: string; status: string; periodEndsAt: number; receiptId: string; txSignature: string }>()
    ).results;

  eventTypes = async (): Promise<string[]> =>
    (
      await prepareOnEvents(this.w.env.DB, 'SELECT type FROM events WHERE subject_id = ? ORDER BY subject_version')
        .bind(this.id)
        .all<{ type: string }>()
    ).results.map(({ type }) => type);

  membership = async () =>
    (await this.w.call('GET', `/v1/memberships/lookup?payment_id=${this.paymentId}`, { key: this.seller.merchant.key })).body;

  route = async () => routeOf(await this.read());
}

export const SUBSCRIPTION_SWEEPS = ['collections', 'subscriptionCheckouts', 'subscriptions'];

export async function run(w: World, env: Env = w.env): Promise<void> {
  for (const sweep of SUBSCRIPTION_SWEEPS) await w.sweepAlone(sweep, env);
  await w.deliver(undefined, env);
  await w.sweepAlone('settlements', env);
  await w.deliver(undefined, env);
}

export const passDays = (w: World, days: number): Promise<void> => skipTime(w.chain, days * DAY_SECONDS);
