import type { Signature } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { collectionsIn } from '#solana/programs/subscriptions/collected.ts';
import { cancelInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { parseTransaction, type RpcTransaction } from '#solana/transaction.ts';
import { deriveTokenAddress, USDC } from '../chain/wallets.ts';
import { openProgramChain, type ProgramChain, useServer } from './program-chain.ts';
import { DAY, openSubscription, PRICE } from './subscription-world.ts';

const server = useServer();

async function readTransaction(on: ProgramChain, signature: Signature) {
  const options = { encoding: 'json', commitment: 'confirmed', maxSupportedTransactionVersion: 0 };
  return parseTransaction(signature, await on.chain.result<RpcTransaction>('getTransaction', signature, options));
}

describe('collection events of the program', () => {
  it('the event names the paid period, the puller and the receiver', async () => {
    const world = await openSubscription(await openProgramChain(server()));
    const { on, people, subscription, plan } = world;
    const began = (await world.readSubscription()).currentPeriodStartTs;
    const first = await on.send(world.collecting());
    await on.warp(3n * DAY);
    const byOwner = await on.send(world.collecting(PRICE, { puller: people.merchant.address }));
    const wanted = {
      subscription,
      plan,
      subscriber: people.buyer.address,
      mint: USDC,
      amount: PRICE,
      amountPulledInPeriod: PRICE,
      receiver: people.merchant.address,
      receiverTokenAccount: await deriveTokenAddress(people.merchant.address),
    };
    expect(collectionsIn(await readTransaction(on, first), subscription)).toEqual([
      { ...wanted, periodStartTs: began, periodEndTs: began + DAY, puller: people.puller.address },
    ]);
    expect(collectionsIn(await readTransaction(on, byOwner), subscription)).toEqual([
      { ...wanted, periodStartTs: began + 3n * DAY, periodEndTs: began + 4n * DAY, puller: people.merchant.address },
    ]);
  });

  it('events of other subscriptions, failed transactions and other instructions are ignored', async () => {
    const on = await openProgramChain(server());
    const [world, other] = [await openSubscription(on), await openSubscription(on)];
    const both = await readTransaction(on, await on.send(world.collecting(), other.collecting(1n)));
    expect(collectionsIn(both, other.subscription).map(({ amount }) => amount)).toEqual([1n]);
    const refused = await readTransaction(on, await on.land(world.collecting()));
    expect([refused.failed, collectionsIn(refused, world.subscription)]).toEqual([true, []]);
    const cancelled = await readTransaction(on, await on.send(cancelInstruction(world.parties)));
    expect([cancelled.events.length, collectionsIn(cancelled, world.subscription)]).toEqual([1, []]);
  });
});
