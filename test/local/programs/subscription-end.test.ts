import { beforeAll, describe, expect, it } from 'vitest';
import { hex } from '#core/encoding.ts';
import { addressSeed, u64Seed } from '#solana/programs/derived-address.ts';
import {
  cancelInstruction,
  closeAuthorityInstruction,
  createPlanInstruction,
  deletePlanInstruction,
  initAuthorityInstruction,
  resumeInstruction,
  revokeInstruction,
  updatePlanInstruction,
} from '#solana/programs/subscriptions/instructions.ts';
import { CANCEL, RESUME, REVOKE } from '#solana/programs/subscriptions/layouts.ts';
import { findAuthorityAddress, SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import { TOKEN_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { newAddress, USDC } from '../chain/wallets.ts';
import { itRefuses, longer, openProgramChain, type ProgramChain, readOnly, shorter, swap, unsigned, useServer } from './program-chain.ts';
import { DAY, openPlan, openSubscription, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();
const stranger = newAddress();
const TAG = hex.decode('e445a52e51cb9a1d');

async function deletePlan({ on, terms }: SubscriptionWorld): Promise<void> {
  const left = terms.endTs - (await on.now()) + 1n;
  if (left > 0n) await on.warp(left);
  await on.send(deletePlanInstruction(terms.owner, terms.planId));
}

describe('cancelSubscription', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    world = await openSubscription(on);
  });
  const built = () => cancelInstruction(world.parties);

  it('cancelling ends with the running period, counted from the start without collections, and writes an event', async () => {
    const made = await openSubscription(on);
    const start = await on.now();
    await on.warp(3n * DAY + 5n);
    const signature = await on.send(cancelInstruction(made.parties));
    expect(await made.readSubscription()).toMatchObject({ expiresAtTs: start + 4n * DAY, currentPeriodStartTs: start });
    const fields = [...addressSeed(made.plan), ...addressSeed(made.people.buyer.address), ...u64Seed(start + 4n * DAY)];
    expect(await on.eventsOf(signature, SUBSCRIPTIONS_PROGRAM)).toEqual([Uint8Array.of(...TAG, 1, ...fields)]);
    expect(await on.judge(cancelInstruction(made.parties))).toBe(509);
  });

  it('cancelling ends at most one second after the plan, and at once if the plan is gone or replaced', async () => {
    const endTs = (await on.now()) + DAY + 100n;
    const made = await openSubscription(on, { endTs });
    const deleted = await openSubscription(on, { endTs });
    await on.warp(DAY + 50n);
    await made.cancel();
    expect((await made.readSubscription()).expiresAtTs).toBe(endTs + 1n);
    await deletePlan(deleted);
    await deleted.cancel();
    expect((await deleted.readSubscription()).expiresAtTs).toBe(await on.now());
    const replaced = await openSubscription(on, { endTs: (await on.now()) + DAY });
    await deletePlan(replaced);
    await on.send(createPlanInstruction({ ...replaced.terms, endTs: 0n }, TOKEN_PROGRAM));
    await replaced.cancel();
    expect((await replaced.readSubscription()).expiresAtTs).toBe(await on.now());
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 113],
    'an account too many': [() => longer(built(), world.authority), 113],
    'a subscriber who does not sign': [() => unsigned(built(), CANCEL, 'subscriber'), 100],
    'what is no account of the program': [async () => swap(built(), CANCEL, 'subscription', await stranger), 'InvalidAccountOwner'],
    'a subscription that cannot be written': [() => readOnly(built(), CANCEL, 'subscription'), 131],
    'an account of another kind': [() => swap(built(), CANCEL, 'subscription', world.authority), 117],
    'somebody else': [() => swap(built(), CANCEL, 'subscriber', world.people.merchant.address), 130],
    'another plan': [async () => swap(built(), CANCEL, 'plan', await stranger), 505],
    'another event authority': [async () => swap(built(), CANCEL, 'eventAuthority', await stranger), 600],
    'another program for its event': [() => swap(built(), CANCEL, 'program', TOKEN_PROGRAM), 604],
  });
});

