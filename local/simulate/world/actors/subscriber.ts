import type { Product, Subscription } from '../../book/history.ts';
import type { Wallet } from '../outside/wallet.ts';
import { Actor } from './actor.ts';
import { type Merchant, newWallet, toProduct } from './open-shop.ts';

const HOUR_MS = 3_600_000;
const PERIOD_DAYS = 1;
const PRICE = '2';
/** Long enough for several crons, which are minutes apart in some histories. */
const SESSION_SECONDS = 600;
/** Some wallets run out of money after some periods. */
const DOLLARS = [50n, 50n, 5n] as const;
const STEPS_MAX = 4;
/** Signature that no transaction has. The account on the chain decides, not the transaction that a buyer names. */
const NOTHING = '1'.repeat(64);

/** Buyer of a product that renews by itself: approves, subscribes, cancels, and lets periods pass. */
export class Subscriber extends Actor {
  readonly #subscriptions: (Subscription & { payer: Wallet })[] = [];

  readonly verbs = [this.subscribe, this.subscribe, this.sign, this.sign, this.confirm, this.confirm, this.cancel, this.stop, this.renew];

  async subscribe(): Promise<void> {
    const merchant = this.anyMerchant();
    const { shop } = merchant;
    const product = shop.plans[0] ?? (await this.#publish(merchant));
    if (product === null) return;
    const payer = this.dice.chance(0.3) ? this.#subscriptions.at(-1)?.payer : undefined;
    const wallet = payer ?? newWallet(this, this.world.chain, this.dice.oneOf(DOLLARS));
    const body = { wallet_address: wallet.address };
    await this.write(`/v1/products/p/${product.slug}/connect`, { body }, ({ status, body: bill }) => {
      this.note(`connected to a subscription: ${status} ${bill?.code ?? bill?.payment_id}`);
      if (status !== 200) return;
      const { authorization_id: authorizationId, subscription_address: address, period_hours } = bill.subscription;
      const periodMs = period_hours * HOUR_MS;
      const named = { shop, product, wallet: wallet.address, paymentId: bill.payment_id, authorizationId, address, periodMs };
      const expiresAt = Date.parse(bill.expires_at);
      const subscription = { ...named, expiresAt, consentedAt: null, isUndone: false, payer: wallet };
      this.#subscriptions.push(subscription);
      this.history.subscriptions.push(subscription);
    });
    if (this.dice.chance(0.7)) await this.sign();
  }

  /** Makes a product of a shop that renews, and publishes its plan with the merchant's wallet. Null if something prevents it. */
  async #publish({ shop, wallet }: Merchant): Promise<Product | null> {
    const price = { asset: 'USDC', amount: PRICE };
    const terms = { name: 'Weather without end', renewal_mode: 'AUTOMATIC', access_period_days: PERIOD_DAYS, usage_units: null };
    const body = { ...terms, price, session_seconds: SESSION_SECONDS, payout_wallet: wallet.address, live_mode_confirmed: true };
    const made = await this.persist('POST', '/v1/products', { key: shop.token, body });
    if (made?.status !== 201) return null;
    const product = toProduct(made.body);
    const path = `/v1/access/products/${product.productId}/subscription-plan`;
    const prepared = await this.persist('POST', path, { key: shop.liveKey });
    const sent = prepared?.body?.transaction ? this.world.chain.send(wallet.signWire(prepared.body.transaction)) : null;
    if (sent === null) return null;
    const confirmed = await this.persist('POST', `${path}/confirm`, { key: shop.liveKey, body: { tx_signature: sent } });
    this.note(`published a plan: ${confirmed?.status} ${confirmed?.body?.status ?? confirmed?.body?.code}`);
    if (confirmed?.status !== 200) return null;
    shop.plans.push(product);
    return product;
  }

  /** Signs what is left to sign, by way of the service or with a library of its own. */
  async sign(): Promise<void> {
    const subscription = this.#any();
    if (subscription === null) return;
    const path = `/v1/payments/${subscription.paymentId}`;
    for (let steps = 0; steps < STEPS_MAX; steps++) {
      const seen = await this.read(path);
      const [step] = seen?.body?.subscription?.steps ?? [];
      if (!step?.transaction) return;
      const transaction = subscription.payer.signWire(step.transaction);
      if (this.dice.chance(0.3)) {
        const sent = this.world.chain.send(transaction);
        this.note(`signed ${step.kind} without the service: ${sent}`);
        if (sent !== null && step.kind === 'subscribe') subscription.consentedAt = this.host.now();
        await this.host.advance(2_000);
      } else {
        const answer = await this.persist('POST', `${path}/transaction`, { body: { transaction } });
        this.note(`signed ${step.kind}: ${answer?.status} ${answer?.body?.code ?? ''}`);
        if (answer?.status === 200 && step.kind === 'subscribe') subscription.consentedAt = this.host.now();
      }
      if (this.dice.chance(0.1)) return;
    }
  }

  async confirm(): Promise<void> {
    const subscription = this.#any();
    if (subscription === null) return;
    const body = { payment_id: subscription.paymentId, tx_signature: NOTHING };
    const sides = Array.from({ length: this.dice.chance(0.3) ? 2 : 1 }, () => this.persist('POST', '/v1/pay/confirm', { body }));
    for (const answer of await Promise.all(sides))
      this.note(`confirmed the subscription: ${answer?.status} ${answer?.body?.payment?.status ?? answer?.body?.code}`);
  }

  async cancel(): Promise<void> {
    const subscription = this.#any();
    if (subscription === null || this.dice.chance(0.5)) return;
    const path = `/v1/access/native-subscriptions/${subscription.authorizationId}`;
    const intent = await this.persist('POST', `${path}/cancel-intent`, { body: { wallet_address: subscription.wallet } });
    this.note(`asked to cancel: ${intent?.status} ${intent?.body?.code ?? ''}`);
    if (intent?.status !== 200) return;
    subscription.isUndone = true;
    const transaction = subscription.payer.signWire(intent.body.transaction);
    const sent = this.dice.chance(0.5) ? this.world.chain.send(transaction) : null;
    if (this.dice.chance(0.2)) return;
    const answer = await this.persist('POST', `${path}/cancel-confirm`, { body: sent === null ? { transaction } : { tx_signature: sent } });
    this.note(`cancelled: ${answer?.status} ${answer?.body?.status ?? answer?.body?.code}`);
  }

  async stop(): Promise<void> {
    const subscription = this.#any();
    if (subscription === null || this.dice.chance(0.7)) return;
    const path = `/v1/access/native-subscriptions/${subscription.authorizationId}/stop`;
    subscription.isUndone = true;
    const answer = await this.persist('POST', path, { key: subscription.shop.token });
    this.note(`the merchant stopped a subscription: ${answer?.status} ${answer?.body?.status ?? answer?.body?.code}`);
  }

  /** Lets a period pass in a history that may last long. */
  async renew(): Promise<void> {
    if (this.world.daysLeft === 0 || this.#subscriptions.length === 0) return;
    this.world.daysLeft--;
    this.history.haveDaysPassed = true;
    this.note('a period passes');
    await this.host.advance(PERIOD_DAYS * 24 * HOUR_MS + 1000 * this.dice.below(1_200));
  }

  #any() {
    return this.#subscriptions.length === 0 ? null : this.dice.oneOf(this.#subscriptions.slice(-2));
  }
}
