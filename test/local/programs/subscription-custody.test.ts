import { type AccountMeta, AccountRole, type Address, createNoopSigner, type Instruction } from '@solana/kit';
import { getApproveInstruction, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as build from '#solana/programs/subscriptions/instructions.ts';
import { findPlanAddress } from '#solana/programs/subscriptions/subscription.ts';
import { deriveTokenAddress, USDC } from '../chain/wallets.ts';
import { openProgramChain, useServer } from './program-chain.ts';
import { BALANCE, DAY, openSubscription, PRICE, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();

const withoutSignature: Record<AccountRole, AccountRole> = {
  [AccountRole.WRITABLE_SIGNER]: AccountRole.WRITABLE,
  [AccountRole.READONLY_SIGNER]: AccountRole.READONLY,
  [AccountRole.WRITABLE]: AccountRole.WRITABLE,
  [AccountRole.READONLY]: AccountRole.READONLY,
};

/** Every instruction that a thief of the collector key can build with that key's signature alone. */
class Thief {
  readonly #world: SubscriptionWorld;
  readonly #own: string;
  readonly #pool: Address[];

  private constructor(world: SubscriptionWorld, own: string, pool: Address[]) {
    this.#world = world;
    this.#own = own;
    this.#pool = pool;
  }

  static async make(world: SubscriptionWorld): Promise<Thief> {
    const { puller, buyer, merchant, sponsor } = world.people;
    const wallets = [puller.address, buyer.address, merchant.address, sponsor.address];
    const accounts = await Promise.all(wallets.map((wallet) => deriveTokenAddress(wallet)));
    const ownPlan = findPlanAddress(puller.address, 9n).address;
    return new Thief(world, puller.address, [...wallets, ...accounts, ownPlan, world.plan, world.subscription, world.authority, USDC]);
  }

  ownPlan(): Instruction {
    const terms = { ...this.#world.terms, owner: this.#own as Address, planId: 9n, destinations: [] };
    return build.createPlanInstruction(terms, TOKEN_PROGRAM_ADDRESS);
  }

  async #makeAll(amount: bigint): Promise<Instruction[]> {
    const { terms, parties, people, owner, authority } = this.#world;
    const plan = await this.#world.readPlan();
    const initId = await this.#world.readAuthority().then(
      (found) => found.initId,
      () => 0n,
    );
    const [buyers, own] = [await deriveTokenAddress(people.buyer.address), await deriveTokenAddress(people.puller.address)];
    const change = { status: 'active', endTs: 0n, pullers: [people.puller.address], metadataUri: '' } as const;
    const asked = { ...plan, owner: people.puller.address, planId: 9n, bump: findPlanAddress(people.puller.address, 9n).bump };
    const moving = { source: buyers, mint: USDC, destination: own, amount, decimals: 6 };
    return [
      this.#world.collecting(amount),
      this.#world.collecting(amount, { receiver: people.puller.address }),
      this.#world.collecting(amount, { receiver: people.sponsor.address }),
      build.collectInstruction(
        { ...parties, plan: findPlanAddress(people.puller.address, 9n).address },
        {
          puller: people.puller.address,
          receiver: people.puller.address,
          amount,
          mint: USDC,
          tokenProgram: TOKEN_PROGRAM_ADDRESS,
        },
      ),
      getTransferCheckedInstruction({ ...moving, authority: createNoopSigner(authority) }),
      getTransferCheckedInstruction({ ...moving, authority: people.puller }),
      getApproveInstruction({ source: buyers, delegate: people.puller.address, owner: people.buyer, amount }),
      build.initAuthorityInstruction(owner),
      build.closeAuthorityInstruction(owner),
      build.revokeAuthorityInstruction(owner),
      build.updatePlanInstruction(terms.owner, terms.planId, change),
      build.deletePlanInstruction(terms.owner, terms.planId),
      build.subscribeInstruction({ subscriber: people.buyer.address, asked, initId }),
      build.cancelInstruction(parties),
      build.resumeInstruction(parties, USDC),
      build.revokeInstruction(parties),
    ];
  }

  async attempt({ way, amount, swaps }: { way: number; amount: bigint; swaps: { at: number; to: number }[] }): Promise<void> {
    const all = await this.#makeAll(amount);
    const made = all[way % all.length]! as Instruction & { accounts: readonly AccountMeta[] };
    const accounts = made.accounts.map(({ address, role }): AccountMeta => ({ address, role }));
    for (const { at, to } of swaps) {
      const position = at % accounts.length;
      accounts[position] = { ...accounts[position]!, address: this.#pool[to % this.#pool.length]! };
    }
    // The thief signs only for the stolen key.
    const signed = accounts.map(({ address, role }) => {
      if (address !== this.#own) return { address, role: withoutSignature[role] };
      const isWritable = role === AccountRole.WRITABLE || role === AccountRole.WRITABLE_SIGNER;
      return { address, role: isWritable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER };
    });
    await this.#world.on.attempt({ ...made, accounts: signed });
  }
}

it('a thief of the collector key can only move each period’s price to its merchant', async () => {
  const attempts = fc.array(
    fc.record({
      way: fc.nat(15),
      amount: fc.constantFrom(1n, PRICE / 2n, PRICE, PRICE + 1n, BALANCE),
      swaps: fc.array(fc.record({ at: fc.nat(11), to: fc.nat(14) }), { maxLength: 2 }),
      isNextPeriod: fc.boolean(),
    }),
    { minLength: 20, maxLength: 40 },
  );
  const on = await openProgramChain(server());
  await on.holdClock();
  await fc.assert(
    fc.asyncProperty(attempts, async (history) => {
      const world = await openSubscription(on);
      const { puller, sponsor, buyer, merchant } = world.people;
      for (const { address } of [puller, sponsor]) await on.chain.result('local_fundUsdc', address, '0');
      const thief = await Thief.make(world);
      await on.send(thief.ownPlan());
      let periods = 1n;
      // The legitimate collection works, so the refusals are not noise.
      await thief.attempt({ way: 0, amount: PRICE, swaps: [] });
      expect(await on.usdcOf(merchant.address)).toBe(PRICE);
      for (const { isNextPeriod, ...step } of history) {
        await thief.attempt(step);
        if (isNextPeriod) await on.warp(DAY);
        if (isNextPeriod) periods += 1n;
      }
      const [stolen, lent, left, paid] = await Promise.all([puller, sponsor, buyer, merchant].map(({ address }) => on.usdcOf(address)));
      expect([stolen, lent, left! + paid!]).toEqual([0n, 0n, BALANCE]);
      expect(paid! <= periods * PRICE).toBe(true);
      expect((await on.dataOf(world.plan))!.length).toBeGreaterThan(0);
    }),
    { numRuns: 8 },
  );
});
