import type { Holding, Sale, TestOutcome } from '../../book/history.ts';
import { Actor } from './actor.ts';

const OUTCOMES: readonly TestOutcome[] = ['paid', 'paid', 'paid', 'underpaid', 'declined', 'late', 'overpaid'];
const UNITS_MAX = 4;

/** Developer in the sandbox: buys with test money, settles test payments, runs scenarios. */
export class Tester extends Actor {
  readonly #sales: Sale[] = [];
  readonly #holdings: Holding[] = [];

  readonly verbs = [this.connect, this.pay, this.pay, this.confirm, this.settle, this.settle, this.runScenario];

  async connect(): Promise<void> {
    const { shop } = this.anyMerchant();
    const product = this.anyProduct(shop, false);
    if (product === null) return;
    await this.write(`/v1/products/p/${product.slug}/connect`, { body: {} }, ({ status, body }) => {
      this.note(`connected in the sandbox: ${status}`);
      if (status !== 200) return;
      const { payment_id: paymentId, memo, recipient } = body;
      const [priceUnits, expiresAt] = [BigInt(body.price.base_units), Date.parse(body.expires_at)];
      const sale: Sale = { paymentId, shop, product, livemode: false, recipient, memo, priceUnits, expiresAt, tests: [] };
      this.#sales.push(sale);
      this.history.sales.push(sale);
    });
  }

  async pay(): Promise<void> {
    const sale = this.#anySale();
    if (sale === null) return;
    const outcome = this.dice.oneOf(OUTCOMES);
    const body = { payment_id: sale.paymentId, outcome };
    await this.write('/v1/testing/pay', { key: sale.shop.sandboxKey, body }, async ({ status, body: paid }) => {
      this.note(`test payment of ${sale.paymentId}, ${outcome}: ${status} ${paid?.code ?? ''}`);
      if (status !== 200) return;
      sale.tests.push(outcome);
      if (paid.tx_signature && this.dice.chance(0.7)) await this.#confirm(sale, paid.tx_signature);
    });
  }

  /** Reports a live transaction for a sandbox sale, which must not count. */
  async confirm(): Promise<void> {
    const sale = this.#anySale();
    const live =
      this.history.settled.at(-1)?.signature ?? this.history.shops.flatMap((one) => this.history.landedAt(one)).at(-1)?.signature;
    if (sale === null || live === undefined) return;
    const answer = await this.#confirm(sale, live);
    if (answer?.body?.payment?.tx_signature === live) this.history.find(`sandbox payment ${sale.paymentId} took live transaction ${live}`);
  }

  async #confirm(sale: Sale, tx_signature: string) {
    const answer = await this.persist('POST', '/v1/pay/confirm', { body: { payment_id: sale.paymentId, tx_signature } });
    this.note(`confirmed test payment ${sale.paymentId}: ${answer?.status} ${answer?.body?.payment?.status ?? answer?.body?.code}`);
    return answer;
  }

  /** Asks for units of a sandbox product, pays the challenge with test money, and settles. */
  async settle(): Promise<void> {
    const holding = this.#anyHolding();
    if (holding === null) return;
    const { shop, product, customer } = holding;
    const key = shop.sandboxKey;
    const named = { product_id: product.productId, customer };
    const units = 1 + this.dice.below(UNITS_MAX);
    const asked = await this.write('/v1/access/entitlements/consume', { key, body: { ...named, units } }, ({ status, body }) => {
      this.note(`consume ${units} in the sandbox: ${status}`);
      if (status === 200) holding.used += body.units;
    });
    const required = asked?.headers.get('PAYMENT-REQUIRED');
    if (!required) return;
    const paid = await this.persist('POST', '/v1/testing/pay', { key, body: { payment_required: required } });
    if (paid?.status !== 200) return;
    const consume_units = 1 + this.dice.below(product.units ?? 1);
    const body = { ...named, payment_signature: paid.body.payment_signature, consume_units };
    await this.write('/v1/access/x402/settle', { key, body }, ({ status, body: settled }) => {
      this.note(`settle in the sandbox: ${status} ${settled?.code ?? ''}`);
      if (status !== 200) return;
      holding.used += settled.consumed_units;
      const { payment_id: paymentId, tx_signature: signature, payer, consumption_id: consumptionId } = settled;
      if (!settled.duplicate) this.history.settled.push({ shop, product, livemode: false, paymentId, signature, payer, consumptionId });
    });
  }

  async runScenario(): Promise<void> {
    const { shop } = this.anyMerchant();
    const listed = await this.read('/v1/testing/scenarios', shop.sandboxKey);
    if (listed?.status !== 200) return;
    const { scenario, expected } = this.dice.oneOf<{ scenario: string; expected: string[] }>(listed.body.items);
    await this.write('/v1/testing/sessions', { key: shop.sandboxKey, body: { scenario } }, ({ status, body }) => {
      this.note(`began scenario ${scenario}: ${status} ${body?.code ?? ''}`);
      if (status === 201) this.history.scenarios.push({ shop, sessionId: body.session_id, scenario, expected });
    });
  }

  #anySale(): Sale | null {
    return this.#sales.length === 0 ? null : this.dice.oneOf(this.#sales.slice(-3));
  }

  #anyHolding(): Holding | null {
    const { shop } = this.anyMerchant();
    const product = this.anyProduct(shop, false, 'units');
    if (product === null) return null;
    const known = this.#holdings.find((holding) => holding.product === product);
    if (known) return known;
    const customer = { customer_ref: `tester ${this.name}` };
    const holding: Holding = { shop, product, customer, granted: 0, used: 0, returned: 0, uses: [] };
    this.#holdings.push(holding);
    this.history.holdings.push(holding);
    return holding;
  }
}
