import { type Asked, fieldsOf, goTo, type Said, say } from './http.ts';
import { expireCheckout, isCustomer, nestedOf, noCustomer, openCheckout, openPortal, pagesOf, refusal } from './processor-pages.ts';
import { ACTS, type Control, newId, now, type ProcessorAccount, pay, type SignedEvent, sign, webhookSecretOf } from './subscriptions.ts';

export const PRICES = { starter: 'price_starter', growth: 'price_growth', scale: 'price_scale' } as const;
export const PORTAL = 'bpc_plans';
/** Simulated Stripe: documented shapes of customers, subscriptions, checkout and portal, with signed events. */
export class SmallProcessor {
  readonly #accounts = new Map<string, ProcessorAccount>();
  readonly #webhookUrl: string | null;

  constructor(webhookUrl: string | null = null) {
    this.#webhookUrl = webhookUrl;
  }

  #accountOf(apiKey: string): ProcessorAccount {
    const known = this.#accounts.get(apiKey);
    if (known) return known;
    const price = (id: string, i: number) =>
      [id, { id, product: `prod_${id}`, unit_amount: [1900, 4900, 19_900][i]!, currency: 'usd' }] as const;
    const account: ProcessorAccount = {
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
    this.#accounts.set(apiKey, account);
    return account;
  }

  api({ method, url, headers, body }: Asked): Said {
    const [, apiKey] = /^Bearer (sk_test_\w+)$/.exec(headers.authorization ?? '') ?? [];
    if (apiKey === undefined) return refusal(401, 'Invalid API Key provided');
    const account = this.#accountOf(apiKey);
    const path = url.pathname.slice('/v1'.length);
    const form = fieldsOf(method === 'POST' ? body : url.search.slice(1));
    account.requests.push({ method, path, form });
    const fault = account.faults.shift();
    if (fault !== undefined) return refusal(fault, 'A fault that was asked for');
    const key = headers['idempotency-key'];
    const stored = key === undefined ? undefined : account.idempotent.get(key);
    const asked = JSON.stringify([method, path, form]);
    if (stored) return stored.asked === asked ? stored.said : refusal(400, 'Keys for idempotent requests…', { type: 'idempotency_error' });
    const said = answer(account, `${method} ${path}`, form, url.origin);
    if (key !== undefined && said.status < 500) account.idempotent.set(key, { asked, said });
    return said;
  }

  /** Serves the payment page. `?pay=1` pays and redirects back. */
  async page({ url }: Asked): Promise<Said> {
    const [, , apiKey = '', sessionId = ''] = url.pathname.split('/');
    const account = this.#accountOf(apiKey);
    const session = account.sessions.get(sessionId);
    if (!session) return say(404, '<h1>No such session</h1>');
    if (session.status !== 'open') return say(410, `<h1>This page is ${session.status}</h1>`);
    if (!url.searchParams.has('pay'))
      return say(
        200,
        `<h1>Pay ${session.price}</h1><p>No money moves here.</p><p><a href="?pay=1">Pay</a> · <a href="${session.back}">Back</a></p>`,
      );
    await this.#send(account, pay(account, session, now()));
    return goTo(session.back);
  }

  /** Test control: `POST /world/<api key>/<action>` with JSON. Returns the resulting events. */
  async control({ url, body }: Asked): Promise<Said> {
    const [, , apiKey = '', what = ''] = url.pathname.split('/');
    const account = this.#accountOf(apiKey);
    const asked = (body === '' ? {} : JSON.parse(body)) as Control;
    if (what === 'requests') return say(200, account.requests);
    if (what === 'fault') {
      account.faults.push(...Array.from({ length: asked.times ?? 1 }, () => asked.status ?? 500));
      return say(200, {});
    }
    if (what === 'without-search') {
      account.hasSearch = false;
      return say(200, {});
    }
    if (what === 'forget') {
      account.idempotent.clear();
      if (asked.customer !== undefined) account.customers.delete(asked.customer);
      return say(200, {});
    }
    if (what === 'sign') return say(200, { signature: sign(asked.secret ?? webhookSecretOf(apiKey), asked.body ?? '', asked.at ?? now()) });
    const act = ACTS[what];
    if (!act) return say(404, { error: what });
    return say(200, { events: act(account, asked, asked.at ?? now()) });
  }

  async #send({ webhookUrl }: ProcessorAccount, events: SignedEvent[]): Promise<void> {
    if (webhookUrl === null) return;
    for (const { body, signature } of events)
      await fetch(webhookUrl, { method: 'POST', headers: { 'content-type': 'application/json', 'stripe-signature': signature }, body });
  }
}

