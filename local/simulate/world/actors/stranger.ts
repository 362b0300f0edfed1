import type { Shop } from '../../book/history.ts';
import type { Body } from '../../book/host.ts';
import { Actor } from './actor.ts';

type Probe = [method: string, path: string, key: string, body?: object];
type Write = [method: string, template: string, body?: object];

interface OpenApi {
  paths: Record<string, Record<string, { security?: Record<string, unknown>[] }>>;
}

/** Writes with a valid body, so that the service loads the object. */
const WRITES: readonly Write[] = [
  ['PATCH', '/v1/products/{product_id}', { name: 'Mine' }],
  ['POST', '/v1/products/{product_id}/archive'],
  ['POST', '/v1/access/products/{product_id}/subscription-plan'],
  ['POST', '/v1/payments/{payment_id}/refund-transaction', {}],
  ['POST', '/v1/payments/{payment_id}/accept-unmatched', { tx_signature: '1'.repeat(64) }],
  ['POST', '/v1/memberships/{membership_id}/retry-delivery'],
  ['PATCH', '/v1/receipt/{receipt_id}/invoice-metadata', { notes: 'mine' }],
  ['POST', '/v1/access/metered-sessions/{session_id}/close'],
  ['POST', '/v1/access/metered-sessions/{session_id}/deliveries', { amount: { asset: 'USDC', amount: '0.000001' } }],
  ['POST', '/v1/access/native-subscriptions/{authorization_id}/stop'],
  ['DELETE', '/v1/webhooks/endpoints/{endpoint_id}'],
  ['PATCH', '/v1/webhooks/endpoints/{endpoint_id}', { description: 'mine' }],
  ['POST', '/v1/webhooks/endpoints/{endpoint_id}/rotate-secret', {}],
  ['POST', '/v1/webhooks/endpoints/{endpoint_id}/test', {}],
  ['POST', '/v1/webhooks/endpoints/{endpoint_id}/recover', { since: '2026-09-01T00:00:00.000Z' }],
  ['POST', '/v1/webhooks/deliveries/{delivery_id}/replay'],
  ['DELETE', '/v1/keys/{key_id}'],
];

/** Lists that may be filtered by an id. Another's id finds nothing. */
const FILTERS = [
  '/v1/payments?product_id={product_id}',
  '/v1/receipts?product_id={product_id}',
  '/v1/memberships?product_id={product_id}',
  '/v1/memberships/lookup?payment_id={payment_id}',
  '/v1/access/entitlements?product_id={product_id}',
  '/v1/webhooks/deliveries?endpoint_id={endpoint_id}',
  '/v1/webhooks/timeline?payment_id={payment_id}',
  '/v1/webhooks/timeline?membership_id={membership_id}',
] as const;

/** Lists of a shop's ids. */
const LISTS: Record<string, string> = {
  payment_id: '/v1/payments',
  receipt_id: '/v1/receipts',
  membership_id: '/v1/memberships',
  entitlement_id: '/v1/access/entitlements',
  delivery_id: '/v1/webhooks/deliveries',
  authorization_id: '/v1/access/native-subscriptions',
};
/** Objects of an account in both modes. */
const OF_ACCOUNTS = /\{(key_id|ticket_id)\}|^\/v1\/testing/;

/** Actor that tries the ids of other merchants with its own key, a key of the other mode, or a forged one. Nothing may be found. */
export class Stranger extends Actor {
  readonly verbs = [this.probeMerchant, this.probeMerchant, this.probeMode, this.probeNobody, this.takeUnits];

  async probeMerchant(): Promise<void> {
    const [own, other] = [this.anyMerchant().shop, this.anyMerchant().shop];
    if (own === other) return;
    const probe = await this.#probeOf(other, ({ template }) => (template.startsWith('/v1/testing') ? own.sandboxKey : own.liveKey));
    await this.#probe(probe, own.name);
  }

  async probeMode(): Promise<void> {
    const { shop } = this.anyMerchant();
    const probe = await this.#probeOf(shop, ({ template }) => (OF_ACCOUNTS.test(template) ? null : shop.sandboxKey));
    await this.#probe(probe, `the sandbox of ${shop.name}`);
  }

