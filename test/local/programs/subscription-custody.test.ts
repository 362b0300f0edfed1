import { type AccountMeta, AccountRole, type Address, createNoopSigner, type Instruction } from '@solana/kit';
import { getApproveInstruction, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import * as build from '#solana/programs/subscriptions/instructions.ts';
import { findPlanAddress } from '#solana/programs/subscriptions/subscription.ts';
import { tokenAddressOf, USDC } from '../chain/wallets.ts';
import { openProgramChain, useServer } from './program-chain.ts';
import { BALANCE, DAY, openSubscription, PRICE, type SubscriptionWorld } from './subscription-world.ts';

const server = useServer();

const withoutSignature: Record<AccountRole, AccountRole> = {
  [AccountRole.WRITABLE_SIGNER]: AccountRole.WRITABLE,
  [AccountRole.READONLY_SIGNER]: AccountRole.READONLY,
  [AccountRole.WRITABLE]: AccountRole.WRITABLE,
  [AccountRole.READONLY]: AccountRole.READONLY,
};

/** Everything that a thief of the collecting key can put together, with that key’s signature and no other. */
class Thief {
  readonly #world: SubscriptionWorld;
  readonly #own: string;
  /** Accounts that may stand wherever another one should. */
  readonly #pool: Address[];

  private constructor(world: SubscriptionWorld, own: string, pool: Address[]) {
    this.#world = world;
    this.#own = own;
    this.#pool = pool;
  }

  static async make(world: SubscriptionWorld): Promise<Thief> {
    const { puller, buyer, merchant, sponsor } = world.people;
    const wallets = [puller.address, buyer.address, merchant.address, sponsor.address];
    const accounts = await Promise.all(wallets.map((wallet) => tokenAddressOf(wallet)));
    const ownPlan = findPlanAddress(puller.address, 9n).address;
    return new Thief(world, puller.address, [...wallets, ...accounts, ownPlan, world.plan, world.subscription, world.authority, USDC]);
  }

  /** A plan of their own, which pays nobody but them. */
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
    const [buyers, own] = [await tokenAddressOf(people.buyer.address), await tokenAddressOf(people.puller.address)];
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

  /** One of their ways, with some accounts exchanged for others, and nobody’s signature but theirs. */
  async attempt({ way, amount, swaps }: { way: number; amount: bigint; swaps: { at: number; to: number }[] }): Promise<void> {
    const all = await this.#makeAll(amount);
    const made = all[way % all.length]! as Instruction & { accounts: readonly AccountMeta[] };
    const accounts = made.accounts.map(({ address, role }): AccountMeta => ({ address, role }));
    for (const { at, to } of swaps) {
      const place = at % accounts.length;
      accounts[place] = { ...accounts[place]!, address: this.#pool[to % this.#pool.length]! };
    }
    // They sign wherever their own key stands, and nowhere else.
    const signed = accounts.map(({ address, role }) => {
      if (address !== this.#own) return { address, role: withoutSignature[role] };
      const isWritable = role === AccountRole.WRITABLE || role === AccountRole.WRITABLE_SIGNER;
      return { address, role: isWritable ? AccountRole.WRITABLE_SIGNER : AccountRole.READONLY_SIGNER };
    });
    await this.#world.on.attempt({ ...made, accounts: signed });
  }
}

it('whoever steals the key that collects can move nothing anywhere but the price of each period to its merchant', async () => {
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
      // What the key is for it can do, so the attempts are no mere noise.
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
