import { type Asked, fieldsOf, goTo, type Said, say } from './http.ts';
import { expireCheckout, isCustomer, nestedOf, noCustomer, openCheckout, openPortal, pagesOf, refusal } from './processor-pages.ts';
import { ACTS, type Control, newId, now, type Place, pay, type SignedEvent, sign, webhookSecretOf } from './subscriptions.ts';

/** Prices that every place of this small Stripe has from the beginning. */
export const PRICES = { starter: 'price_starter', growth: 'price_growth', scale: 'price_scale' } as const;
/** The portal configuration that every place has from the beginning. */
export const PORTAL = 'bpc_plans';
/** A small Stripe: its documented shapes for customers, subscriptions, checkout and portal, and events signed as it signs them. */
export class SmallProcessor {
  readonly #places = new Map<string, Place>();
  readonly #webhookUrl: string | null;

  constructor(webhookUrl: string | null = null) {
    this.#webhookUrl = webhookUrl;
  }

  #placeOf(apiKey: string): Place {
    const known = this.#places.get(apiKey);
    if (known) return known;
    const price = (id: string, i: number) =>
      [id, { id, product: `prod_${id}`, unit_amount: [1900, 4900, 19_900][i]!, currency: 'usd' }] as const;
    const place: Place = {
      apiKey,
      customers: new Map(),
      subscriptions: [],
      sessions: new Map(),
      prices: new Map(Object.values(PRICES).map(price)),
      configurations: new Map([[PORTAL, newPortal(PORTAL, {})]]),
      endpoints: new Map(),
      idempotent: new Map(),
      hasSearch: true,
      requests: [],
      faults: [],
      webhookUrl: this.#webhookUrl,
    };
    this.#places.set(apiKey, place);
    return place;
  }

  /** The API, under /v1. */
  api({ method, url, headers, body }: Asked): Said {
    const [, apiKey] = /^Bearer (sk_test_\w+)$/.exec(headers.authorization ?? '') ?? [];
    if (apiKey === undefined) return refusal(401, 'Invalid API Key provided');
    const place = this.#placeOf(apiKey);
    const path = url.pathname.slice('/v1'.length);
    const form = fieldsOf(method === 'POST' ? body : url.search.slice(1));
    place.requests.push({ method, path, form });
    const fault = place.faults.shift();
    if (fault !== undefined) return refusal(fault, 'A fault that was asked for');
    const key = headers['idempotency-key'];
    const kept = key === undefined ? undefined : place.idempotent.get(key);
    const asked = JSON.stringify([method, path, form]);
    if (kept) return kept.asked === asked ? kept.said : refusal(400, 'Keys for idempotent requests…', { type: 'idempotency_error' });
    const said = answer(place, `${method} ${path}`, form, url.origin);
    if (key !== undefined && said.status < 500) place.idempotent.set(key, { asked, said });
    return said;
  }

  /** The page a person pays on: opening it asks, `?pay=1` pays and goes back. */
  async page({ url }: Asked): Promise<Said> {
    const [, , apiKey = '', sessionId = ''] = url.pathname.split('/');
    const place = this.#placeOf(apiKey);
    const session = place.sessions.get(sessionId);
    if (!session) return say(404, '<h1>No such session</h1>');
    if (session.status !== 'open') return say(410, `<h1>This page is ${session.status}</h1>`);
    if (!url.searchParams.has('pay'))
      return say(
        200,
        `<h1>Pay ${session.price}</h1><p>No money moves here.</p><p><a href="?pay=1">Pay</a> · <a href="${session.back}">Back</a></p>`,
      );
    await this.#send(place, pay(place, session, now()));
    return goTo(session.back);
  }

  /** What tests ask of a place: `POST /world/<api key>/<what>` with JSON. Answers the events that followed. */
  async control({ url, body }: Asked): Promise<Said> {
    const [, , apiKey = '', what = ''] = url.pathname.split('/');
    const place = this.#placeOf(apiKey);
    const asked = (body === '' ? {} : JSON.parse(body)) as Control;
    if (what === 'requests') return say(200, place.requests);
    if (what === 'fault') {
      place.faults.push(...Array.from({ length: asked.times ?? 1 }, () => asked.status ?? 500));
      return say(200, {});
    }
    if (what === 'without-search') {
      place.hasSearch = false;
      return say(200, {});
    }
    if (what === 'forget') {
      place.idempotent.clear();
      if (asked.customer !== undefined) place.customers.delete(asked.customer);
      return say(200, {});
    }
    if (what === 'sign') return say(200, { signature: sign(asked.secret ?? webhookSecretOf(apiKey), asked.body ?? '', asked.at ?? now()) });
    const act = ACTS[what];
    if (!act) return say(404, { error: what });
    return say(200, { events: act(place, asked, asked.at ?? now()) });
  }

  async #send({ webhookUrl }: Place, events: SignedEvent[]): Promise<void> {
    if (webhookUrl === null) return;
    for (const { body, signature } of events)
      await fetch(webhookUrl, { method: 'POST', headers: { 'content-type': 'application/json', 'stripe-signature': signature }, body });
  }
}

