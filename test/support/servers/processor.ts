import { testEnv } from '../runner/env.ts';
import type { Answer, CallOptions, Merchant, World } from '../world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

export interface SignedEvent {
  id: string;
  type: string;
  body: string;
  signature: string;
}

export class TestProcessor {
  readonly #w: World;
  readonly #apiKey: string;

  constructor(w: World) {
    this.#w = w;
    this.#apiKey = w.env.PROCESSOR_API_KEY as string;
  }

  async #ask(what: string, asked: object): Promise<Body> {
    const response = await fetch(`${testEnv.TEST_OUTSIDE_URL}/world/${this.#apiKey}/${what}`, {
      method: 'POST',
      body: JSON.stringify(asked),
    });
    return response.json();
  }

  /** Performs an action. The resulting events are returned and not delivered. */
  async act(what: string, asked: object): Promise<SignedEvent[]> {
    return (await this.#ask(what, asked)).events;
  }

  readonly requests = (): Promise<{ method: string; path: string; form: Record<string, string> }[]> => this.#ask('requests', {});
  readonly fault = (times: number, status = 500): Promise<unknown> => this.#ask('fault', { times, status });
  /** Drops the idempotency keys, as after a day, and a customer, as if another account's key were used. */
  readonly forget = (customer?: string): Promise<unknown> => this.#ask('forget', { customer });
  /** Turns search off, as in some countries. */
  readonly refuseSearch = (): Promise<unknown> => this.#ask('without-search', {});
  readonly #call = async (method: string, path: string, body?: Record<string, string>): Promise<Body> =>
    (
      await fetch(`${testEnv.TEST_OUTSIDE_URL}/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${this.#apiKey}` },
        ...(body ? { body: new URLSearchParams(body) } : {}),
      })
    ).json();
  readonly pages = async (customer: string): Promise<Body[]> => (await this.#call('GET', `/checkout/sessions?customer=${customer}`)).data;
  readonly openPages = async (customer: string): Promise<Body[]> =>
    (await this.pages(customer)).filter(({ status }: Body) => status === 'open');
  readonly expire = (page: string): Promise<unknown> => this.#call('POST', `/checkout/sessions/${page}/expire`);
  readonly subscriptions = async (customer: string): Promise<Body[]> =>
    (await this.#call('GET', `/subscriptions?customer=${customer}`)).data;
  readonly newPrice = async (lookup_key: string): Promise<string> =>
    (await this.#call('POST', '/prices', { lookup_key, product: 'prod_1', unit_amount: '5900', currency: 'usd' })).id;
  readonly deleteCustomer = (customer: string): Promise<unknown> => this.#call('DELETE', `/customers/${customer}`);
  readonly sign = async (asked: { body: string; secret?: string; at?: number }): Promise<string> =>
    (await this.#ask('sign', asked)).signature;

  deliver({ body, signature }: SignedEvent, options: CallOptions & { header?: string } = {}): Promise<Answer<Body>> {
    const { header = 'Stripe-Signature', ...rest } = options;
    return this.#w.call('POST', '/v1/billing/webhooks/processor', { raw: body, headers: { [header]: signature }, ...rest });
  }

  /** Buys a plan from the call to the payment. Returns the following events, the subscription and the customer. */
  async buy(merchant: Merchant, plan: string): Promise<{ events: SignedEvent[]; subscription: string; customer: string }> {
    const { status, body } = await this.#w.call('POST', '/v1/billing/checkout/processor', { key: merchant.token, body: { plan } });
    if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
    const events = await this.act('pay', { session: body.checkout_url.split('/').at(-1) });
    const { customer, subscription } = JSON.parse(events[0]!.body).data.object;
    return { events, customer, subscription };
  }
}

export const billing = async (w: World, merchant: Merchant): Promise<Body> =>
  (await w.call('GET', '/v1/billing/summary', { key: merchant.token })).body;
