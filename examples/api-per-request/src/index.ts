import { createClient } from '@paylatch/sdk';
import { protect, type SvcEnv } from '@paylatch/sdk/hono';
import { Hono, type MiddlewareHandler } from 'hono';

const FORECASTS: Record<string, string> = {
  lisbon: 'Sun, 24 °C, wind from the north.',
  bergen: 'Rain until ten, then more rain.',
  lima: 'Fog until noon, 18 °C.',
};

const client = createClient({ baseUrl: process.env.SVC_BASE_URL!, key: process.env.SVC_API_KEY! });
const paid = protect({ client, product: process.env.SVC_PRODUCT!, onError: console.error });

/** Answers 404 before anybody pays: every answer of a protected handler below 500 is a sale. */
const isKnown: MiddlewareHandler = async (c, next) => (Object.hasOwn(FORECASTS, c.req.param('city') ?? '') ? next() : c.notFound());

const app = new Hono<SvcEnv>();
app.get('/', (c) => c.json({ sells: 'GET /forecast/{city}, one payment each, over x402', cities: Object.keys(FORECASTS) }));
app.get('/forecast/:city', isKnown, paid, (c) => {
  const city = c.req.param('city');
  return c.json({ city, forecast: FORECASTS[city], paid_by: c.get('svc').payment?.payer });
});

export default app;
