import type { Shop } from '../../book/history.ts';
import type { Body } from '../../book/host.ts';
import { Actor } from '../actors/actor.ts';
import { newWallet } from '../actors/open-shop.ts';
import type { Wallet } from '../outside/wallet.ts';

const DOLLARS = 20n;
const UNITS_MAX = 50_000;
const SETTLES_MAX = 3;

interface Offer {
  shop: Shop;
  header: string;
  body: { paymentPayload: Body; paymentRequirements: Body };
  units: bigint;
}

/** Merchant's own x402 server, which verifies and settles through the service as its facilitator. */
export class Cashier extends Actor {
  #wallet: Wallet | null = null;
  readonly #offers: Offer[] = [];

  readonly verbs = [this.offer, this.offer, this.settle, this.settle, this.settleTogether, this.verify, this.sellTwice];

  get #payer(): Wallet {
    this.#wallet ??= newWallet(this, this.world.chain, DOLLARS);
    return this.#wallet;
  }

  /** A buyer signs a payment that the merchant's server asked for. Nothing is sent yet. */
  async offer(): Promise<void> {
    const merchant = this.anyMerchant();
    const { shop } = merchant;
    const supported = await this.read('/v1/access/x402/facilitator/supported');
    const [kind] = supported?.body?.kinds ?? [];
    if (!kind) return;
    const units = BigInt(1 + this.dice.below(UNITS_MAX));
    const { feePayer } = kind.extra;
    const asked = {
      ...{ scheme: 'exact', network: kind.network, asset: this.world.chain.usdc, amount: `${units}` },
      ...{ payTo: merchant.wallet.address, maxTimeoutSeconds: 60, extra: { feePayer } },
    };
    const required = { x402Version: 2, resource: { url: 'https://shop.example.com/weather' }, accepts: [asked] };
    const encoded = Buffer.from(JSON.stringify(required)).toString('base64');
    const header = this.world.chain.signRequired(this.#payer, encoded, this.dice.nonce());
    const paymentPayload = JSON.parse(Buffer.from(header, 'base64').toString());
    const body = { x402Version: 2, paymentPayload, paymentRequirements: asked };
    this.#offers.push({ shop, header, body, units });
    if (this.dice.chance(0.7)) await this.settle();
  }

  async verify(): Promise<void> {
    const offer = this.#anyOffer();
    if (offer === null) return;
    const answer = await this.persist('POST', '/v1/access/x402/facilitator/verify', { key: offer.shop.liveKey, body: offer.body });
    this.note(`verified: ${answer?.status} ${answer?.body?.isValid} ${answer?.body?.invalidReason ?? ''}`);
  }

  async settle(): Promise<void> {
    const offer = this.#anyOffer();
    if (offer !== null) await this.#settle(offer, offer.shop);
  }

  async settleTogether(): Promise<void> {
    const offer = this.#anyOffer();
    if (offer === null) return;
    const sides = Array.from({ length: 2 + this.dice.below(SETTLES_MAX - 1) }, () => this.#settle(offer, offer.shop));
    await Promise.all(sides);
  }

  async #settle({ body, units }: Offer, shop: Shop): Promise<void> {
    const answer = await this.persist('POST', '/v1/access/x402/facilitator/settle', { key: shop.liveKey, body });
    const { success, transaction, errorReason } = answer?.body ?? {};
    this.note(`settled as facilitator: ${answer?.status} ${success ? transaction : errorReason}`);
    if (success) this.history.facilitated.push({ shop, signature: transaction, units });
  }

  /** Brings a payment of the merchant's own server to the service's sale, and to another merchant. It buys nothing there. */
  async sellTwice(): Promise<void> {
    const offer = this.#anyOffer();
    if (offer === null) return;
    const product = this.anyProduct(offer.shop, true, 'units');
    if (product === null) return;
    const body = { product_id: product.productId, payment_signature: offer.header };
    const answer = await this.persist('POST', '/v1/access/x402/settle', { key: offer.shop.liveKey, body });
    this.note(`brought a facilitated payment to a sale: ${answer?.status} ${answer?.body?.code}`);
    if (answer?.status === 200) this.history.find(`a facilitated payment bought ${JSON.stringify(answer.body)}`);
    const other = this.anyMerchant().shop;
    if (other !== offer.shop) await this.#refuse(offer, other);
  }

  async #refuse({ body }: Offer, other: Shop): Promise<void> {
    const answer = await this.persist('POST', '/v1/access/x402/facilitator/settle', { key: other.liveKey, body });
    this.note(`brought a facilitated payment to ${other.name}: ${answer?.status} ${answer?.body?.errorReason}`);
    if (answer?.body?.success) this.history.find(`${other.name} settled a payment to another merchant: ${JSON.stringify(answer.body)}`);
  }

  #anyOffer(): Offer | null {
    return this.#offers.length === 0 ? null : this.dice.oneOf(this.#offers.slice(-3));
  }
}
