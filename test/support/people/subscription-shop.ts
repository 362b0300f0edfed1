import type { KeyPairSigner } from '@solana/kit';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { type Merchant, World } from '../world.ts';
import { newKey } from './agent.ts';

/** Key of a deployment that collects subscriptions. */
export const SUBSCRIPTION_KEYS = base64url.encode(new Uint8Array(32).fill(88));
export const subscriptionWorld = (config: Record<string, string> = {}): World => new World({ SUBSCRIPTION_KEYS, ...config });

export const pullerOf = (w: World): string => base58.encode(keyRing(w.env.SUBSCRIPTION_KEYS as string)[0]!.publicKey);

/** Answer body, already checked by `call` against the document. */
// biome-ignore lint/suspicious/noExplicitAny: tests read what they need of it.
type Body = any;

/** Merchant with a subscription product, five USDC every thirty days by default. */
export class SubscriptionShop {
  readonly w: World;
  readonly merchant: Merchant;
  readonly product: Body;

  constructor(w: World, merchant: Merchant, product: Body) {
    this.w = w;
    this.merchant = merchant;
    this.product = product;
  }

  /** Opens a shop with an unpublished plan. The puller and the payout wallet hold SOL, and the payout wallet has a USDC account. */
  static async open(w: World, terms: Record<string, unknown> = {}, by?: Merchant): Promise<SubscriptionShop> {
    const merchant = by ?? (await w.merchant());
    await w.chain.call('local_fundSol', pullerOf(w), '1000000000');
    await w.chain.call('local_fundSol', merchant.wallet.address, '1000000000');
    await w.chain.call('local_fundUsdc', merchant.wallet.address, '0');
    const product = await w.product(merchant, { renewal_mode: 'AUTOMATIC', live_mode_confirmed: true, ...terms });
    return new SubscriptionShop(w, merchant, product);
  }

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

  /** Signs, sends and reports the plan with the merchant's wallet. Returns the plan's address. */
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
