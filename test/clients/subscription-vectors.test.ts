import { type Address, createNoopSigner, getAddressDecoder, type Instruction } from '@solana/kit';
import * as client from '@solana/subscriptions';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findSubscriptionError, SUBSCRIPTION_ERRORS } from '../../worker/solana/programs/subscriptions/errors.ts';
import * as ours from '../../worker/solana/programs/subscriptions/instructions.ts';
import {
  decodeAuthority,
  decodePlan,
  decodeSubscription,
  encodeAuthority,
  encodePlan,
  encodeSubscription,
  findAuthorityAddress,
  findPlanAddress,
  findSubscriptionAddress,
  SUBSCRIPTIONS_EVENT_AUTHORITY,
  SUBSCRIPTIONS_PROGRAM,
  type SubscriptionPlan,
} from '../../worker/solana/programs/subscriptions/subscription.ts';
import { TOKEN_PROGRAM } from './chain.ts';

const RUNS = { numRuns: 25 };
const addresses = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => getAddressDecoder().decode(bytes) as Address);
const amounts = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
const seconds = fc.bigInt({ min: 0n, max: 2n ** 40n });
const plans = fc.record<SubscriptionPlan>({
  owner: addresses,
  bump: fc.nat(255),
  status: fc.constantFrom('active', 'sunset'),
  planId: amounts,
  mint: addresses,
  amount: amounts,
  periodHours: amounts,
  createdAt: seconds,
  endTs: seconds,
  destinations: fc.array(addresses, { maxLength: 4 }),
  pullers: fc.array(addresses, { maxLength: 4 }),
  metadataUri: fc.webUrl().filter((url) => url.length <= 128),
});

const wireOf = ({ programAddress, accounts, data }: Instruction) => ({
  programAddress,
  accounts: accounts!.map(({ address, role }) => ({ address, role })),
  data: [...data!],
});

async function expectSame(theirs: Instruction | Promise<Instruction>, built: unknown) {
  expect(wireOf(built as Instruction)).toEqual(wireOf(await theirs));
}

describe('addresses of the subscriptions program', () => {
  it('derived addresses equal those of the public client', async () => {
    expect(client.SUBSCRIPTIONS_PROGRAM_ADDRESS as string).toBe(SUBSCRIPTIONS_PROGRAM);
    expect((await client.findEventAuthorityPda())[0] as string).toBe(SUBSCRIPTIONS_EVENT_AUTHORITY);
    await fc.assert(
      fc.asyncProperty(addresses, addresses, amounts, async (user, other, planId) => {
        const pairOf = ({ address, bump }: { address: Address; bump: number }) => [address, bump];
        expect(pairOf(findAuthorityAddress(user, other))).toEqual(await client.findSubscriptionAuthorityPda({ user, tokenMint: other }));
        expect(pairOf(findPlanAddress(user, planId))).toEqual(await client.findPlanPda({ owner: user, planId }));
        const subscription = await client.findSubscriptionDelegationPda({ planPda: other, subscriber: user });
        expect(pairOf(findSubscriptionAddress(other, user))).toEqual(subscription);
      }),
      RUNS,
    );
  });
});

describe('accounts of the subscriptions program', () => {
  it('plan accounts decode and encode as in the public client', () => {
    fc.assert(
      fc.property(plans, (plan) => {
        const { owner, bump, status, amount, periodHours, createdAt, ...rest } = plan;
        const filled = (listed: readonly Address[]) => [...listed, ...Array(4 - listed.length).fill(client.ZERO_ADDRESS)];
        const data = {
          ...rest,
          terms: { amount, periodHours, createdAt },
          destinations: filled(plan.destinations),
          pullers: filled(plan.pullers),
        };
        const bytes = client.getPlanEncoder().encode({ discriminator: 1, owner, bump, status: status === 'active' ? 1 : 0, data });
        expect([...encodePlan(plan)]).toEqual([...bytes]);
        const listed = (all: readonly Address[]) => all.filter((address) => address !== client.ZERO_ADDRESS);
        expect(decodePlan(bytes)).toEqual({
          ok: true,
          value: { ...plan, destinations: listed(plan.destinations), pullers: listed(plan.pullers) },
        });
      }),
      RUNS,
    );
  });

  it('authority and subscription accounts decode and encode as in the public client', () => {
    const parts = fc.record({ user: addresses, mint: addresses, payer: addresses, bump: fc.nat(255), initId: seconds });
    fc.assert(
      fc.property(parts, fc.tuple(amounts, amounts, amounts), fc.tuple(seconds, seconds, seconds), (authority, numbers, times) => {
        const { user, mint, payer, bump, initId } = authority;
        const bytes = client.getSubscriptionAuthorityEncoder().encode({ discriminator: 0, user, tokenMint: mint, payer, bump, initId });
        expect([...encodeAuthority(authority)]).toEqual([...bytes]);
        expect(decodeAuthority(bytes)).toEqual({ ok: true, value: authority });

        const [amount, periodHours, amountPulledInPeriod] = numbers;
        const [createdAt, currentPeriodStartTs, expiresAtTs] = times;
        const header = { discriminator: 4, version: 1, bump, delegator: user, delegatee: mint, payer, initId };
        const progress = { amountPulledInPeriod, currentPeriodStartTs, expiresAtTs };
        const terms = { amount, periodHours, createdAt };
        const laidOut = client.getSubscriptionDelegationEncoder().encode({ header, terms, ...progress });
        const subscription = { bump, subscriber: user, plan: mint, payer, initId, ...terms, ...progress };
        expect([...encodeSubscription(subscription)]).toEqual([...laidOut]);
        expect(decodeSubscription(laidOut)).toEqual({ ok: true, value: subscription });
      }),
      RUNS,
    );
  });
});

