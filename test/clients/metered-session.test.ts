// @module-tag volume
import { type Address, addSignersToInstruction, createClient, type Instruction } from '@solana/kit';
import { solanaLocalRpc } from '@solana/kit-plugin-rpc';
import { signer } from '@solana/kit-plugin-signer';
import { HttpCommitTransport, SessionConsumer, serializeSessionCredential } from '@solana/mpp/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS } from '../../worker/solana/programs/payment-channels/channel.ts';
import { topUpInstruction } from '../../worker/solana/programs/payment-channels/instructions.ts';
import { TOKEN_PROGRAM, USDC } from './chain.ts';
import { type Body, MeteredService } from './metered-service.ts';

/** A soak runs the number of uses that the protocol was designed for. Other runs use enough to show that none is refused. */
const USES = process.env.SOAK ? 1_000 : 250;
const PRICE = 7n;

describe('public session client against the service', () => {
  let service: MeteredService;
  beforeAll(async () => {
    service = await MeteredService.start();
  }, 60_000);
  afterAll(() => service.end());

  it('open, stream, top-up, commit of a merchant reservation and close leave exact balances', async () => {
    const { chain, merchantAccount } = service;
    const before = await chain.held(merchantAccount);
    const { session, wallet: buyer, client, opened } = await service.open();
    expect([opened.status, ((await opened.json()) as Body).status]).toEqual([200, 'open']);
    expect(opened.headers.has('payment-receipt')).toBe(true);

    let promised = 0n;
    for (let use = 1; use <= USES; use++) {
      promised += PRICE;
      const receipt = await client.commitCumulative(promised);
      expect(receipt).toMatchObject({ status: 'committed', cumulative: promised.toString(), amount: PRICE.toString() });
    }

    const { challenge, session: spending } = client.open!;
    const authorize = (payload: object) =>
      fetch(session.authorize_url, {
        method: 'POST',
        headers: { authorization: serializeSessionCredential({ challenge, payload: payload as never }) },
      });
    const account = {
      address: spending.channelId as Address,
      channel: { payer: buyer.address, payee: challenge.request.recipient as Address, mint: USDC, rentPayer: buyer.address },
      tokenProgram: TOKEN_PROGRAM,
    };
    const wallet = createClient()
      .use(signer(buyer.signer))
      .use(solanaLocalRpc({ rpcUrl: chain.url, rpcSubscriptionsUrl: chain.webSocketUrl as never }));
    const topUp = addSignersToInstruction([buyer.signer], topUpInstruction(CHANNEL_PROGRAMS.older, account, 50_000n) as Instruction);
    const landed = await wallet.sendTransaction([topUp]);
    const added = await authorize(spending.topUpAction(150_000n, landed.context.signature));
    expect([added.status, ((await added.json()) as Body).deposit?.base_units]).toEqual([200, '150000']);

    const metering = await service.call('POST', session.deliveries_url, { units: 10 });
    const consumer = new SessionConsumer({ session: spending, transport: new HttpCommitTransport() });
    const receipt = await consumer.accept({ payload: 'ten pieces', metering }).ack();
    promised += 10n * PRICE;
    expect(receipt).toMatchObject({ status: 'committed', cumulative: promised.toString() });

    const closed = await authorize(await spending.closeAction());
    const body = (await closed.json()) as Body;
    expect([closed.status, body.status, body.settled.base_units]).toEqual([200, 'closed', promised.toString()]);
    expect((await chain.held(merchantAccount)) - before).toBe(promised);
    expect(await chain.held(buyer.tokenAccount)).toBe(5_000_000n - promised);
  }, 60_000);
});
