import { SmallProcessor } from '../../../outside/processor.ts';

const API_KEY = 'sk_test_simulated';

/** Price of earlier times, for which subscriptions still run. */
const FORMER_PRICE = 'price_starter';
export const FORMER_PLAN = 'starter';

/** Deployment variables for card payments, after a rise of one price. */
export const PROCESSOR_SETTINGS = (host: string): Readonly<Record<string, string>> => ({
  PROCESSOR_API_KEY: API_KEY,
  PROCESSOR_API_URL: `https://${host}`,
  PROCESSOR_WEBHOOK_SECRETS: `whsec_of_${API_KEY}`,
  PROCESSOR_PRICE_STARTER: `price_starter_of_today,${FORMER_PRICE}`,
  PROCESSOR_PRICE_GROWTH: 'price_growth',
  PROCESSOR_PRICE_SCALE: 'price_scale',
  PROCESSOR_PORTAL_CONFIGURATION: 'bpc_plans',
});

interface Call {
  method: string;
  path: string;
  form: Record<string, string>;
}

/** Payment processor for cards. It sends no events, so that the service has to ask. */
export class CardProcessor {
  readonly #processor = new SmallProcessor();

  async answer(request: Request): Promise<Response> {
    const { status, body } = this.#processor.api({
      method: request.method,
      url: new URL(request.url),
      headers: Object.fromEntries(request.headers),
      body: await request.text(),
    });
    return Response.json(body ?? null, { status });
  }

  /** Makes the customer of the last checkout a subscriber at a price of earlier times. False if there was none. */
  async subscribe(): Promise<boolean> {
    const { body: calls } = await this.#control('requests', {});
    const checkout = (calls as Call[]).findLast(({ method, path }) => method === 'POST' && path === '/checkout/sessions');
    if (checkout?.form.customer === undefined) return false;
    const { status } = await this.#control('buy', { customer: checkout.form.customer, price: FORMER_PRICE });
    return status === 200;
  }

  #control(what: string, asked: object) {
    const url = new URL(`https://processor/world/${API_KEY}/${what}`);
    return this.#processor.control({ method: 'POST', url, headers: {}, body: JSON.stringify(asked) });
  }
}
