import type { Sale } from '../../book/history.ts';
import { FORMER_PLAN } from '../outside/processor.ts';
import { Wallet } from '../outside/wallet.ts';
import { Actor } from './actor.ts';
import { type Merchant, newWallet, openEndpoint } from './open-shop.ts';

const OVERLAP_HOURS = 24;
const HOUR_MS = 3_600_000;
const DOLLARS = 2_000n;

/** Person behind a shop: refunds, accepts money that came late, changes prices, rotates secrets, reads the books. */
export class Owner extends Actor {
  #wallet: Wallet | null = null;

  readonly verbs = [
    this.acceptUnmatched,
    this.acceptUnmatched,
    this.refundPayment,
    this.refundPayment,
    this.refundPayment,
    this.buyPlan,
    this.buyPlan,
    this.subscribeByCard,
    this.changePrice,
    this.changeWallet,
    this.rotateSecret,
    this.addEndpoint,
    this.troubleEndpoint,
    this.readBooks,
    this.testEndpoint,
  ];

  async acceptUnmatched(): Promise<void> {
    const sale = this.#anySale();
    if (sale === null) return;
    const { liveKey } = sale.shop;
    const seen = await this.read(`/v1/payments/${sale.paymentId}`, liveKey);
    const open = (seen?.body?.unmatched ?? []).filter(({ status }: { status: string }) => status === 'open');
    if (open.length === 0) return;
    const { tx_signature } = this.dice.oneOf<{ tx_signature: string }>(open);
    const path = `/v1/payments/${sale.paymentId}/accept-unmatched`;
    const answer = await this.persist('POST', path, { key: liveKey, body: { tx_signature } });
    this.note(`accepted ${tx_signature} for payment ${sale.paymentId}: ${answer?.status} ${answer?.body?.code ?? ''}`);
  }

  /** Prepares a refund, signs and sends it, and often reports it. */
  async refundPayment(): Promise<void> {
    const sale = this.#paidSale();
    const merchant = this.merchants.find(({ shop }) => shop === sale?.shop);
    if (sale === null || merchant?.wallet.address !== sale.recipient) return;
    const { liveKey } = sale.shop;
    const path = `/v1/payments/${sale.paymentId}`;
    await this.#confirm(sale);
    const prepared = await this.persist('POST', `${path}/refund-transaction`, { key: liveKey, body: {} });
    this.note(`prepared a refund of payment ${sale.paymentId}: ${prepared?.status} ${prepared?.body?.code ?? ''}`);
    if (prepared?.status !== 200 || this.dice.chance(0.2)) return;
    const tx_signature = this.world.chain.send(merchant.wallet.signWire(prepared.body.transaction));
    this.note(`sent the refund: ${tx_signature}`);
    if (tx_signature === null || this.dice.chance(0.3)) return;
    const report = async () => {
      const answer = await this.persist('POST', `${path}/refund-confirm`, { key: liveKey, body: { tx_signature } });
      this.note(`reported the refund: ${answer?.status} ${answer?.body?.code ?? ''}`);
    };
    await Promise.all(Array.from({ length: this.dice.chance(0.4) ? 2 : 1 }, report));
    if (this.dice.chance(0.3)) await report();
  }

