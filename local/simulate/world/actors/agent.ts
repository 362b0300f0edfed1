import type { Holding, Product, Shop } from '../../book/history.ts';
import type { Answer } from '../../book/host.ts';
import type { Wallet } from '../outside/wallet.ts';
import { Actor } from './actor.ts';
import { newWallet } from './open-shop.ts';

const DOLLARS = 50n;
const UNITS_MAX = 4;

interface Signed {
  holding: Holding;
  header: string;
  isSettled: boolean;
}

/** Agent that pays by x402, and the merchant's server that asks for its units, returns some, and grants others. */
export class Agent extends Actor {
  #wallet: Wallet | null = null;
  readonly #holdings: Holding[] = [];
  readonly #signed: Signed[] = [];

  readonly verbs = [
    this.consume,
    this.consume,
    this.consume,
    this.pay,
    this.pay,
    this.settleAgain,
    this.settleTogether,
    this.settleElsewhere,
    this.grant,
    this.refund,
  ];

  get #payer(): Wallet {
    this.#wallet ??= newWallet(this, this.world.chain, DOLLARS);
    return this.#wallet;
  }

  async consume(): Promise<void> {
    const holding = this.#anyHolding();
    if (holding === null) return;
    const units = 1 + this.dice.below(UNITS_MAX);
    await this.#consume(holding, units);
  }

  async #consume(holding: Holding, units: number): Promise<Answer | null> {
    const body = { product_id: holding.product.productId, customer: holding.customer, units };
    return this.write('/v1/access/entitlements/consume', { key: holding.shop.liveKey, body }, ({ status, body: used }) => {
      this.note(`consume ${units} of ${holding.product.slug}: ${status} ${used?.code ?? `remaining ${used?.remaining}`}`);
      if (status !== 200) return;
      holding.used += used.units;
      holding.uses.push({ consumptionId: used.consumption_id, units: used.units });
    });
  }

  /** Asks for more than is left, pays the challenge and settles. */
  async pay(): Promise<void> {
    const holding = this.#anyHolding();
    if (holding === null) return;
    const refused = await this.#consume(holding, UNITS_MAX);
    const header = refused?.headers.get('PAYMENT-REQUIRED');
    if (!header) return;
    const signed = { holding, isSettled: false, header: this.world.chain.signRequired(this.#payer, header, this.dice.nonce()) };
    this.#signed.push(signed);
    await this.#settle(signed);
  }

  async settleAgain(): Promise<void> {
    if (this.#signed.length > 0) await this.#settle(this.dice.oneOf(this.#signed));
  }

  async settleTogether(): Promise<void> {
    if (this.#signed.length === 0) return;
    const signed = this.dice.oneOf(this.#signed);
    await Promise.all([this.#settle(signed), this.#settle(signed)]);
  }

  /** Brings a payment that was settled to another product, another customer or another merchant, where it buys nothing. */
  async settleElsewhere(): Promise<void> {
    const settled = this.#signed.filter(({ isSettled }) => isSettled);
    if (settled.length === 0) return;
    const { holding, header } = this.dice.oneOf(settled);
    const [{ shop: other }, product] = [this.anyMerchant(), this.anyProduct(holding.shop, true, 'time')];
    const theirs = this.anyProduct(other, true, 'units');
    if (product === null || theirs === null) return;
    const another = { customer_ref: `not ${this.name}` };
    const [shop, named] = this.dice.oneOf([
      [holding.shop, { product_id: product.productId, customer: holding.customer }],
      [holding.shop, { product_id: holding.product.productId, customer: another }],
      [other, { product_id: theirs.productId, customer: other === holding.shop ? another : holding.customer }],
    ] as const);
    const body = { ...named, payment_signature: header };
    const answer = await this.persist('POST', '/v1/access/x402/settle', { key: shop.liveKey, body });
    this.note(`brought a settled payment elsewhere: ${answer?.status} ${answer?.body?.code}`);
    if (answer?.status === 200) this.history.find(`a settled payment bought something else: ${JSON.stringify(answer.body)}`);
  }

  async #settle(signed: Signed): Promise<void> {
    const { holding, header } = signed;
    const { shop, product, customer } = holding;
    const consume_units = 1 + this.dice.below(product.units ?? 1);
    const body = { product_id: product.productId, payment_signature: header, customer, consume_units };
    await this.write('/v1/access/x402/settle', { key: shop.liveKey, body }, ({ status, body: paid }) => {
      this.note(`settle: ${status} ${paid?.code ?? (paid?.duplicate ? 'duplicate' : paid?.payment_id)}`);
      if (status !== 200) return;
      signed.isSettled = true;
      const { payment_id: paymentId, tx_signature: signature, payer, consumed_units: consumed } = paid;
      if (!paid.duplicate)
        this.history.settled.push({ shop, product, livemode: true, paymentId, signature, payer, consumptionId: paid.consumption_id });
      holding.used += consumed;
      if (paid.consumption_id && consumed > 0) holding.uses.push({ consumptionId: paid.consumption_id, units: consumed });
    });
  }

  async grant(): Promise<void> {
    const holding = this.#anyHolding();
    if (holding === null) return;
    const units = 1 + this.dice.below(UNITS_MAX);
    const body = { product_id: holding.product.productId, customer: holding.customer, units, reason: 'a gift' };
    await this.write('/v1/access/entitlements/grant', { key: holding.shop.liveKey, body }, ({ status }) => {
      this.note(`grant ${units} of ${holding.product.slug}: ${status}`);
      if (status === 200) holding.granted += units;
    });
  }

  async refund(): Promise<void> {
    const holding = this.#anyHolding();
    const use = holding?.uses.splice(this.dice.below(holding.uses.length), 1)[0];
    if (!holding || !use) return;
    const body = { consumption_id: use.consumptionId, reason: 'not served' };
    await this.write('/v1/access/entitlements/refund', { key: holding.shop.liveKey, body }, ({ status, body: returned }) => {
      this.note(`refund of ${use.units} units: ${status}`);
      if (status === 200) {
        holding.returned += use.units;
        this.history.returned.add(use.consumptionId);
      } else this.history.find(`the refund of consumption ${use.consumptionId} was refused: ${status} ${JSON.stringify(returned)}`);
    });
  }

  /** Holding of this agent at a shop, by wallet. Made on first use. */
  #anyHolding(): Holding | null {
    const { shop } = this.anyMerchant();
    const product = this.anyProduct(shop, true, 'units');
    return product === null ? null : this.#holdingOf(shop, product);
  }

  #holdingOf(shop: Shop, product: Product): Holding {
    const known = this.#holdings.find((holding) => holding.product === product);
    if (known) return known;
    const holding = { shop, product, customer: { wallet_address: this.#payer.address }, granted: 0, used: 0, returned: 0, uses: [] };
    this.#holdings.push(holding);
    this.history.holdings.push(holding);
    return holding;
  }
}