const listOf = (data: unknown[]) => ({ object: 'list', data, has_more: false, url: '/v1' });

/** Answers a call that names an object in its path; null for every other call. */
function answerNamed(place: Place, call: string, form: Record<string, string>): Said | null {
  const [, customerId] = /^DELETE \/customers\/(\w+)$/.exec(call) ?? [];
  if (customerId) return deleteCustomer(place, customerId);
  const [, subscriptionId] = /^GET \/subscriptions\/(\w+)$/.exec(call) ?? [];
  if (subscriptionId) {
    const found = place.subscriptions.find(({ id }) => id === subscriptionId);
    return found ? say(200, found) : refusal(404, 'No such subscription');
  }
  const [, pageId] = /^POST \/checkout\/sessions\/(\w+)\/expire$/.exec(call) ?? [];
  if (pageId) return expireCheckout(place, pageId);
  const [, configurationId] = /^POST \/billing_portal\/configurations\/(\w+)$/.exec(call) ?? [];
  if (configurationId) {
    if (!place.configurations.has(configurationId)) return refusal(404, 'No such configuration');
    return say(200, keepPortal(place, configurationId, form));
  }
  const [, endpointId] = /^POST \/webhook_endpoints\/(\w+)$/.exec(call) ?? [];
  if (endpointId) return place.endpoints.has(endpointId) ? say(200, place.endpoints.get(endpointId)) : refusal(404, 'No such endpoint');
  return null;
}

function answer(place: Place, call: string, form: Record<string, string>, origin: string): Said {
  switch (call) {
    case 'POST /customers': {
      const customer = { id: newId('cus'), object: 'customer', metadata: nestedOf(form, 'metadata') };
      place.customers.set(customer.id, customer);
      return say(200, customer);
    }
    case 'GET /customers/search': {
      if (!place.hasSearch) return refusal(400, 'Search is not available for this account');
      const [, accountId] = /^metadata\['account_id'\]:'([^']*)'$/.exec(form.query ?? '') ?? [];
      return say(200, listOf([...place.customers.values()].filter((one) => !one.deleted && one.metadata.account_id === accountId)));
    }
    case 'GET /subscriptions':
      if (form.customer !== undefined && !place.customers.has(form.customer)) return noCustomer(400, form.customer);
      return say(200, listOf(place.subscriptions.filter(({ customer }) => customer === form.customer).toReversed()));
    case 'GET /checkout/sessions':
      if (!isCustomer(place, form.customer)) return noCustomer(400, form.customer);
      return say(200, listOf(pagesOf(place, form.customer, origin)));
    case 'POST /checkout/sessions':
      return openCheckout(place, form, origin);
    case 'POST /billing_portal/sessions':
      return openPortal(place, form, origin);
    case 'GET /prices':
      return say(
        200,
        listOf([...place.prices.values()].filter(({ lookup_key }) => lookup_key !== undefined && lookup_key === form['lookup_keys[0]'])),
      );
    case 'POST /products':
      return say(200, { id: newId('prod'), object: 'product', name: form.name });
    case 'POST /prices': {
      const price = {
        id: newId('price'),
        object: 'price',
        lookup_key: form.lookup_key!,
        product: form.product!,
        unit_amount: Number(form.unit_amount),
        currency: form.currency!,
      };
      place.prices.set(price.id, price);
      return say(200, price);
    }
    case 'GET /webhook_endpoints':
      return say(200, listOf([...place.endpoints.values()]));
    case 'POST /webhook_endpoints': {
      const endpoint = { id: newId('we'), object: 'webhook_endpoint', url: form.url! };
      place.endpoints.set(endpoint.id, endpoint);
      // Told once: who asks for the endpoint later is not told its secret.
      return say(200, { ...endpoint, secret: webhookSecretOf(place.apiKey) });
    }
    case 'GET /billing_portal/configurations':
      return say(200, listOf([...place.configurations.values()].map(({ form: _, ...shown }) => shown)));
    case 'POST /billing_portal/configurations':
      return say(200, keepPortal(place, newId('bpc'), form));
    default:
      return answerNamed(place, call, form) ?? refusal(404, `Unrecognized request URL (${call})`);
  }
}

const newPortal = (id: string, form: Record<string, string>) => ({
  id,
  object: 'billing_portal.configuration',
  active: true as const,
  metadata: nestedOf(form, 'metadata'),
  form,
});

function keepPortal({ configurations }: Place, id: string, form: Record<string, string>) {
  const kept = newPortal(id, { ...configurations.get(id)?.form, ...form });
  configurations.set(id, kept);
  return kept;
}

function deleteCustomer(place: Place, id: string): Said {
  const customer = place.customers.get(id);
  if (!customer || customer.deleted) return noCustomer(404, id);
  customer.deleted = true;
  for (const subscription of place.subscriptions) if (subscription.customer === id) subscription.status = 'canceled';
  return say(200, { id, object: 'customer', deleted: true });
}
