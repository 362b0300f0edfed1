import type { KeyPairSigner } from '@solana/kit';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { type Merchant, World } from '../world.ts';
import { newKey } from './agent.ts';

/** A deployment that collects subscriptions: its key, and whatever the environment changes beside. */
export const SUBSCRIPTION_KEYS = base64url.encode(new Uint8Array(32).fill(88));
export const subscriptionWorld = (config: Record<string, string> = {}): World => new World({ SUBSCRIPTION_KEYS, ...config });

/** The address of the key that collects. */
export const pullerOf = (w: World): string => base58.encode(keyRing(w.env.SUBSCRIPTION_KEYS as string)[0]!.publicKey);

/** What is answered, whose shape `call` has checked against the document. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what they need of it.
type Body = any;

/** A merchant with a product that renews itself, at five USDC every thirty days unless said otherwise. */
export class SubscriptionShop {
  readonly w: World;
  readonly merchant: Merchant;
  readonly product: Body;

  constructor(w: World, merchant: Merchant, product: Body) {
    this.w = w;
    this.merchant = merchant;
    this.product = product;
  }

  /** The plan is not published yet. The wallets that pay fees can, and the one that is paid has an account of USDC. */
  static async open(w: World, terms: Record<string, unknown> = {}, by?: Merchant): Promise<SubscriptionShop> {
    const merchant = by ?? (await w.merchant());
    await w.chain.call('local_fundSol', pullerOf(w), '1000000000');
    await w.chain.call('local_fundSol', merchant.wallet.address, '1000000000');
    await w.chain.call('local_fundUsdc', merchant.wallet.address, '0');
    const product = await w.product(merchant, { renewal_mode: 'AUTOMATIC', live_mode_confirmed: true, ...terms });
    return new SubscriptionShop(w, merchant, product);
  }

  /** Same as `open`, and buyers can subscribe. */
  static async openPublished(w: World, terms: Record<string, unknown> = {}, by?: Merchant): Promise<SubscriptionShop> {
    const shop = await SubscriptionShop.open(w, terms, by);
    await shop.publish();
    return shop;
  }

  get wallet(): KeyPairSigner {
    return this.merchant.wallet;
  }

  get planPath(): string {
    return `/v1/access/products/${this.product.product_id}/subscription-plan`;
  }

  readPlan = (key = this.merchant.key) => this.w.call('GET', this.planPath, { key });
  preparePlan = (idempotencyKey = newKey()) =>
    this.w.call('POST', this.planPath, { key: this.merchant.key, headers: { 'Idempotency-Key': idempotencyKey } });

  confirmPlan = (txSignature: string, idempotencyKey = newKey()) =>
    this.w.call('POST', `${this.planPath}/confirm`, {
      key: this.merchant.key,
      headers: { 'Idempotency-Key': idempotencyKey },
      body: { tx_signature: txSignature },
    });

  /** Signs with the merchant's wallet what the route gives, sends it, and tells of it. The address of the plan. */
  async publish(): Promise<string> {
    const { transaction } = (await this.preparePlan()).body;
    const wire = await this.w.chain.sign(this.wallet, transaction);
    const signature = await this.w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    const { status, body } = await this.confirmPlan(signature);
    if (status !== 200) throw new Error(`not published: ${JSON.stringify(body)}`);
    return body.plan_address;
  }

  change = (terms: Record<string, unknown>, key = this.merchant.key) =>
    this.w.call('PATCH', `/v1/products/${this.product.product_id}`, { key, body: terms });
}
