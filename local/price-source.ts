import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The feed of SOL in dollars, as Pyth numbers it. */
export const SOL_USD_FEED = 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d';
export const PRICE_PATH = `/v2/updates/price/latest?ids[]=${SOL_USD_FEED}&parsed=true`;

/** How a source answers; `answer` is for the bad days. */
export interface PriceHabit {
  price: string;
  expo: number;
  conf: string;
  ageSeconds: number;
  answer: 'price' | 'down' | 'hang' | 'garbage' | 'nothing' | 'two' | 'reset';
}

const GOOD: PriceHabit = { price: '15000000000', expo: -8, conf: '7500000', ageSeconds: 1, answer: 'price' };

export interface PriceSource {
  /** The source that is always well. `<url>/<name>` are others, each with a habit of its own: `POST <url>/<name>/_habit`. */
  url: string;
  close(): Promise<void>;
}

/** A price source on loopback that speaks the Pyth Hermes protocol: SOL at 150 dollars, unless told otherwise. */
export async function startPriceSource({ port = 0 }: { port?: number } = {}): Promise<PriceSource> {
  const habits = new Map<string, PriceHabit>();
  const server = createServer(async (request, response) => {
    const [, name = '', rest = ''] = /^\/(?:([\w-]+)\/)?((?:v2\/updates\/price\/latest|_habit))(?:\?|$)/.exec(request.url ?? '') ?? [];
    if (rest === '') return void response.writeHead(404).end();
    const habit = habits.get(name) ?? GOOD;
    if (rest === '_habit') {
      habits.set(name, { ...GOOD, ...(JSON.parse(await readText(request)) as Partial<PriceHabit>) });
      return void response.writeHead(204).end();
    }
    if (habit.answer === 'reset') return void request.socket.resetAndDestroy();
    if (habit.answer === 'hang') return;
    if (habit.answer === 'down') return void response.writeHead(503).end('price feed not available');
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(habit.answer === 'garbage' ? '<html>not today</html>' : JSON.stringify(updateOf(habit)));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function updateOf({ price, expo, conf, ageSeconds, answer }: PriceHabit): object {
  const publish_time = Math.floor(Date.now() / 1000) - ageSeconds;
  const at = { price, conf, expo, publish_time };
  const feed = {
    id: SOL_USD_FEED,
    price: at,
    ema_price: at,
    metadata: { slot: 1, proof_available_time: publish_time, prev_publish_time: publish_time - 1 },
  };
  const times = { nothing: 0, two: 2 }[answer as string] ?? 1;
  return { binary: { encoding: 'hex', data: [] }, parsed: Array.from({ length: times }, () => feed) };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