  /** Buys a plan for thirty days by x402, and sometimes sends the payment again. */
  async buyPlan(): Promise<void> {
    const { shop } = this.anyMerchant();
    const path = `/v1/access/x402/activate/${this.dice.oneOf(['starter', 'growth'])}`;
    const asked = await this.persist('POST', path, { key: shop.liveKey });
    const required = asked?.status === 402 ? asked.headers.get('PAYMENT-REQUIRED') : null;
    if (!required) return this.note(`a plan was not for sale: ${asked?.status} ${asked?.body?.code}`);
    this.#wallet ??= newWallet(this, this.world.chain, DOLLARS);
    const headers = { 'PAYMENT-SIGNATURE': this.world.chain.signRequired(this.#wallet, required, this.dice.nonce()) };
    for (let times = this.dice.chance(0.3) ? 2 : 1; times > 0; times--) {
      await this.write(path, { key: shop.liveKey, headers }, ({ status, body }) => {
        this.note(`bought a plan: ${status} ${body?.code ?? body?.plan}`);
        if (status === 200) this.history.planReceipts.push({ shop, receiptId: body.receipt_id });
      });
    }
  }

  /** Has a subscription by card, sold at a price of earlier times, which the service learns when its owner returns from the processor. */
  async subscribeByCard(): Promise<void> {
    const { shop } = this.anyMerchant();
    if (this.history.cardPlans.some((one) => one.shop === shop)) return;
    this.history.cardPlans.push({ shop, plan: FORMER_PLAN });
    const asked = await this.persist('POST', '/v1/billing/checkout/processor', { key: shop.token, body: { plan: 'growth' } });
    const isSubscribed = asked?.status === 200 && (await this.world.outside.processor.subscribe());
    const read = isSubscribed ? await this.persist('POST', '/v1/billing/refresh/processor', { key: shop.token }) : null;
    this.note(`subscribed by card: ${asked?.status} ${asked?.body?.code ?? ''}, read ${read?.status}`);
    if (read?.status !== 200)
      this.history.cardPlans.splice(
        this.history.cardPlans.findIndex((one) => one.shop === shop),
        1,
      );
  }

  async changePrice(): Promise<void> {
    const { shop } = this.anyMerchant();
    const product = this.anyProduct(shop, true, 'time');
    if (product === null) return;
    const body = { price: { asset: 'USDC', amount: `${1 + this.dice.below(9)}` } };
    const answer = await this.persist('PATCH', `/v1/products/${product.productId}`, { key: shop.liveKey, body });
    this.note(`changed the price of ${product.slug} to ${body.price.amount}: ${answer?.status}`);
  }

  /** Lets a product be paid on a new wallet, which needs a recent sign-in. */
  async changeWallet(): Promise<void> {
    const { shop } = this.anyMerchant();
    const product = this.anyProduct(shop, true);
    if (product === null) return;
    const { address } = new Wallet(this.dice.bytes(32));
    this.world.chain.fundUsdc(address, 1n);
    shop.wallets.push(address);
    const body = { payout_wallet: address };
    const answer = await this.persist('PATCH', `/v1/products/${product.productId}`, { key: shop.token, body });
    this.note(`changed the wallet of ${product.slug}: ${answer?.status} ${answer?.body?.code ?? ''}`);
  }

  async rotateSecret(): Promise<void> {
    const { shop } = this.anyMerchant();
    if (shop.endpoints.length === 0) return;
    const endpoint = this.dice.oneOf(shop.endpoints);
    const key = endpoint.livemode ? shop.liveKey : shop.sandboxKey;
    const path = `/v1/webhooks/endpoints/${endpoint.endpointId}/rotate-secret`;
    const until = this.host.now() + OVERLAP_HOURS * HOUR_MS;
    await this.write(path, { key, body: { overlap_hours: OVERLAP_HOURS } }, ({ status, body }) => {
      this.note(`rotated a secret: ${status}`);
      if (status !== 200) return;
      for (const one of endpoint.secrets) if (one.until === 0) one.until = until;
      endpoint.secrets.push({ secret: body.secret, since: this.host.now(), until: 0 });
    });
  }

  async addEndpoint(): Promise<void> {
    const { shop } = this.anyMerchant();
    if (shop.endpoints.length < 3) await openEndpoint(this, shop, this.world.outside, this.dice.chance(0.5));
  }

  async troubleEndpoint(): Promise<void> {
    const { shop } = this.anyMerchant();
    for (const { box } of shop.endpoints) this.world.outside.trouble(box, this.dice.chance(0.3) ? 0.6 : 0);
  }

  async testEndpoint(): Promise<void> {
    const { shop } = this.anyMerchant();
    if (shop.endpoints.length === 0) return;
    const { endpointId, livemode } = this.dice.oneOf(shop.endpoints);
    const answer = await this.persist('POST', `/v1/webhooks/endpoints/${endpointId}/test`, {
      key: livemode ? shop.liveKey : shop.sandboxKey,
      body: {},
    });
    this.note(`tested an endpoint: ${answer?.status}`);
  }

  async readBooks(): Promise<void> {
    const { shop } = this.anyMerchant();
    for (const path of ['/v1/account/summary', '/v1/receipts', '/v1/memberships', '/v1/webhooks/deliveries', '/v1/billing/summary'])
      await this.read(path, shop.liveKey);
  }

  /** Reports a transaction that came for a sale, as a merchant's server does. Only a confirmed payment can be refunded. */
  async #confirm({ paymentId, shop, recipient, memo }: Sale): Promise<void> {
    const [first] = this.history.landed(recipient).filter(({ memos }) => memos.includes(memo));
    if (first === undefined || this.dice.chance(0.3)) return;
    const body = { payment_id: paymentId, tx_signature: first.signature };
    await this.persist('POST', '/v1/pay/confirm', { key: shop.liveKey, body });
  }

  /** Mostly a sale that was paid: few others can be refunded. */
  #paidSale(): Sale | null {
    const hasCome = ({ recipient, memo, shop }: Sale) =>
      this.merchants.some((one) => one.shop === shop && one.wallet.address === recipient) &&
      this.history.landed(recipient).some(({ memos }) => memos.includes(memo));
    const paid = this.#ownSales().filter(hasCome);
    return paid.length === 0 || this.dice.chance(0.2) ? this.#anySale() : this.dice.oneOf(paid);
  }

  #anySale(): Sale | null {
    const own = this.#ownSales();
    return own.length === 0 ? null : this.dice.oneOf(own);
  }

  #ownSales(): Sale[] {
    return this.history.sales.filter(({ livemode, shop }) => livemode && this.merchants.some((one: Merchant) => one.shop === shop));
  }
}