const listOf = (data: unknown[]) => ({ object: 'list', data, has_more: false, url: '/v1' });

/** Answers a call with an object id in its path. Returns null for other calls. */
function answerNamed(account: ProcessorAccount, call: string, form: Record<string, string>): Said | null {
  const [, customerId] = /^DELETE \/customers\/(\w+)$/.exec(call) ?? [];
  if (customerId) return deleteCustomer(account, customerId);
  const [, subscriptionId] = /^GET \/subscriptions\/(\w+)$/.exec(call) ?? [];
  if (subscriptionId) {
    const found = account.subscriptions.find(({ id }) => id === subscriptionId);
    return found ? say(200, found) : refusal(404, 'No such subscription');
  }
  const [, pageId] = /^POST \/checkout\/sessions\/(\w+)\/expire$/.exec(call) ?? [];
  if (pageId) return expireCheckout(account, pageId);
  const [, configurationId] = /^POST \/billing_portal\/configurations\/(\w+)$/.exec(call) ?? [];
  if (configurationId) {
    if (!account.configurations.has(configurationId)) return refusal(404, 'No such configuration');
    return say(200, savePortal(account, configurationId, form));
  }
  const [, endpointId] = /^POST \/webhook_endpoints\/(\w+)$/.exec(call) ?? [];
  if (endpointId) return account.endpoints.has(endpointId) ? say(200, account.endpoints.get(endpointId)) : refusal(404, 'No such endpoint');
  return null;
}

function answer(account: ProcessorAccount, call: string, form: Record<string, string>, origin: string): Said {
  switch (call) {
    case 'POST /customers': {
      const customer = { id: newId('cus'), object: 'customer', metadata: nestedOf(form, 'metadata') };
      account.customers.set(customer.id, customer);
      return say(200, customer);
    }
    case 'GET /customers/search': {
      if (!account.hasSearch) return refusal(400, 'Search is not available for this account');
      const [, accountId] = /^metadata\['account_id'\]:'([^']*)'$/.exec(form.query ?? '') ?? [];
      return say(200, listOf([...account.customers.values()].filter((one) => !one.deleted && one.metadata.account_id === accountId)));
    }
    case 'GET /subscriptions':
      if (form.customer !== undefined && !account.customers.has(form.customer)) return noCustomer(400, form.customer);
      return say(200, listOf(account.subscriptions.filter(({ customer }) => customer === form.customer).toReversed()));
    case 'GET /checkout/sessions':
      if (!isCustomer(account, form.customer)) return noCustomer(400, form.customer);
      return say(200, listOf(pagesOf(account, form.customer, origin)));
    case 'POST /checkout/sessions':
      return openCheckout(account, form, origin);
    case 'POST /billing_portal/sessions':
      return openPortal(account, form, origin);
    case 'GET /prices':
      return say(
        200,
        listOf([...account.prices.values()].filter(({ lookup_key }) => lookup_key !== undefined && lookup_key === form['lookup_keys[0]'])),
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
      account.prices.set(price.id, price);
      return say(200, price);
    }
    case 'GET /webhook_endpoints':
      return say(200, listOf([...account.endpoints.values()]));
    case 'POST /webhook_endpoints': {
      const endpoint = { id: newId('we'), object: 'webhook_endpoint', url: form.url! };
      account.endpoints.set(endpoint.id, endpoint);
      return say(200, { ...endpoint, secret: webhookSecretOf(account.apiKey) });
    }
    case 'GET /billing_portal/configurations':
      return say(200, listOf([...account.configurations.values()].map(({ form: _, ...shown }) => shown)));
    case 'POST /billing_portal/configurations':
      return say(200, savePortal(account, newId('bpc'), form));
    default:
      return answerNamed(account, call, form) ?? refusal(404, `Unrecognized request URL (${call})`);
  }
}

const newPortal = (id: string, form: Record<string, string>) => ({
  id,
  object: 'billing_portal.configuration',
  active: true as const,
  metadata: nestedOf(form, 'metadata'),
  form,
});

function savePortal({ configurations }: ProcessorAccount, id: string, form: Record<string, string>) {
  const stored = newPortal(id, { ...configurations.get(id)?.form, ...form });
  configurations.set(id, stored);
  return stored;
}

function deleteCustomer(account: ProcessorAccount, id: string): Said {
  const customer = account.customers.get(id);
  if (!customer || customer.deleted) return noCustomer(404, id);
  customer.deleted = true;
  for (const subscription of account.subscriptions) if (subscription.customer === id) subscription.status = 'canceled';
  return say(200, { id, object: 'customer', deleted: true });
}