  async probeNobody(): Promise<void> {
    const probe = await this.#probeOf(this.anyMerchant().shop, () => 'svc_live_forged');
    await this.#probe(probe, 'nobody');
  }

  /** Names a product and a consumption of another merchant in a body. */
  async takeUnits(): Promise<void> {
    const [{ liveKey, name }, other] = [this.anyMerchant().shop, this.anyMerchant().shop];
    const holding = this.history.holdings.find(({ shop, product }) => shop === other && product.livemode);
    if (liveKey === other.liveKey || holding === undefined) return;
    const { product, customer, uses } = holding;
    const named = { product_id: product.productId, customer };
    const probes: Probe[] = [
      ['POST', '/v1/access/entitlements/grant', liveKey, { ...named, units: 5, reason: 'theft' }],
      ['POST', '/v1/access/entitlements/consume', liveKey, { ...named, units: 1 }],
    ];
    const used = uses[0]?.consumptionId;
    if (used !== undefined) probes.push(['POST', '/v1/access/entitlements/refund', liveKey, { consumption_id: used, reason: 'theft' }]);
    await this.#probe(this.dice.oneOf(probes), name);
  }

  /** A request of the document that names an id of a shop. Null if the shop has none of its kind. */
  async #probeOf(shop: Shop, keyOf: (write: { template: string }) => string | null): Promise<Probe | null> {
    const [method, template, body] = this.dice.oneOf(this.#operations());
    const key = keyOf({ template });
    const param = /\{(\w+)\}/.exec(template)?.[1];
    const id = key === null || param === undefined ? null : await this.#idOf(shop, param, template);
    return key === null || id === null ? null : ([method, template.replace(/\{\w+\}/, id), key, ...(body ? [body] : [])] as Probe);
  }

  #operations(): readonly Write[] {
    const { paths } = this.host.document as OpenApi;
    const templates = Object.entries(paths).filter(([path, { get }]) => /\{(?!provider)/.test(path) && needsCredential(get?.security));
    return [...templates.map(([path]): Write => ['GET', path]), ...FILTERS.map((path): Write => ['GET', path]), ...WRITES];
  }

  async #idOf(shop: Shop, param: string, template: string): Promise<string | null> {
    const isOwn = (one: { shop: Shop; livemode: boolean }) => one.shop === shop && one.livemode;
    switch (param) {
      case 'product_id':
        return this.anyProduct(shop, true)?.productId ?? null;
      case 'endpoint_id':
        return shop.endpoints.find(({ livemode }) => livemode)?.endpointId ?? null;
      case 'session_id': {
        const scenario = this.history.scenarios.find((one) => one.shop === shop)?.sessionId;
        const found = template.startsWith('/v1/testing') ? scenario : this.history.streams.find(isOwn)?.sessionId;
        return found ?? null;
      }
      case 'key_id': {
        const keys = await this.read('/v1/keys', shop.token);
        return keys?.status === 200 ? this.dice.oneOf<Body>(keys.body).id : null;
      }
      default: {
        const listed = LISTS[param] === undefined ? null : await this.read(LISTS[param], shop.liveKey);
        const items: Body[] = listed?.status === 200 ? listed.body.items : [];
        return items.length === 0 ? null : String(this.dice.oneOf(items)[param]);
      }
    }
  }

  async #probe(probe: Probe | null, who: string): Promise<void> {
    if (probe === null) return;
    const [method, path, key, body] = probe;
    const answer = await this.persist(method, path, { key, ...(body ? { body } : {}) });
    this.note(`${who} tried ${method} ${path}: ${answer?.status}`);
    if (answer === null || answer.status >= 400) return;
    const isEmpty = answer.body?.items?.length === 0;
    if (!isEmpty) this.history.find(`${who} was answered ${answer.status} to ${method} ${path}: ${JSON.stringify(answer.body)}`);
  }
}

const needsCredential = (security: readonly Record<string, unknown>[] | undefined): boolean =>
  security?.some((one) => 'apiKey' in one || 'bearer' in one) ?? false;