describe('instructions of the subscriptions program', () => {
  const tokenProgram = TOKEN_PROGRAM;

  it('authority instructions equal those of the public client, with and without a sponsor', async () => {
    await fc.assert(
      fc.asyncProperty(addresses, addresses, fc.option(addresses, { nil: undefined }), async (user, mint, payer) => {
        const userAta = ours.initAuthorityInstruction({ user, mint, tokenProgram }).accounts![3]!.address as Address;
        const owner = createNoopSigner(user);
        const sponsor = payer === undefined ? {} : { payer: createNoopSigner(payer) };
        const init = client.getInitSubscriptionAuthorityOverlayInstructionAsync({
          owner,
          tokenMint: mint,
          tokenProgram,
          userAta,
          ...sponsor,
        });
        await expectSame(init, ours.initAuthorityInstruction({ user, mint, tokenProgram }, payer));
        const receiver = payer === undefined ? {} : { receiver: payer };
        const close = client.getCloseSubscriptionAuthorityOverlayInstructionAsync({ user: owner, tokenMint: mint, ...receiver });
        await expectSame(close, ours.closeAuthorityInstruction({ user, mint, tokenProgram }, payer));
      }),
      RUNS,
    );
  });

  it('createPlan and deletePlan instructions equal those of the public client', async () => {
    await fc.assert(
      fc.asyncProperty(plans, async (plan) => {
        const owner = createNoopSigner(plan.owner);
        const { planId, mint, amount, periodHours, endTs, metadataUri } = plan;
        const lists = { destinations: [...plan.destinations], pullers: [...plan.pullers] };
        const terms = { planId, mint, amount, periodHours, endTs, metadataUri, ...lists };
        const theirs = await client.getCreatePlanOverlayInstructionAsync({ owner, tokenProgram, ...terms });
        // The program overwrites the creation time of a plan. The client fills in its own clock.
        const data = Uint8Array.from(theirs.data!).fill(0, 57, 65);
        await expectSame({ ...theirs, data }, ours.createPlanInstruction(plan, tokenProgram));
        const planPda = findPlanAddress(plan.owner, plan.planId).address as Address;
        await expectSame(client.getDeletePlanOverlayInstruction({ owner, planPda }), ours.deletePlanInstruction(plan.owner, planId));
      }),
      RUNS,
    );
  });

  it('subscribe, collect, cancel and revoke instructions equal those of the public client', async () => {
    const others = fc.tuple(addresses, addresses, addresses, fc.option(addresses, { nil: undefined }));
    await fc.assert(
      fc.asyncProperty(plans, others, amounts, seconds, async (plan, [buyer, puller, receiver, payer], amount, initId) => {
        const { address: planPda, bump } = findPlanAddress(plan.owner, plan.planId) as { address: Address; bump: number };
        const parties = { subscriber: buyer, plan: planPda };
        const subscriber = createNoopSigner(buyer);
        const expected = { expectedAmount: plan.amount, expectedPeriodHours: plan.periodHours, expectedCreatedAt: plan.createdAt };
        const where = { merchant: plan.owner, planId: plan.planId, tokenMint: plan.mint, subscriber };
        const sponsor = payer === undefined ? {} : { payer: createNoopSigner(payer) };
        const subscribing = { ...where, ...expected, ...sponsor, expectedSubscriptionAuthorityInitId: initId };
        const asked = { ...plan, bump };
        const built = ours.subscribeInstruction({ subscriber: buyer, asked, initId }, payer);
        await expectSame(client.getSubscribeOverlayInstructionAsync(subscribing), built);

        const collection = ours.collectInstruction(parties, { puller, receiver, amount, mint: plan.mint, tokenProgram });
        const subscriptionPda = findSubscriptionAddress(planPda, buyer).address as Address;
        const receiverAta = collection.accounts![4]!.address as Address;
        const moving = { amount, caller: createNoopSigner(puller), delegator: buyer, receiverAta, tokenMint: plan.mint, tokenProgram };
        await expectSame(client.getTransferSubscriptionOverlayInstructionAsync({ ...moving, planPda, subscriptionPda }), collection);

        await expectSame(client.getCancelSubscriptionOverlayInstructionAsync({ planPda, subscriber }), ours.cancelInstruction(parties));
        const rentTo = payer === undefined ? {} : { receiver: payer };
        const revoking = { authority: subscriber, planPda, subscriptionPda, ...rentTo };
        await expectSame(client.getRevokeSubscriptionOverlayInstruction(revoking), ours.revokeInstruction(parties, payer));
      }),
      RUNS,
    );
  });
});

describe('errors of the subscriptions program', () => {
  it('error numbers equal those of the public client and resolve to the same errors', () => {
    const prefix = 'SUBSCRIPTIONS_ERROR__';
    const published = Object.entries(client).filter(([name]) => name.startsWith(prefix)) as [string, number][];
    const known = Object.entries(SUBSCRIPTION_ERRORS).map(([name, code]) => {
      const constant = name.replace(/[A-Z]/g, '_$&').toUpperCase();
      return [prefix + constant, code] as const;
    });
    const theirs = new Map(published);
    const shared = known.filter(([name]) => theirs.has(name));
    expect(shared.length).toBeGreaterThan(45);
    for (const [name, code] of shared) expect([name, theirs.get(name)]).toEqual([name, code]);
    for (const [name, code] of Object.entries(SUBSCRIPTION_ERRORS)) expect(findSubscriptionError(code)).toBe(name);
    expect(findSubscriptionError(9_999)).toBeNull();
  });
});
