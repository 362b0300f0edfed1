import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createPaymentChannelSessionOpener } from '@solana/mpp/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient } from '../../sdk/src/api/client.ts';
import { MeteredService } from './metered-service.ts';
import { TextReader } from './text-reader.ts';
import { openTextShop } from './text-shop.ts';

const PIECE_PRICE = 7n;

describe('text server priced by the piece', () => {
  let service: MeteredService;
  let server: Server;
  let url: string;
  const errors: unknown[] = [];
  beforeAll(async () => {
    service = await MeteredService.start();
    const client = createClient({ baseUrl: service.baseUrl, key: service.key });
    server = openTextShop(client, service.productId, (error) => errors.push(error));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/text?about=solana`;
  }, 60_000);
  afterAll(async () => {
    server.close().closeAllConnections();
    await service.end();
  });

  it('streaming stops when the deposit is used up, and the channel settles for exactly the text that was read', async () => {
    const { chain } = service;
    const before = await chain.held(service.merchantAccount);
    const wallet = await chain.openWallet(5_000_000n);
    // A deposit for 100 pieces: two full answers and half of a third.
    const reader = new TextReader(
      createPaymentChannelSessionOpener({ signer: wallet.signer, deposit: 100n * PIECE_PRICE, rpcUrl: chain.url }),
    );
    const lengths: number[] = [];
    for (const expected of [40, 80, 100]) {
      const { status, pieces, receipt } = await reader.read(url);
      lengths.push(pieces.length);
      expect([status, pieces[0], receipt?.cumulative]).toEqual([200, 'solana-1', (BigInt(expected) * PIECE_PRICE).toString()]);
    }
    expect(lengths).toEqual([40, 40, 20]);
    const over = await reader.read(url);
    expect([over.status, over.pieces]).toEqual([402, []]);

    // The client's announcements go to the service through the shop, the address that the client uses.
    const announced = await fetch(new URL('/__402/session/deliveries', url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount: '1', deliveryId: 'one-more', sessionId: reader.client.session!.channelId }),
    });
    expect([announced.status, (await announced.json()) as object]).toMatchObject([409, { meta: { reason: 'exceeds-deposit' } }]);

    const closed = await fetch(url, { headers: { authorization: reader.credentialOf(await reader.client.session!.closeAction()) } });
    expect(((await closed.json()) as { status: string }).status).toBe('closed');
    expect((await chain.held(service.merchantAccount)) - before).toBe(100n * PIECE_PRICE);
    expect(await chain.held(wallet.tokenAccount)).toBe(5_000_000n - 100n * PIECE_PRICE);
    expect(errors).toEqual([]);
  });

  it('a request without a session gets 402, and a credential of another product opens none', async () => {
    const asked = await fetch(url);
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([402, expect.stringMatching(/^Payment .*intent="session"/)]);
    const { session } = await service.open();
    const foreign = session.challenge.header as string;
    const request = /request="([^"]+)"/.exec(foreign)![1]!;
    const credential = Buffer.from(JSON.stringify({ challenge: { request }, payload: { action: 'open' } })).toString('base64url');
    for (const authorization of [`Payment ${credential}`, 'Payment garbage', 'Bearer of-the-app'])
      expect((await fetch(url, { headers: { authorization } })).status).toBe(402);
    expect(errors).toEqual([]);
  });
});
