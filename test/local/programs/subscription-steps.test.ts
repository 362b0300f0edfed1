import type { Address, Instruction } from '@solana/kit';
import { getApproveInstruction } from '@solana-program/token';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyRing } from '#core/crypto.ts';
import { base58, base64, base64url } from '#core/encoding.ts';
import { buildCollection } from '#solana/programs/subscriptions/collection.ts';
import { buyerSteps } from '#solana/programs/subscriptions/steps.ts';
import { SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import {
  type CollectionRoute,
  readSight,
  type SubscriptionSight,
  sightAddresses,
  subscriptionStateOf,
} from '#solana/programs/subscriptions/subscription-state.ts';
import { deriveTokenAddress, newAddress, USDC } from '../chain/wallets.ts';
import { openProgramChain, type ProgramChain, useServer } from './program-chain.ts';
import {
  DAY,
  type Found,
  findBoth,
  makeStep,
  openPeople,
  openPlan,
  PRICE,
  preparePlan,
  type SubscriptionWorld,
} from './subscription-world.ts';

const server = useServer();

const routeOf = ({ plan, people }: SubscriptionWorld): CollectionRoute => ({
  plan,
  subscriber: people.buyer.address,
  mint: USDC,
  puller: people.puller.address,
  receiver: people.merchant.address,
});

async function readChain(world: SubscriptionWorld): Promise<SubscriptionSight> {
  const options = { encoding: 'base64', commitment: 'processed' } as const;
  const { value } = await world.on.chain.rpc.getMultipleAccounts(sightAddresses(routeOf(world)), options).send();
  return readSight(
    value.map((account) => account && { owner: account.owner, data: Uint8Array.from(Buffer.from(account.data[0], 'base64')) }),
  );
}

const stepsNow = async (world: SubscriptionWorld) =>
  buyerSteps(await readChain(world), await world.readPlan(), routeOf(world), await world.on.now());
const kindsNow = async (world: SubscriptionWorld) =>
  (await stepsNow(world)).map(({ kind, instructions }) => (instructions === null ? `${kind} later` : kind));
const readState = async (world: SubscriptionWorld) => subscriptionStateOf(await readChain(world), routeOf(world), await world.on.now());

async function openShop(on: ProgramChain): Promise<SubscriptionWorld> {
  return (await preparePlan(on)).publish();
}

describe('steps of a buyer to a subscription', () => {
  it('a new buyer signs an approval, then a consent once it landed, then nothing', async () => {
    const world = await openShop(await openProgramChain(server()));
    expect(await kindsNow(world)).toEqual(['approve', 'subscribe later']);
    await world.on.send(...(await stepsNow(world))[0]!.instructions!);
    expect(await kindsNow(world)).toEqual(['subscribe']);
    await world.on.send(...(await stepsNow(world))[0]!.instructions!);
    expect([await kindsNow(world), (await readState(world)).kind]).toEqual([[], 'collectable']);
  });

  it('a wallet that has subscribed to another plan needs only the consent', async () => {
    expect(await kindsNow(await openPlan(await openProgramChain(server())))).toEqual(['subscribe']);
  });

  it('a wallet without a token account gets one first, and then has insufficient funds', async () => {
    const on = await openProgramChain(server());
    const people = { ...(await openPeople(on)), buyer: await on.openWallet() };
    const world = await (await preparePlan(on, { people })).publish();
    await on.send(...(await stepsNow(world))[0]!.instructions!);
    await on.send(...(await stepsNow(world))[0]!.instructions!);
    expect(await readState(world)).toMatchObject({ kind: 'short', reason: 'insufficient_funds' });
  });
});

type Step =
  | { kind: 'collect' | 'authorize' | 'closeAuthority' | 'cancel' | 'resume' | 'revoke' | 'approveOther' }
  | { kind: 'warp'; seconds: bigint };
const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Step>({ kind: 'authorize' }, { kind: 'closeAuthority' }, { kind: 'approveOther' }) },
  { weight: 3, arbitrary: fc.constantFrom<Step>({ kind: 'cancel' }, { kind: 'resume' }, { kind: 'revoke' }) },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ kind: 'collect' }, { kind: 'warp', seconds: 3n }, { kind: 'warp', seconds: DAY }) },
);

