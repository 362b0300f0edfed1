import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

const SOL_USD_FEED = 'ef0d8b6fda2ceba41da15d4095d1da392a0d2f8ed0c6c7bc0f4cfac8c280b56d';
const BTC_USD_FEED = 'e62df6c8b4a85fe1a67db44dc12de5db330f7ac66b72dc658afedf0f4a415b43';
export const PRICE_PATH = `/v2/updates/price/latest?ids[]=${SOL_USD_FEED}&parsed=true`;

/** Behaviour of a source. `answer` simulates failures. `id` defaults to the requested feed, `ema` to the price. */
export interface PriceHabit {
  id?: string | null;
  price: string;
  ema?: string | null;
  expo: number;
  conf: string;
  ageSeconds: number;
  answer: 'price' | 'down' | 'hang' | 'garbage' | 'nothing' | 'two' | 'more' | 'reset';
}

const GOOD: PriceHabit = { price: '15000000000', expo: -8, conf: '7500000', ageSeconds: 1, answer: 'price' };

interface PriceSource {
  /** Source that always works. `<url>/<name>` are others with their own behaviour: `POST <url>/<name>/_habit`. */
  url: string;
  close(): Promise<void>;
}

/** Starts a loopback price source with the Pyth Hermes protocol, SOL at 150 dollars by default. */
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
    response.end(habit.answer === 'garbage' ? '<html>not today</html>' : JSON.stringify(updateOf(habit, feedOf(request.url))));
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

const feedOf = (path = ''): string => new URL(path, 'http://localhost').searchParams.get('ids[]') ?? SOL_USD_FEED;

function updateOf({ id, price, ema, expo, conf, ageSeconds, answer }: PriceHabit, asked: string): object {
  const publish_time = Math.floor(Date.now() / 1000) - ageSeconds;
  const at = { price, conf, expo, publish_time };
  const feed = {
    ...(id === null ? {} : { id: id ?? asked }),
    price: at,
    ...(ema === null ? {} : { ema_price: { ...at, price: ema ?? price } }),
    metadata: { slot: 1, proof_available_time: publish_time, prev_publish_time: publish_time - 1 },
  };
  const bitcoin = { ...feed, id: BTC_USD_FEED, price: { ...at, price: '10000000000000' } };
  const parsed = { nothing: [], two: [feed, feed], more: [bitcoin, feed] }[answer as string] ?? [feed];
  return { binary: { encoding: 'hex', data: [] }, parsed };
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}
