import type { Address } from '@solana/kit';
import { getApproveInstruction, getRevokeInstruction } from '@solana-program/token';
import { beforeAll, describe, expect, it } from 'vitest';
import { hex } from '#core/encoding.ts';
import { addressSeed, u64Seed } from '#solana/programs/derived-address.ts';
import { createPlanInstruction, deletePlanInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { COLLECT } from '#solana/programs/subscriptions/layouts.ts';
import { encodeSubscription, SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { deriveTokenAddress, newAddress, transferUsdc, USDC } from '../chain/wallets.ts';
import { itRefuses, openProgramChain, type ProgramChain, readOnly, shorter, swap, unsigned, useServer, withData } from './program-chain.ts';
import { BALANCE, DAY, openSubscription, PRICE, preparePlan, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();
const stranger = newAddress();
const INSUFFICIENT = 1;
const NO_APPROVAL = 4;
const FROZEN = 17;

describe('transferSubscription', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    world = await openSubscription(on);
  });
  const built = () => world.collecting();

  it('a collection moves the amount from the buyer to the merchant only and writes an event', async () => {
    const made = await openSubscription(on);
    const start = await on.now();
    await on.warp(10);
    const signature = await on.send(made.collecting(30n));
    expect(await made.held()).toEqual([BALANCE - 30n, 30n]);
    expect(await made.readSubscription()).toMatchObject({ amountPulledInPeriod: 30n, currentPeriodStartTs: start });
    const { buyer, merchant, puller } = made.people;
    const numbers = [30n, start, start + DAY, 30n].flatMap((value) => [...u64Seed(value)]);
    const parties = [made.subscription, made.plan, buyer.address, USDC].flatMap((address) => [...addressSeed(address)]);
    const receivers = [merchant.address, await deriveTokenAddress(merchant.address), puller.address].flatMap((address) => [
      ...addressSeed(address),
    ]);
    const event = Uint8Array.of(...hex.decode('e445a52e51cb9a1d02'), ...parties, ...numbers, ...receivers);
    expect(await on.eventsOf(signature, SUBSCRIPTIONS_PROGRAM)).toEqual([event]);
  });

  it('owner and pullers collect in parts up to the price, and again from the first second of the next period', async () => {
    const made = await openSubscription(on);
    await made.collect(PRICE - 1n);
    expect(await on.judge(made.collecting(2n))).toBe(400);
    await on.send(made.collecting(1n, { puller: made.people.merchant.address }));
    expect(await on.judge(made.collecting(1n))).toBe(400);
    await on.warp(DAY - 1n);
    expect(await on.judge(made.collecting(1n))).toBe(400);
    await on.warp(1);
    await made.collect();
    expect(await made.held()).toEqual([BALANCE - 2n * PRICE, 2n * PRICE]);
  });

  it('past periods are never collected', async () => {
    const made = await openSubscription(on);
    const { currentPeriodStartTs: start } = await made.readSubscription();
    await on.warp(5n * DAY + 7n);
    expect(await on.judge(made.collecting(PRICE + 1n))).toBe(400);
    await made.collect();
    expect((await made.readSubscription()).currentPeriodStartTs).toBe(start + 5n * DAY);
    expect(await on.judge(made.collecting(1n))).toBe(400);
  });

  it('the last second of a plan allows the rest of its last period, and nothing after it', async () => {
    const made = await openSubscription(on, { endTs: (await on.now()) + 2n * DAY });
    await made.collect();
    await on.warp(2n * DAY);
    // The last second of the plan would start a third period and belongs to the second.
    await made.collect();
    expect(await on.judge(made.collecting(1n))).toBe(400);
    await on.warp(1);
    expect(await on.judge(made.collecting(1n))).toBe(501);
    expect(await made.held()).toEqual([BALANCE - 2n * PRICE, 2n * PRICE]);
  });

  it('a cancellation ends collection at its second', async () => {
    const made = await openSubscription(on);
    await made.cancel();
    await on.warp(DAY - 1n);
    expect(await on.judge(made.collecting())).toBe('accepted');
    await on.warp(1);
    expect(await on.judge(made.collecting())).toBe(508);
  });

  it('a plan without destinations pays any wallet, and otherwise only those listed', async () => {
    const { sponsor } = world.people;
    await on.chain.result('local_fundUsdc', sponsor.address, '0');
    expect(await on.judge(world.collecting(PRICE, { receiver: sponsor.address }))).toBe(506);
    const free = await openSubscription(on, { destinations: [] });
    await on.send(free.collecting(PRICE, { receiver: sponsor.address }));
    expect(await on.usdcOf(sponsor.address)).toBe(PRICE);
  });

  itRefuses(() => world, {
    'a byte too few': [() => withData(built(), built().data!.slice(0, -1)), 112],
    'an account too few': [() => shorter(built()), 113],
    'what is no account of the program': [async () => swap(built(), COLLECT, 'subscription', await stranger), 'InvalidAccountOwner'],
    'an account of another kind': [() => swap(built(), COLLECT, 'subscription', world.plan), 117],
    'a subscription that cannot be written': [() => readOnly(built(), COLLECT, 'subscription'), 131],
    'a plan that is not there': [async () => swap(built(), COLLECT, 'plan', await stranger), 516],
    'an authority that is not there': [async () => swap(built(), COLLECT, 'authority', await stranger), 103],
    'an authority of another kind': [() => swap(built(), COLLECT, 'authority', world.plan), 111],
    'a token account that cannot be written': [() => readOnly(built(), COLLECT, 'receiverTokenAccount'), 131],
    'a puller who does not sign': [() => unsigned(built(), COLLECT, 'puller'), 100],
    'a puller whom the plan does not name': [() => world.collecting(PRICE, { puller: world.people.sponsor.address }), 130],
    'another token program': [() => swap(built(), COLLECT, 'tokenProgram', TOKEN_2022_PROGRAM), 105],
    'a mint that is none': [async () => swap(built(), COLLECT, 'mint', await stranger), 109],
    'a receiver that is no token account': [async () => swap(built(), COLLECT, 'receiverTokenAccount', await stranger), 110],
    'nothing to collect': [() => world.collecting(0n), 129],
    'another mint in its arguments': [async () => withArgument(41, await stranger), 125],
    'another subscriber in its arguments': [async () => withArgument(9, await stranger), 130],
    "somebody else's token account": [
      async () => swap(built(), COLLECT, 'subscriberTokenAccount', await deriveTokenAddress(world.people.merchant.address)),
      130,
    ],
    'another event authority': [async () => swap(built(), COLLECT, 'eventAuthority', await stranger), 600],
    'another program for its event': [() => swap(built(), COLLECT, 'program', TOKEN_PROGRAM), 604],
    'a subscription of a version to come': [() => madeWith((data) => data.with(1, 2)), 133],
    'a subscription of a version that was': [() => madeWith((data) => data.with(1, 0)), 134],
    'a subscription that starts later': [async () => madeFrom({ currentPeriodStartTs: (await on.now()) + 1n }), 407],
    'a subscription to another plan': [async () => madeFrom({ plan: await stranger }), 505],
    'a subscription under other terms': [() => madeFrom({ amount: 1n }), 519],
  });

  const withArgument = (offset: number, address: Address) => {
    const data = Uint8Array.from(built().data!);
    data.set(addressSeed(address), offset);
    return withData(built(), data);
  };
  /** Collects from an account with bytes that the program itself never writes. */
  const madeWith = async (change: (data: Uint8Array) => Uint8Array) => {
    const address = await newAddress();
    on.put(address, SUBSCRIPTIONS_PROGRAM, change((await on.dataOf(world.subscription))!));
    return swap(built(), COLLECT, 'subscription', address);
  };
  const madeFrom = async (changes: object) => {
    const stored = await world.readSubscription();
    return madeWith(() => encodeSubscription({ ...stored, ...changes }));
  };

  it('a foreign authority and a receiver of another mint are refused', async () => {
    const other = await (await preparePlan(on)).authorize();
    expect(await on.judge(swap(built(), COLLECT, 'authority', other.authority))).toBe(126);
    const free = await openSubscription(on, { destinations: [] });
    const foreign = (await on.chain.result('local_fundToken', await newAddress(), world.people.merchant.address, '0')) as Address;
    expect(await on.judge(swap(free.collecting(), COLLECT, 'receiverTokenAccount', foreign))).toBe(125);
  });

  it('an immovable balance fails with the number of the token program', async () => {
    const made = await openSubscription(on);
    const { buyer, merchant } = made.people;
    const source = await deriveTokenAddress(buyer.address);
    const approve = getApproveInstruction({ source, delegate: made.authority, owner: buyer, amount: 5n });
    await on.send(approve);
    expect(await on.judge(made.collecting(6n))).toBe(INSUFFICIENT);
    expect(await on.judge(made.collecting(5n))).toBe('accepted');
    await on.send(getRevokeInstruction({ source, owner: buyer }));
    expect(await on.judge(made.collecting(5n))).toBe(NO_APPROVAL);
    await made.authorize();
    await on.send(await transferUsdc(buyer, merchant.address, BALANCE - 1n));
    expect(await on.judge(made.collecting(2n))).toBe(INSUFFICIENT);
    const data = (await on.dataOf(source))!.with(108, 2);
    on.put(source, TOKEN_PROGRAM, data);
    expect(await on.judge(made.collecting(1n))).toBe(FROZEN);
  });

  it('a deleted plan and a recreated one are refused', async () => {
    const made = await openSubscription(on, { endTs: (await on.now()) + 2n * DAY });
    const { owner, planId } = made.terms;
    await on.warp(2n * DAY + 1n);
    await on.send(deletePlanInstruction(owner, planId));
    expect(await on.judge(made.collecting())).toBe(516);
    await on.send(createPlanInstruction({ ...made.terms, endTs: 0n }, TOKEN_PROGRAM));
    expect(await on.judge(made.collecting())).toBe(519);
  });
});
