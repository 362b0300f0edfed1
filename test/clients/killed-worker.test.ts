// @module-tag volume
import { setTimeout as sleep } from 'node:timers/promises';
import { serializeSessionCredential } from '@solana/mpp/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Body, type MeteredBuyer, MeteredService, untilAnswered } from './metered-service.ts';

/** `SOAK_USES` shortens the sessions of a soak on a slow machine. */
const [SESSIONS, USES, KILLS] = process.env.SOAK ? [64, Number(process.env.SOAK_USES ?? 1_000), 5] : [16, 200, 2];

/** Every use makes two calls through three processes on a shared processor. */
const TEST_MS = process.env.SOAK ? 3_600_000 : 300_000;

const priceOf = (use: number): bigint => 1n + BigInt((use * 7) % 11);

class Stream {
  readonly buyer: MeteredBuyer;
  acknowledged = 0n;
  uses = 0;

  constructor(buyer: MeteredBuyer) {
    this.buyer = buyer;
  }

  async run(): Promise<void> {
    while (this.uses < USES) {
      const price = priceOf(this.uses);
      const receipt = await this.buyer.client.commitCumulative(this.acknowledged + price);
      // A service that lost an acknowledged voucher would announce a higher total here.
      expect(receipt).toMatchObject({ amount: price.toString(), cumulative: (this.acknowledged + price).toString() });
      this.acknowledged += price;
      this.uses += 1;
    }
  }

  authorize(payload: object): Promise<Response> {
    const { challenge } = this.buyer.client.open!;
    const authorization = serializeSessionCredential({ challenge, payload: payload as never });
    return untilAnswered(this.buyer.session.authorize_url, { method: 'POST', headers: { authorization } });
  }
}

describe(`${SESSIONS} metered sessions of ${USES} uses each while the worker is killed ${KILLS} times`, () => {
  let service: MeteredService;
  const streams: Stream[] = [];
  beforeAll(async () => {
    service = await MeteredService.start();
    for (let one = 0; one < SESSIONS; one++) streams.push(new Stream(await service.open()));
  }, TEST_MS);
  afterAll(() => service.end());

  const killWhileTheyStream = async (): Promise<void> => {
    for (let kill = 1; kill <= KILLS; kill++) {
      const uses = () => streams.reduce((sum, stream) => sum + stream.uses, 0);
      while (uses() < (SESSIONS * USES * kill) / (KILLS + 1)) await sleep(1);
      const { restarts } = service.dev;
      service.dev.kill('worker');
      while (service.dev.restarts === restarts) await sleep(5);
    }
  };

  it(
    'no acknowledged voucher is lost or applied twice, and the chain pays exactly the highest one of each session',
    async () => {
      const before = await service.chain.held(service.merchantAccount);
      await Promise.all([killWhileTheyStream(), ...streams.map((stream) => stream.run())]);
      expect(service.dev.restarts).toBe(KILLS);

      const promised = Array.from({ length: USES }, (_, use) => priceOf(use)).reduce((sum, price) => sum + price, 0n);
      for (const stream of streams) {
        const { session, wallet, client } = stream.buyer;
        const counted = await service.call('GET', `/v1/access/metered-sessions/${session.session_id}`);
        expect([stream.acknowledged, counted.cumulative.base_units]).toEqual([promised, promised.toString()]);
        const closed = await stream.authorize(await client.session!.closeAction());
        expect([closed.status, ((await closed.json()) as Body).settled.base_units]).toEqual([200, promised.toString()]);
        expect(await service.chain.held(wallet.tokenAccount)).toBe(5_000_000n - promised);
      }
      expect((await service.chain.held(service.merchantAccount)) - before).toBe(promised * BigInt(SESSIONS));
    },
    TEST_MS,
  );
});
