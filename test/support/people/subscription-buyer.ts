import type { KeyPairSigner } from '@solana/kit';
import { base58 } from '#core/encoding.ts';
import type { DraftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { USDC } from '../chain/chain.ts';
import { skipTime } from '../runner/clock.ts';
import { PAYMENT_SWEEPS, SUBSCRIPTION_SWEEPS } from '../runner/sweeps.ts';
import type { World } from '../world.ts';
import { Subscriber } from './subscriber.ts';
import type { SubscriptionShop } from './subscription-shop.ts';

/** Placeholder signature. The service reads the account instead. */
const NOTHING = base58.encode(new Uint8Array(64).fill(9));

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

interface BuyerTerms {
  /** Balance of the wallet in base units. */
  usdc?: bigint;
  [field: string]: unknown;
}

export const connectTo = ({ w, product }: SubscriptionShop, body: object) =>
  w.call('POST', `/v1/products/p/${product.slug}/connect`, { body });

export class SubscriptionBuyer {
  readonly shop: SubscriptionShop;
  readonly wallet: KeyPairSigner;
  readonly bill: Body;

  constructor(shop: SubscriptionShop, wallet: KeyPairSigner, bill: Body) {
    this.shop = shop;
    this.wallet = wallet;
    this.bill = bill;
  }

  static async connect(shop: SubscriptionShop, { usdc = 100_000_000n, ...body }: BuyerTerms = {}): Promise<SubscriptionBuyer> {
    const wallet = await shop.w.chain.wallet(usdc);
    const { status, body: bill } = await connectTo(shop, { wallet_address: wallet.address, ...body });
    if (status !== 200) throw new Error(`not connected: ${JSON.stringify(bill)}`);
    return new SubscriptionBuyer(shop, wallet, bill);
  }

  get w(): World {
    return this.shop.w;
  }

  get id(): string {
    return this.bill.payment_id;
  }

  read = async (): Promise<Body> => (await this.w.call('GET', `/v1/payments/${this.id}`)).body;

  send = async (transaction: string, by = this.wallet) =>
    this.w.call('POST', `/v1/payments/${this.id}/transaction`, { body: { transaction: await this.w.chain.sign(by, transaction) } });

  confirm = () => confirmSubscription(this.w, this.id);

  async signAll(): Promise<string[]> {
    const kinds: string[] = [];
    for (;;) {
      const [step] = (await this.read()).subscription.steps;
      if (!step) return kinds;
      kinds.push(step.kind);
      const sent = await this.send(step.transaction);
      if (sent.status !== 200) throw new Error(JSON.stringify(sent.body));
    }
  }

  async onChain(): Promise<Subscriber> {
    return new Subscriber(this.w.chain, this.wallet, await readDraft(this.shop));
  }

  authorization = (): Promise<Body> =>
    this.w.env.DB.prepare('SELECT status, paid_through, membership_id FROM subscription_authorizations WHERE id = ?')
      .bind(this.bill.subscription.authorization_id)
      .first<Body>();
}

/** Confirms twice if needed, as a page polls: one call sends the collection and a later one sees the result. */
export async function confirmSubscription(w: World, payment_id: string) {
  const ask = () => w.call('POST', '/v1/pay/confirm', { body: { payment_id, tx_signature: NOTHING } });
  const first = await ask();
  return first.body.payment?.status === 'PENDING_CONFIRMATION' ? ask() : first;
}

async function readDraft(shop: SubscriptionShop): Promise<DraftPlan> {
  const { plan_address: address, terms } = (await shop.readPlan()).body;
  return { address, plan: { destinations: [terms.destination], pullers: [terms.puller], mint: USDC } } as unknown as DraftPlan;
}

/** Subscribes with a public library, without the service. */
export const subscribeElsewhere = async (shop: SubscriptionShop, wallet: KeyPairSigner): Promise<void> =>
  new Subscriber(shop.w.chain, wallet, await readDraft(shop)).sign();

export async function sweepThrough(w: World): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await skipTime(w.chain, 35);
    await w.sweepEach([...SUBSCRIPTION_SWEEPS, ...PAYMENT_SWEEPS, 'settlements']);
  }
}
