import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from '@hono/node-server';
import { createClient } from '@paylatch/sdk';
import { protect, type SvcMeteredEnv } from '@paylatch/sdk/hono';
import { Hono } from 'hono';

const client = createClient({ baseUrl: process.env.SVC_BASE_URL!, key: process.env.SVC_API_KEY! });
// A token costs 0.000002 USDC. One answer has at most 200, and a buyer who never pays has read one answer.
const metered = { unitPrice: '0.000002', cap: '0.10', unitsMax: 200 };
const paid = protect({ client, product: process.env.SVC_PRODUCT!, metered, onError: console.error });
const sessions = new Set<string>();

/** Your model goes here. It yields one token after another. */
async function* writeAbout(subject: string): AsyncGenerator<string> {
  for (const word of `${subject} is what this text is about, and each of its words is paid for.`.split(/(?<= )/)) {
    await sleep(5);
    yield word;
  }
}

const app = new Hono<SvcMeteredEnv>();
app.get('/', (c) => c.json({ sells: 'GET /write/{subject}, by the token', usdc_per_token: metered.unitPrice }));
// Buyers' clients announce their payments here.
app.post('/__402/session/deliveries', paid);
app.get('/write/:subject', paid, (c) => {
  const { session, stream } = c.get('svc');
  sessions.add(session.session_id);
  return stream(writeAbout(c.req.param('subject')));
});
const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });

/** Closes a session and waits until the chain has settled its highest voucher. */
async function closeSession(id: string): Promise<void> {
  let session = await client.meteredSessions.close(id);
  while (session.status === 'closing') {
    await sleep(500);
    session = await client.meteredSessions.get(id);
  }
  console.log(`Closed ${id}: ${session.settled.amount} ${session.settled.asset} settled, the rest is back with the buyer.`);
}

// The service closes sessions that are idle for an hour. A seller that ends need not wait.
async function end(): Promise<void> {
  server.close();
  await Promise.all([...sessions].map(closeSession));
}
process.once('SIGTERM', end).once('SIGINT', end);
