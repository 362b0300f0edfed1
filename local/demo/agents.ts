import { randomUUID } from 'node:crypto';
import { type ServerType, serve } from '@hono/node-server';
import type { KeyPairSigner } from '@solana/kit';
import { createSIWxClientExtension, type SIWxSigner } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment, x402Client, x402HTTPClient } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { Hono } from 'hono';
import { protect, type SvcEnv } from '../../sdk/src/hono.ts';
import { createClient } from '../../sdk/src/index.ts';
import type { Teardown } from '../cli/teardown.ts';
import { check } from './narrator.ts';
import { inUsdc } from './purchase.ts';
import type { DemoContext, Shop } from './shop.ts';

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const DOUBLED = 5;

interface Product {
  product_id: string;
  price: { amount: string; base_units: string };
}

interface WeatherApi {
  url: string;
  served(): number;
}

/** Demonstrates a merchant's API, an agent with only the public client, and three failed attempts to be served without paying. */
export async function sellPerRequest(demo: DemoContext, shop: Shop, teardown: Teardown): Promise<void> {
  const { api, chain, narrator } = demo;
  narrator.step('Ada sells single calls of her API to agents, 0.05 USDC each');
  const sell = (name: string, amount: string, usage_units: number) =>
    api.must<Product>('POST', '/v1/products', {
      credential: shop.key,
      body: { name, price: { asset: 'USDC', amount }, usage_units, payout_wallet: shop.payoutWallet, live_mode_confirmed: true },
    });
  const product = await sell('Forecast, one call', '0.05', 1);
  const report = await sell('Reports, three', '0.12', 3);
  const weather = await startWeatherApi(api.baseUrl, shop.key, { forecast: product.product_id, report: report.product_id }, teardown);
  narrator.fact('protected', `${weather.url}, by protect() before the route`);
  const bare = await fetch(weather.url);
  const [accepted] = challengeOf(bare).accepts;
  check(bare.status === 402 && accepted?.amount === product.price.base_units, `A bare call was answered ${bare.status}`);
  narrator.proven(`A bare call is answered 402, with a challenge for ${accepted.amount} base units to ${accepted.payTo.slice(0, 8)}….`);

  narrator.step('An agent calls it with an unmodified @x402/fetch');
  const agent = await chain.newBuyer(1_000_000n);
  const before = await chain.balanceOf(shop.payoutWallet, USDC);
  const { response, payment } = await callAsAgent(agent, chain.url, weather.url);
  const forecast = (await response.json()) as { forecast: string };
  check(response.status === 200 && weather.served() === 1, `The agent was answered ${response.status}`);
  const earned = (await chain.balanceOf(shop.payoutWallet, USDC)) - before;
  check(earned === BigInt(product.price.base_units), `Ada got ${earned}`);
  narrator.fact('forecast', forecast.forecast);
  narrator.proven(`402, paid, served. Ada has ${inUsdc(earned)} more, the agent paid no network fee, and nobody held anybody's money.`);

  narrator.step('Somebody sends the same payment again');
  const replayed = await fetch(weather.url, { headers: { 'PAYMENT-SIGNATURE': payment } });
  await replayed.body?.cancel();
  check(replayed.status >= 400 && weather.served() === 1, `The replay was answered ${replayed.status}`);
  narrator.proven(`Refused: ${replayed.status}. The API ran once.`);

  narrator.step(`The next payment is sent ${DOUBLED} times at once`);
  const fresh = await payFor(agent, chain.url, await fetch(weather.url));
  const answers = await Promise.all(Array.from({ length: DOUBLED }, () => fetch(weather.url, { headers: { 'PAYMENT-SIGNATURE': fresh } })));
  const statuses = answers.map(({ status }) => status).sort();
  check(statuses.filter((status) => status === 200).length === 1 && weather.served() === 2, `They were answered ${statuses.join(', ')}`);
  narrator.proven(`Answered ${statuses.join(', ')}: one payment, one forecast.`);

  narrator.step('And one is tampered with on the way');
  const tampered = tamper(await payFor(agent, chain.url, await fetch(weather.url)));
  const refused = await fetch(weather.url, { headers: { 'PAYMENT-SIGNATURE': tampered } });
  check(refused.status === 402 && weather.served() === 2, `The tampered payment was answered ${refused.status}`);
  narrator.proven(`Refused: ${refused.status} (${challengeOf(refused).error}), with a fresh challenge. Nothing was sent to the chain.`);

  await comeBack(demo, shop, { agent, weather, report });
}