async function buildInstruction(world: SubscriptionWorld, { kind }: Exclude<Step, { kind: 'warp' }>, found: Found): Promise<Instruction> {
  const { buyer, sponsor } = world.people;
  if (kind === 'collect') return world.collecting();
  if (kind !== 'approveOther') return makeStep(world, kind, found);
  return getApproveInstruction({ source: await deriveTokenAddress(buyer.address), delegate: sponsor.address, owner: buyer, amount: 1n });
}

it('the program accepts every built step after any wallet history, up to a collectable subscription', async () => {
  const on = await openProgramChain(server());
  await on.holdClock();
  await fc.assert(
    fc.asyncProperty(fc.array(steps, { maxLength: 10 }), async (history) => {
      const world = await (await openPlan(on)).subscribe();
      const found = await findBoth(world);
      for (const step of history) {
        if (step.kind === 'warp') await on.warp(step.seconds);
        else await on.attempt(await buildInstruction(world, step, found));
      }
      for (let round = 0; round < 6; round += 1) {
        const [step] = await stepsNow(world);
        if (step) {
          // The last instruction is the one that may be refused. Any other verdict throws.
          await on.send(...step.instructions!);
          await on.warp(3n);
        }
        const { kind } = await readState(world);
        if (kind === 'collectable' || kind === 'paid') return;
        // An ended subscription cannot resume, so the buyer waits for the end of the paid time.
        if (!step || step.kind === 'revoke') await on.warp(DAY);
      }
      expect([history, await kindsNow(world), await readState(world)]).toEqual(['the buyer never gets there']);
    }),
    { numRuns: 10 },
  );
});

describe('collector key', () => {
  const SEED = base64url.encode(new Uint8Array(32).fill(91));
  const operator = keyRing(SEED)[0]!;
  const puller = base58.encode(operator.publicKey) as Address;
  const collecting = async (change: { receiver?: Address; amount?: bigint } = {}) => {
    const on = await openProgramChain(server());
    await on.chain.result('local_fundSol', puller, '1000000000');
    const world = await (await openPlan(on, { pullers: [puller] })).subscribe();
    await on.chain.result('local_fundUsdc', world.people.sponsor.address, '0');
    const references = [await newAddress(), await newAddress()];
    const { receiver = world.people.merchant.address, amount = PRICE } = change;
    const { value: lifetime } = await on.chain.rpc.getLatestBlockhash().send();
    const collection = { route: { ...routeOf(world), receiver }, amount, memo: 'svc:abc', references };
    const wire = base64.encode(buildCollection(collection, lifetime, operator));
    return { on, world, references, wire };
  };

  it('a collection moves the price to the merchant with the memo, and both references find it', async () => {
    const { on, world, references, wire } = await collecting();
    const signature = await on.chain.rpc.sendTransaction(wire as never, { encoding: 'base64' }).send();
    expect(await world.held()).toEqual([10_000n - PRICE, PRICE]);
    for (const reference of references) {
      const [found] = await on.chain.rpc.getSignaturesForAddress(reference, { commitment: 'confirmed' }).send();
      expect([found!.signature, found!.memo]).toEqual([signature, '[7] svc:abc']);
    }
    expect(await on.eventsOf(signature, SUBSCRIPTIONS_PROGRAM)).toHaveLength(1);
  });

  it.each([
    ['to another wallet than the merchant’s', { receiver: 'sponsor' }, 506],
    ['more than the price', { amount: PRICE + 1n }, 400],
  ] as const)('the collector key moves nothing %s', async (_what, change, code) => {
    const { world } = await collecting();
    const { on, people } = world;
    const by = { puller, receiver: people.merchant.address, amount: PRICE, mint: USDC, tokenProgram: world.owner.tokenProgram };
    const asked = 'receiver' in change ? { ...by, receiver: people.sponsor.address } : { ...by, amount: change.amount };
    const { value: lifetime } = await on.chain.rpc.getLatestBlockhash().send();
    const collection = { route: { ...routeOf(world), receiver: asked.receiver }, amount: asked.amount, memo: 'svc:abc', references: [] };
    const wire = base64.encode(buildCollection(collection, lifetime, operator));
    const options = { encoding: 'base64', sigVerify: true };
    const { value } = await on.chain.result<{ value: { err: unknown } }>('simulateTransaction', wire, options);
    expect(value.err).toEqual({ InstructionError: [2, { Custom: code }] });
    expect(await world.held()).toEqual([10_000n, 0n]);
  });
});
