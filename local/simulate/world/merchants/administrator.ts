import type { Closed, Shop } from '../../book/history.ts';
import { Actor } from '../actors/actor.ts';
import { newWallet, openShop } from '../actors/open-shop.ts';

const DOLLARS = 50n;

interface SpareKey {
  shop: Shop;
  id: string;
  raw: string;
  isRevoked: boolean;
}

/** Person who makes and revokes keys, and who closes an account while a buyer is about to pay. */
export class Administrator extends Actor {
  readonly #keys: SpareKey[] = [];
  #closed: Closed | null = null;

  readonly verbs = [this.makeKey, this.useKey, this.useKey, this.useKey, this.revokeKey, this.closeAccount, this.useClosed];

  async makeKey(): Promise<void> {
    const { shop } = this.anyMerchant();
    const body = { name: 'spare', sandbox_mode: this.dice.chance(0.3), permissions: ['read'] };
    const answer = await this.persist('POST', '/v1/keys', { key: shop.token, body });
    this.note(`made a key: ${answer?.status} ${answer?.body?.code ?? ''}`);
    if (answer?.status === 201) this.#keys.push({ shop, id: answer.body.key.id, raw: answer.body.raw_key, isRevoked: false });
  }

  /** A revoked key is refused from the next request on, whichever isolate answers. */
  async useKey(): Promise<void> {
    if (this.#keys.length === 0) return;
    const { raw, isRevoked } = this.dice.oneOf(this.#keys);
    const answer = await this.read(this.dice.oneOf(['/v1/products', '/v1/payments', '/v1/webhooks/endpoints']), raw);
    this.note(`used a ${isRevoked ? 'revoked' : 'spare'} key: ${answer?.status}`);
    if (answer === null) return;
    const expected = isRevoked ? 401 : 200;
    if (answer.status !== expected) this.history.find(`a ${isRevoked ? 'revoked' : 'valid'} key was answered ${answer.status}`);
  }

  async revokeKey(): Promise<void> {
    const spare = this.#keys.find(({ isRevoked }) => !isRevoked);
    if (spare === undefined) return;
    const answer = await this.persist('DELETE', `/v1/keys/${spare.id}`, { key: spare.shop.token });
    this.note(`revoked a key: ${answer?.status}`);
    // Without an answer the key may be in either state.
    if (answer?.status === 204 || answer?.status === 404) spare.isRevoked = true;
    else this.#keys.splice(this.#keys.indexOf(spare), 1);
  }

  /** Deletes an account after a buyer has connected. The buyer pays, and still gets a confirmation and a receipt. */
  async closeAccount(): Promise<void> {
    if (this.#closed !== null || this.dice.chance(0.5)) return;
    const opened = await openShop(this, this.world);
    if (opened === null) return;
    const { shop } = opened;
    // The judge reads the books of open shops with their keys.
    this.history.shops.splice(this.history.shops.indexOf(shop), 1);
    const product = this.anyProduct(shop, true, 'time');
    const connected = product && (await this.persist('POST', `/v1/products/p/${product.slug}/connect`, { body: {} }));
    if (connected?.status !== 200) return;
    const bill = connected.body;
    const deleted = await this.persist('DELETE', '/v1/account/account', { key: shop.token });
    this.note(`closed the account of ${shop.name}: ${deleted?.status} ${deleted?.body?.code ?? ''}`);
    if (deleted?.status !== 200) return;
    this.#closed = { shop, slug: product!.slug, paymentId: bill.payment_id, signature: null, at: this.host.now() };
    this.history.closed.push(this.#closed);
    const buyer = newWallet(this, this.world.chain, DOLLARS);
    const transfer = { recipient: bill.recipient, units: BigInt(bill.price.base_units), memo: bill.memo, references: bill.references };
    const signature = this.world.chain.pay(buyer, transfer);
    this.#closed.signature = signature;
    if (signature === null || this.dice.chance(0.5)) return;
    const answer = await this.persist('POST', '/v1/pay/confirm', { body: { payment_id: bill.payment_id, tx_signature: signature } });
    this.note(`confirmed a payment to a closed account: ${answer?.status} ${answer?.body?.payment?.status ?? answer?.body?.code}`);
  }

  async useClosed(): Promise<void> {
    if (this.#closed === null) return;
    const { liveKey, token } = this.#closed.shop;
    const [key, expected] = this.dice.oneOf([
      [liveKey, 401],
      [token, 403],
    ] as const);
    const answer = await this.read('/v1/products', key);
    this.note(`used a closed account: ${answer?.status}`);
    if (answer !== null && answer.status !== expected) this.history.find(`a closed account was answered ${answer.status}`);
  }
}