describe('resumeSubscription', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    world = await openSubscription(on);
    await world.cancel();
  });
  const resuming = (made: SubscriptionWorld) => resumeInstruction(made.parties, USDC);
  const built = () => resuming(world);

  it('resuming undoes the cancellation up to its last second, preserves the period, and writes an event', async () => {
    const made = await openSubscription(on);
    await made.collect(40n);
    await made.cancel();
    const before = await made.readSubscription();
    await on.warp(DAY - 1n);
    const signature = await on.send(resuming(made));
    expect(await made.readSubscription()).toEqual({ ...before, expiresAtTs: 0n });
    const fields = [...addressSeed(made.plan), ...addressSeed(made.people.buyer.address), ...u64Seed(await on.now())];
    expect(await on.eventsOf(signature, SUBSCRIPTIONS_PROGRAM)).toEqual([Uint8Array.of(...TAG, 5, ...fields)]);
    expect(await on.judge(resuming(made))).toBe(510);
    await made.cancel();
    await on.warp(1);
    expect(await on.judge(resuming(made))).toBe(508);
  });

  it('resuming needs the original plan and authority', async () => {
    const made = await openSubscription(on, { endTs: (await on.now()) + 2n * DAY });
    await on.warp(2n * DAY - 10n);
    await made.cancel();
    const closed = await openSubscription(on);
    await closed.cancel();
    await on.send(closeAuthorityInstruction(closed.owner));
    expect(await on.judge(resuming(closed))).toBe(103);
    await on.warp(1);
    await closed.authorize();
    expect(await on.judge(resuming(closed))).toBe(136);
    await on.warp(10);
    expect(await on.judge(resuming(made))).toBe(501);
    await deletePlan(made);
    expect(await on.judge(resuming(made))).toBe(516);
    await on.send(createPlanInstruction({ ...made.terms, endTs: 0n }, TOKEN_PROGRAM));
    expect(await on.judge(resuming(made))).toBe(519);
  });

  it('resuming refuses a foreign authority and one for another mint', async () => {
    const other = await openPlan(on);
    expect(await on.judge(swap(built(), RESUME, 'authority', other.authority))).toBe(130);
    const mint = await newAddress();
    await on.chain.result('local_fundToken', mint, world.people.buyer.address, '1');
    await on.send(initAuthorityInstruction({ ...world.owner, mint }));
    const { address } = findAuthorityAddress(world.people.buyer.address, mint);
    expect(await on.judge(swap(built(), RESUME, 'authority', address))).toBe(125);
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 113],
    'an account too many': [() => longer(built(), world.plan), 113],
    'a subscriber who does not sign': [() => unsigned(built(), RESUME, 'subscriber'), 100],
    'what is no account of the program': [async () => swap(built(), RESUME, 'subscription', await stranger), 'InvalidAccountOwner'],
    'a subscription that cannot be written': [() => readOnly(built(), RESUME, 'subscription'), 131],
    'an authority that is not there': [async () => swap(built(), RESUME, 'authority', await stranger), 103],
    'somebody else': [() => swap(built(), RESUME, 'subscriber', world.people.merchant.address), 130],
    'another plan': [async () => swap(built(), RESUME, 'plan', await stranger), 505],
    'another event authority': [
      async () => {
        const made = await openSubscription(on);
        await made.cancel();
        return swap(resuming(made), RESUME, 'eventAuthority', await stranger);
      },
      600,
    ],
  });
});

describe('revokeDelegation for a subscription', () => {
  let on: ProgramChain;
  let world: SubscriptionWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    world = await openSubscription(on);
  });
  const built = () => revokeInstruction(world.parties);

  it('revoking closes an ended subscription, returns the rent to its payer, and allows subscribing again', async () => {
    const made = await openPlan(on);
    const { buyer, sponsor } = made.people;
    await made.subscribe(sponsor.address);
    const rent = await on.lamportsOf(made.subscription);
    await made.cancel();
    await on.warp(DAY - 1n);
    expect(await on.judge(revokeInstruction(made.parties, sponsor.address))).toBe(510);
    await on.warp(1);
    expect(await on.judge(revokeInstruction(made.parties))).toBe(113);
    expect(await on.judge(revokeInstruction(made.parties, buyer.address))).toBe(130);
    const before = await on.lamportsOf(sponsor.address);
    await on.send(revokeInstruction(made.parties, sponsor.address));
    expect(await on.lamportsOf(sponsor.address)).toBe(before + rent);
    expect(await on.dataOf(made.subscription)).toBeNull();
    await made.subscribe();
  });

  it('the sponsor may revoke once nothing can be collected, and not before', async () => {
    const made = await openPlan(on, { endTs: (await on.now()) + 2n * DAY });
    const { sponsor } = made.people;
    await made.subscribe(sponsor.address);
    const bySponsor = swap(revokeInstruction(made.parties), REVOKE, 'signer', sponsor.address);
    expect(await on.judge(bySponsor)).toBe(130);
    await on.warp(2n * DAY);
    expect(await on.judge(bySponsor)).toBe(130);
    await on.warp(1);
    expect(await on.judge(bySponsor)).toBe('accepted');
    await deletePlan(made);
    expect(await on.judge(bySponsor)).toBe('accepted');
    await on.send(createPlanInstruction({ ...made.terms, endTs: 0n }, TOKEN_PROGRAM));
    await on.send(bySponsor);
    expect(await on.dataOf(made.subscription)).toBeNull();
  });

  it('the sponsor may revoke once a cancellation took effect', async () => {
    const made = await openPlan(on);
    const { sponsor } = made.people;
    await made.subscribe(sponsor.address);
    const bySponsor = swap(revokeInstruction(made.parties), REVOKE, 'signer', sponsor.address);
    await made.cancel();
    expect(await on.judge(bySponsor)).toBe(130);
    await on.warp(DAY);
    await on.send(bySponsor);
    expect(await on.dataOf(made.subscription)).toBeNull();
  });

  it('the sponsor may not revoke because of a sunset alone', async () => {
    const made = await openPlan(on);
    const { sponsor } = made.people;
    await made.subscribe(sponsor.address);
    const { owner, planId, pullers, metadataUri } = made.terms;
    await on.send(updatePlanInstruction(owner, planId, { status: 'sunset', endTs: (await on.now()) + 2n * DAY, pullers, metadataUri }));
    expect(await on.judge(swap(revokeInstruction(made.parties), REVOKE, 'signer', sponsor.address))).toBe(130);
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 113],
    'a signer who does not sign': [() => unsigned(built(), REVOKE, 'signer'), 100],
    'a signer who cannot be paid': [() => readOnly(built(), REVOKE, 'signer'), 131],
    'a subscription that cannot be written': [() => readOnly(built(), REVOKE, 'subscription'), 131],
    'what is no account of the program': [async () => swap(built(), REVOKE, 'subscription', await stranger), 'InvalidAccountOwner'],
    'an account of another kind': [() => swap(built(), REVOKE, 'subscription', world.authority), 117],
    'another plan': [async () => swap(built(), REVOKE, 'plan', await stranger), 505],
    'somebody who has no part in it': [() => swap(built(), REVOKE, 'signer', world.people.merchant.address), 130],
    'a subscription that goes on': [() => built(), 510],
  });
});