/** Demonstrates a wallet that buys three reports at once and comes back for two of them by signing. */
async function comeBack(
  { api, chain, narrator }: DemoContext,
  shop: Shop,
  { agent, weather, report }: { agent: KeyPairSigner; weather: WeatherApi; report: Product },
): Promise<void> {
  narrator.step('The agent buys three reports at once, and comes back by signing');
  const url = new URL('/report', weather.url);
  await api.must('PUT', '/v1/access/rail-settings/x402_solana_usdc', {
    credential: shop.key,
    body: { origins: [url.origin] },
    idempotencyKey: randomUUID(),
  });
  const before = await chain.balanceOf(shop.payoutWallet, USDC);
  // The signer of @solana/kit types its messages more strictly.
  const extension = createSIWxClientExtension({ signers: [agent as unknown as SIWxSigner] });
  const call = wrapFetchWithPayment(fetch, clientOf(agent, chain.url).registerExtension(extension));
  const left: number[] = [];
  for (let i = 0; i < 3; i++) {
    const answer = await call(url);
    check(answer.status === 200, `Report ${i + 1} was answered ${answer.status}`);
    left.push(((await answer.json()) as { units_left: number }).units_left);
  }
  const earned = (await chain.balanceOf(shop.payoutWallet, USDC)) - before;
  check(earned === BigInt(report.price.base_units) && left.join() === '2,1,0', `Ada got ${earned}, and ${left.join()} were left`);
  narrator.proven(
    `Three reports, ${inUsdc(earned)} once: the first call paid, the other two signed a text. Left after each: ${left.join(', ')}.`,
  );
}

/** Merchant's code: one middleware before each expensive handler. */
async function startWeatherApi(
  baseUrl: string,
  key: string,
  products: { forecast: string; report: string },
  teardown: Teardown,
): Promise<WeatherApi> {
  let served = 0;
  const client = createClient({ baseUrl, key });
  const app = new Hono<SvcEnv>();
  app.get('/forecast', protect({ client, product: products.forecast }), (c) => {
    served++;
    return c.json({ forecast: 'Fog until ten, then sun.', units_left: c.get('svc').remaining });
  });
  app.get('/report', protect({ client, product: products.report }), (c) =>
    c.json({ report: 'A dry week.', units_left: c.get('svc').remaining }),
  );
  const server = await new Promise<ServerType>((resolve) => {
    const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(started));
  });
  teardown.defer(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The sample API has no port');
  return { url: `http://127.0.0.1:${address.port}/forecast`, served: () => served };
}

const clientOf = (agent: KeyPairSigner, rpcUrl: string) => new x402Client().register(DEVNET, new ExactSvmScheme(agent, { rpcUrl }));

/** Pays with the public client and records the sent payment for replay attempts. */
async function callAsAgent(agent: KeyPairSigner, rpcUrl: string, url: string): Promise<{ response: Response; payment: string }> {
  let payment = '';
  const watched: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    payment = request.headers.get('PAYMENT-SIGNATURE') ?? payment;
    return fetch(request);
  };
  const response = await wrapFetchWithPayment(watched, clientOf(agent, rpcUrl))(url);
  return { response, payment };
}

const challengeOf = (response: Response) =>
  new x402HTTPClient(new x402Client()).getPaymentRequiredResponse((name) => response.headers.get(name));

async function payFor(agent: KeyPairSigner, rpcUrl: string, refused: Response): Promise<string> {
  const http = new x402HTTPClient(clientOf(agent, rpcUrl));
  const payload = await http.createPaymentPayload(challengeOf(refused));
  return http.encodePaymentSignatureHeader(payload)['PAYMENT-SIGNATURE'] ?? '';
}

function tamper(payment: string): string {
  const payload = JSON.parse(Buffer.from(payment, 'base64').toString('utf8')) as { accepted: { amount: string } };
  payload.accepted.amount = String(BigInt(payload.accepted.amount) / 2n);
  return Buffer.from(JSON.stringify(payload)).toString('base64');
}
