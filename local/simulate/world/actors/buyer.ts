import type { Sale } from '../../book/history.ts';
import type { Answer, Body } from '../../book/host.ts';
import type { Wallet } from '../outside/wallet.ts';
import { Actor } from './actor.ts';
import { newWallet } from './open-shop.ts';

interface Begun extends Sale {
  bill: Body;
  signatures: string[];
}

const DOLLARS = 500n;
const SIDES_MAX = 4;
/** A payment shows its ten newest unmatched transactions. */
const TRANSFERS_MAX = 9;

/** Buyer in the hosted checkout: pays right, short, over, twice, late or astray, and confirms from several sides. */
export class Buyer extends Actor {
  #wallet: Wallet | null = null;
  readonly #begun: Begun[] = [];
  readonly #vanished: string[] = [];

  readonly verbs = [
    this.connect,
    this.connect,
    this.pay,
    this.pay,
    this.pay,
    this.payOver,
    this.payShort,
    this.payTwice,
    this.payAstray,
    this.sendPrepared,
    this.confirm,
    this.confirm,
    this.confirmTogether,
    this.confirmAnothers,
    this.fork,
    this.forkConfirmed,
    this.landAgain,
    this.readPayment,
    this.dally,
  ];

  get #payer(): Wallet {
    this.#wallet ??= newWallet(this, this.world.chain, DOLLARS);
    return this.#wallet;
  }

  async connect(): Promise<void> {
    const { shop } = this.anyMerchant();
    const product = this.anyProduct(shop, true);
    if (product === null) return;
    const body = this.dice.chance(0.5) ? { wallet_address: this.#payer.address } : {};
    await this.write(`/v1/products/p/${product.slug}/connect`, { body }, ({ status, body: bill }) => {
      if (status !== 200) return this.note(`connect to ${product.slug} was refused: ${status} ${bill?.code}`);
      const sale: Begun = {
        paymentId: bill.payment_id,
        shop,
        product,
        livemode: true,
        recipient: bill.recipient,
        memo: bill.memo,
        priceUnits: BigInt(bill.price.base_units),
        expiresAt: Date.parse(bill.expires_at),
        tests: [],
        bill,
        signatures: [],
      };
      this.#begun.push(sale);
      this.history.sales.push(sale);
      this.note(`connected, payment ${sale.paymentId} of ${sale.priceUnits}`);
    });
  }

  async pay(): Promise<void> {
    this.#transfer('paid', ({ priceUnits }) => priceUnits);
  }

  async payOver(): Promise<void> {
    const more = BigInt(1 + this.dice.below(1000));
    this.#transfer('overpaid', ({ priceUnits }) => priceUnits + more);
  }

  async payShort(): Promise<void> {
    // The boundary is one unit, which few draws would meet.
    const less = BigInt(this.dice.oneOf([1, 1, 9]));
    this.#transfer('underpaid', ({ priceUnits }) => priceUnits - less);
  }

  async payTwice(): Promise<void> {
    const sale = this.#anySale();
    // Equal transactions of one slot are one, so the second brings a unit more.
    for (const more of [0n, 1n]) this.#transfer('paid twice', ({ priceUnits }) => priceUnits + more, sale);
    if (sale === null || sale.signatures.length < 2 || this.dice.chance(0.5)) return;
    await Promise.all(sale.signatures.slice(-2).map((signature) => this.#confirm(sale, signature)));
  }

  async payAstray(): Promise<void> {
    const { shop } = this.anyMerchant();
    this.#transfer(`paid to ${shop.name}`, ({ priceUnits }) => priceUnits, this.#anySale(), shop.wallets[0]);
  }

  #transfer(words: string, amountOf: (sale: Sale) => bigint, sale: Begun | null = this.#anySale(), recipient?: string): void {
    if (sale === null || sale.signatures.length >= TRANSFERS_MAX) return;
    const { memo, bill } = sale;
    const transfer = { recipient: recipient ?? bill.recipient, units: amountOf(sale), memo, references: bill.references };
    const signature = this.world.chain.pay(this.#payer, transfer);
    if (signature === null) return;
    sale.signatures.push(signature);
    this.note(`${words}, payment ${sale.paymentId}, transaction ${signature}`);
  }

  /** Signs the prepared transaction, and lets the service send it. */
  async sendPrepared(): Promise<void> {
    const sale = this.#anySale();
    if (!sale?.bill.transaction) return;
    const transaction = this.#payer.signWire(sale.bill.transaction);
    const answer = await this.persist('POST', `/v1/payments/${sale.paymentId}/transaction`, { body: { transaction } });
    const signature = answer?.body?.payment?.tx_signature;
    if (answer?.status === 200 && signature) sale.signatures.push(signature);
    this.note(`sent the prepared transaction of payment ${sale.paymentId}: ${answer?.status}`);
  }

  async confirm(): Promise<void> {
    const sale = this.#paidSale();
    if (sale !== null) await this.#confirm(sale, this.dice.oneOf(sale.signatures));
  }

  /** Confirms from several sides at once: the buyer's page, the merchant's server, and the same again. */
  async confirmTogether(): Promise<void> {
    const sale = this.#paidSale();
    if (sale === null) return;
    const sides = Array.from({ length: 2 + this.dice.below(SIDES_MAX - 1) }, () => this.dice.oneOf([null, sale.shop.liveKey]));
    const signatures = sides.map(() => this.dice.oneOf(sale.signatures));
    await Promise.all(sides.map((key, side) => this.#confirm(sale, signatures[side]!, key)));
  }

  /** Names the transaction of another sale. */
  async confirmAnothers(): Promise<void> {
    const [sale, other] = [this.#anySale(), this.#paidSale()];
    if (sale === null || other === null || sale === other) return;
    const signature = this.dice.oneOf(other.signatures);
    const answer = await this.#confirm(sale, signature);
    if (answer?.body?.payment?.tx_signature === signature)
      this.history.find(`payment ${sale.paymentId} took transaction ${signature}, which paid ${other.paymentId}`);
  }

  async #confirm(sale: Begun, tx_signature: string, key: string | null = null): Promise<Answer | null> {
    const answer = await this.persist('POST', '/v1/pay/confirm', { key, body: { payment_id: sale.paymentId, tx_signature } });
    this.note(`confirmed ${sale.paymentId}: ${answer?.status} ${answer?.body?.payment?.status ?? answer?.body?.code}`);
    return answer;
  }

  /** Lets a fork take the last transaction of a sale. Uses of units bought with it would have to be written off, so it sold time. */
  async fork(): Promise<void> {
    const sale = this.#paidSale();
    const signature = sale?.signatures.at(-1);
    if (!sale || signature === undefined || sale.product.units !== null) return;
    this.#take(sale, signature);
  }

  /** Pays, confirms, and lets a fork take the transaction at once: later it would be final. */
  async forkConfirmed(): Promise<void> {
    const sale = this.#anySale();
    if (sale === null || sale.product.units !== null) return;
    this.#transfer('paid before a fork', ({ priceUnits }) => priceUnits, sale);
    const signature = sale.signatures.at(-1);
    if (signature === undefined) return;
    await this.#confirm(sale, signature);
    this.#take(sale, signature);
  }

  #take({ paymentId, recipient }: Begun, signature: string): void {
    const landed = this.history.landed(recipient).find((one) => one.signature === signature);
    if (!this.world.chain.vanish(signature)) return;
    if (landed && !this.history.taken.has(signature)) this.history.taken.set(signature, landed.blockTimeMs);
    this.#vanished.push(signature);
    this.note(`a fork takes transaction ${signature} of payment ${paymentId}`);
  }

  async landAgain(): Promise<void> {
    const signature = this.#vanished.shift();
    if (signature !== undefined && this.world.chain.landAgain(signature)) this.note(`transaction ${signature} lands again`);
  }

  async readPayment(): Promise<void> {
    const sale = this.#anySale();
    if (sale === null) return;
    const answer = await this.read(`/v1/payments/${sale.paymentId}`);
    if (answer !== null && answer.status !== 200) this.history.find(`payment ${sale.paymentId} reads ${answer.status}`);
  }

  /** Lets the session of a sale end before the next step. */
  async dally(): Promise<void> {
    const sale = this.#anySale();
    if (sale !== null && this.dice.chance(0.2))
      await this.host.advance(Math.max(0, sale.expiresAt - this.host.now()) + 1000 * this.dice.below(240));
  }

  #anySale(): Begun | null {
    return this.#begun.length === 0 ? null : this.dice.oneOf(this.#begun.slice(-4));
  }

  #paidSale(): Begun | null {
    const paid = this.#begun.filter(({ signatures }) => signatures.length > 0);
    return paid.length === 0 ? null : this.dice.oneOf(paid.slice(-4));
  }
}
