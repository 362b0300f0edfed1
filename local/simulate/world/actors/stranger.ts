import type { Shop } from '../../book/history.ts';
import { Actor } from './actor.ts';

type Probe = [method: string, path: string, key: string, body?: object];

/** Actor that tries the ids of other merchants with its own key, a key of the other mode, or a forged one. Nothing may be found. */
export class Stranger extends Actor {
  readonly verbs = [this.probeMerchant, this.probeMode, this.probeNobody];

  async probeMerchant(): Promise<void> {
    const [own, other] = [this.anyMerchant().shop, this.anyMerchant().shop];
    if (own !== other) await this.#probe(this.#probesOf(other, own.liveKey), own.name);
  }

  async probeMode(): Promise<void> {
    const { shop } = this.anyMerchant();
    await this.#probe(this.#probesOf(shop, shop.sandboxKey), `the sandbox of ${shop.name}`);
  }

  async probeNobody(): Promise<void> {
    const { shop } = this.anyMerchant();
    await this.#probe(this.#probesOf(shop, 'svc_live_forged'), 'nobody');
  }

  #probesOf(shop: Shop, key: string): Probe[] {
    const product = this.anyProduct(shop, true);
    const sale = this.history.sales.find((one) => one.shop === shop && one.livemode);
    const endpoint = shop.endpoints.find(({ livemode }) => livemode);
    const holding = this.history.holdings.find((one) => one.shop === shop && one.product.livemode);
    const used = holding?.uses[0]?.consumptionId;
    const named = { product_id: product?.productId, customer: { customer_ref: 'a stranger' } };
    const probes: (Probe | false | undefined)[] = [
      product !== null && ['GET', `/v1/products/${product.productId}`, key],
      product !== null && ['PATCH', `/v1/products/${product.productId}`, key, { name: 'Mine' }],
      product !== null && ['POST', '/v1/access/entitlements/grant', key, { ...named, units: 5, reason: 'theft' }],
      product !== null && ['POST', '/v1/access/entitlements/consume', key, { ...named, units: 1 }],
      sale && ['GET', `/v1/payments/${sale.paymentId}`, key],
      sale && ['POST', `/v1/payments/${sale.paymentId}/refund-transaction`, key, {}],
      sale && ['GET', `/v1/webhooks/timeline?payment_id=${sale.paymentId}`, key],
      endpoint && ['DELETE', `/v1/webhooks/endpoints/${endpoint.endpointId}`, key],
      endpoint && ['POST', `/v1/webhooks/endpoints/${endpoint.endpointId}/rotate-secret`, key, {}],
      used !== undefined && ['POST', '/v1/access/entitlements/refund', key, { consumption_id: used, reason: 'theft' }],
    ];
    return probes.filter((probe): probe is Probe => Array.isArray(probe));
  }

  async #probe(probes: readonly Probe[], who: string): Promise<void> {
    if (probes.length === 0) return;
    const [method, path, key, body] = this.dice.oneOf(probes);
    const answer = await this.persist(method, path, { key, ...(body ? { body } : {}) });
    this.note(`${who} tried ${method} ${path}: ${answer?.status}`);
    if (answer !== null && answer.status < 400) this.history.find(`${who} was answered ${answer.status} to ${method} ${path}`);
  }
}
