import type { KeyPairSigner } from '@solana/kit';
import { base58 } from '#core/encoding.ts';
import type { DraftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { USDC } from '../chain/chain.ts';
import { skipTime } from '../runner/clock.ts';
import { PAYMENT_SWEEPS, SUBSCRIPTION_SWEEPS } from '../runner/sweeps.ts';
import type { World } from '../world.ts';
import { Subscriber } from './subscriber.ts';
import type { SubscriptionShop } from './subscription-shop.ts';

/** A signature of nothing: what counts is the account. */
const NOTHING = base58.encode(new Uint8Array(64).fill(9));

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

interface BuyerTerms {
  /** Base units that the wallet holds. */
  usdc?: bigint;
  [field: string]: unknown;
}

export const connectTo = ({ w, product }: SubscriptionShop, body: object) =>
  w.call('POST', `/v1/products/p/${product.slug}/connect`, { body });

/** A buyer at the checkout of what renews itself, who signs what is given and nothing else. */
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

  /** Signs step after step, as the status of the payment shows them. */
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

  /** What stands on the chain of it, and the wallet that may do more there than this service gave it to sign. */
  async onChain(): Promise<Subscriber> {
    return new Subscriber(this.w.chain, this.wallet, await draftOf(this.shop));
  }

  /** What the row says of the authorization. */
  authorization = (): Promise<Body> =>
    this.w.env.DB.prepare('SELECT status, paid_through, membership_id FROM subscription_authorizations WHERE id = ?')
      .bind(this.bill.subscription.authorization_id)
      .first<Body>();
}

/** As often as a page asks: the collection is sent by one call, and may be seen by a later one. */
export async function confirmSubscription(w: World, payment_id: string) {
  const ask = () => w.call('POST', '/v1/pay/confirm', { body: { payment_id, tx_signature: NOTHING } });
  const told = await ask();
  return told.body.payment?.status === 'PENDING_CONFIRMATION' ? ask() : told;
}

async function draftOf(shop: SubscriptionShop): Promise<DraftPlan> {
  const { plan_address: address, terms } = (await shop.readPlan()).body;
  return { address, plan: { destinations: [terms.destination], pullers: [terms.puller], mint: USDC } } as unknown as DraftPlan;
}

/** With a public library, as far as this service can tell. */
export const subscribeElsewhere = async (shop: SubscriptionShop, wallet: KeyPairSigner): Promise<void> =>
  new Subscriber(shop.w.chain, wallet, await draftOf(shop)).sign();

/** The sweeps find what is there, send what is due, and find what they sent. */
export async function sweepThrough(w: World): Promise<void> {
  for (let round = 0; round < 3; round++) {
    await skipTime(w.chain, 35);
    await w.sweepEach([...SUBSCRIPTION_SWEEPS, ...PAYMENT_SWEEPS, 'settlements']);
  }
}
