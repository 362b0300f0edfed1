import { beforeAll, describe, expect, it } from 'vitest';
import { type MeteredOptions, type Piece, protect } from '../../sdk/src/fetch.ts';
import { ChannelBuyer, challengeIn, credential } from '../support/clients/metered.ts';
import { type Merchant, World } from '../support/world.ts';
import { clientOf } from './real-client.ts';

const RESOURCE = 'https://shop.test/text';
const PRICE = 10n;

interface Sse {
  event: string;
  data: string;
}
const eventsIn = (text: string): Sse[] =>
  text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => ({
      event: /^event: (.*)$/m.exec(block)?.[1] ?? 'message',
      data: [...block.matchAll(/^data: (.*)$/gm)].map(([, line]) => line).join('\n'),
    }));

describe('metered stream of protect()', () => {
  const w = new World();
  let merchant: Merchant;
  let product: string;
  beforeAll(async () => {
    merchant = await w.merchant();
    const body = { name: 'Text by the piece', price: { asset: 'USDC', amount: '1' } };
    product = (await w.call('POST', '/v1/products', { key: merchant.sandboxKey, body })).body.product_id;
  });

  async function openShop(pieces: () => AsyncIterable<Piece> | Iterable<Piece>, deposit: bigint, change: Partial<MeteredOptions> = {}) {
    const errors: unknown[] = [];
    const client = clientOf(w, merchant.sandboxKey);
    const metered = { unitPrice: '0.00001', cap: '0.001', unitsMax: 4 };
    const options = { client, product, metered, onError: (error: unknown) => errors.push(error), ...change };
    const app = protect(options, (_request, access) => access.stream(pieces()));
    const asked = await app(new Request(RESOURCE));
    const challenge = asked.headers.get('WWW-Authenticate') ?? '';
    const buyer = new ChannelBuyer();
    const authorization = asked.status === 402 ? credential(challenge, buyer.ephemeralOpen(deposit.toString())) : '';
    const ask = (header = authorization) => app(new Request(RESOURCE, { headers: { Authorization: header } }));
    let promised = 0n;
    const read = async () => {
      const answer = await ask();
      const events = eventsIn(await answer.text());
      const usage = JSON.parse(events.find(({ event }) => event === 'mpp.usage')?.data ?? 'null') as {
        amount: string;
        deliveryId: string;
      } | null;
      return { answer, events, usage };
    };
    const pay = async ({ amount, deliveryId }: { amount: string; deliveryId: string }) => {
      promised += BigInt(amount);
      return ask(credential(challenge, { action: 'commit', deliveryId, voucher: buyer.voucher(promised) }));
    };
    return { app, asked, ask, read, pay, errors, challenge, buyer };
  }
  const textPieces = (count: number): Piece[] => Array.from({ length: count }, (_, i) => `word ${i}`);
  const sent = (events: Sse[]) => events.filter(({ event }) => event === 'message').map(({ data }) => data);

  it('the stream begins with the reservation, ends with the usage, and stops at its price', async () => {
    const shop = await openShop(() => textPieces(9), 10n * PRICE);
    const { answer, events, usage } = await shop.read();
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect([answer.headers.has('Payment-Receipt'), answer.headers.get('Cache-Control')]).toEqual([true, 'private, no-store']);
    expect(events.map(({ event }) => event)).toEqual(['mpp.metering', ...Array(4).fill('message'), 'mpp.usage', 'done']);
    expect(JSON.parse(events[0]!.data)).toMatchObject({ amount: '40', sessionId: shop.buyer.channelId });
    expect(usage!.amount).toBe('40');
    expect(await (await shop.pay(usage!)).json()).toMatchObject({ status: 'committed', amount: '40' });
  });

  it('the stream is cut off at the deposit, even if earlier answers were not paid', async () => {
    const shop = await openShop(() => textPieces(9), 7n * PRICE);
    expect(sent((await shop.read()).events)).toHaveLength(4);
    expect(sent((await shop.read()).events)).toHaveLength(3);
    const over = await shop.ask();
    expect([over.status, ((await over.json()) as { code: string }).code]).toEqual([402, 'deposit_used_up']);
  });

  it('the price is the sum of the pieces, and a piece is sent complete or not at all', async () => {
    const shop = await openShop(() => [{ data: 'a\nb', units: 3 }, { data: 'c', units: 2 }, 'd'], 9n * PRICE);
    const { events, usage } = await shop.read();
    expect([sent(events), usage!.amount]).toEqual([['a\nb'], '30']);
    expect(((await (await shop.pay(usage!)).json()) as { amount: string }).amount).toBe('30');
    expect((await shop.read()).usage!.amount).toBe('30');
  });

  it('a stream that breaks off is charged for the sent pieces, and the merchant’s onError gets the error', async () => {
    const broken = function* (): Generator<Piece> {
      yield 'only';
      throw new Error('the model is away');
    };
    const shop = await openShop(broken, 9n * PRICE);
    const { events, usage } = await shop.read();
    expect([sent(events), usage!.amount, events.at(-1)!.event]).toEqual([['only'], '10', 'done']);
    expect(shop.errors).toEqual([new Error('the model is away')]);
  });

  it('the generator ends after the buyer cancels the stream', async () => {
    let isEnded = false;
    const endless = async function* (): AsyncGenerator<Piece> {
      try {
        for (;;) yield 'more';
      } finally {
        isEnded = true;
      }
    };
    const shop = await openShop(endless, 9n * PRICE);
    const reader = (await shop.ask()).body!.getReader();
    await reader.read();
    await reader.read();
    await reader.cancel();
    expect(isEnded).toBe(true);
  });

  it('a credential that does not open the session is refused with the service’s reason and a challenge', async () => {
    const shop = await openShop(() => textPieces(1), 9n * PRICE);
    const refused = await shop.ask(credential(shop.challenge, shop.buyer.ephemeralOpen('99999999')));
    expect([refused.status, ((await refused.json()) as { meta: object }).meta]).toMatchObject([402, { reason: 'exceeds-cap' }]);
    expect(challengeIn(refused.headers.get('WWW-Authenticate')!).intent).toBe('session');
  });

  it('an unpaid request that the shop does not admit gets 429 and begins no session', async () => {
    const asked: string[] = [];
    const admitUnpaid = ({ url }: Request) => asked.push(url) < 2;
    const shop = await openShop(() => textPieces(1), 9n * PRICE, { admitUnpaid });
    const refused = await shop.app(new Request(RESOURCE));
    expect([shop.asked.status, refused.status, refused.headers.get('WWW-Authenticate')]).toEqual([402, 429, null]);
    // admitUnpaid is not called for a buyer who pays.
    expect([(await shop.read()).answer.status, asked.length]).toEqual([200, 2]);
  });

  it('a closed session is answered with the challenge of a new one', async () => {
    const shop = await openShop(() => textPieces(1), 9n * PRICE);
    await shop.read();
    expect((await shop.ask(credential(shop.challenge, { action: 'close', channelId: shop.buyer.channelId }))).status).toBe(200);
    const again = await shop.ask(credential(shop.challenge, { action: 'voucher', voucher: shop.buyer.voucher(10n) }));
    expect([again.status, again.headers.get('WWW-Authenticate') !== shop.challenge]).toEqual([402, true]);
  });

  it('a stream is served only to its buyer, not to another caller who knows the channel and its challenge', async () => {
    const shop = await openShop(() => textPieces(9), 9n * PRICE);
    const [directive] = (await shop.read()).events;
    const { session_id } = JSON.parse(directive!.data) as { session_id: string };
    const asked = await w.call('POST', `/v1/access/metered-sessions/${session_id}/authorize`);
    const again = await shop.ask(credential(asked.headers.get('WWW-Authenticate')!, shop.buyer.ephemeralOpen('1')));
    expect([again.status, ((await again.json()) as { meta: object }).meta]).toMatchObject([402, { reason: 'already-open' }]);
    expect(sent((await shop.read()).events)).toHaveLength(4);
  });

  it('a session of another price is refused, and its open delivery can still be committed', async () => {
    const cheap = await openShop(() => textPieces(1), 9n * PRICE);
    const { usage } = await cheap.read();
    const dear = await openShop(() => textPieces(1), 9n * PRICE, { metered: { unitPrice: '0.0001', cap: '0.001', unitsMax: 4 } });
    const refused = await dear.ask(credential(cheap.challenge, cheap.buyer.ephemeralOpen('90')));
    expect([refused.status, refused.headers.get('WWW-Authenticate') === cheap.challenge]).toEqual([402, false]);
    const { amount, deliveryId } = usage!;
    const commit = { action: 'commit', deliveryId, voucher: cheap.buyer.voucher(BigInt(amount)) };
    expect((await dear.ask(credential(cheap.challenge, commit))).status).toBe(200);
  });

  it('announcements are forwarded to the service, and other bodies are refused with 422', async () => {
    const shop = await openShop(() => textPieces(1), 9n * PRICE);
    await shop.read();
    const announce = (body: string, method = 'POST') =>
      shop.app(new Request('https://shop.test/__402/session/deliveries', { method, ...(method === 'POST' ? { body } : {}) }));
    const said = { amount: '10', deliveryId: 'mpp-1', sessionId: shop.buyer.channelId };
    const answer = await announce(JSON.stringify(said));
    expect([answer.status, await answer.json()]).toMatchObject([
      201,
      { deliveryId: 'mpp-1', commitUrl: expect.stringContaining('/commits') },
    ]);
    expect((await announce('no json')).status).toBe(422);
    expect((await announce(JSON.stringify({ ...said, deliveryId: 'x'.repeat(9_000) }))).status).toBe(422);
    expect((await announce('', 'GET')).status).toBe(422);
  });

  it('an unreachable service answers 503 access_unavailable, and the merchant’s onError gets the error', async () => {
    const shop = await openShop(() => textPieces(1), 9n * PRICE, {
      client: clientOf(w, merchant.sandboxKey, async () => Promise.reject(new Error('away'))),
    });
    expect([shop.asked.status, ((await shop.asked.json()) as { code: string }).code]).toEqual([503, 'access_unavailable']);
    expect(shop.errors).toHaveLength(1);
  });
});
