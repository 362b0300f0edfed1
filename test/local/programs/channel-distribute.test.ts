import type { Address } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { hex } from '#core/encoding.ts';
import { addressSeed, u64Seed } from '#solana/programs/derived-address.ts';
import { CHANNEL_PROGRAMS, OPEN_SLOT_WINDOW, TOMBSTONE } from '#solana/programs/payment-channels/channel.ts';
import type { Share } from '#solana/programs/payment-channels/distribution.ts';
import { distributeInstruction, requestCloseInstruction } from '#solana/programs/payment-channels/instructions.ts';
import { DISTRIBUTE, OLDER_DISTRIBUTE } from '#solana/programs/payment-channels/layouts.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { deriveTokenAddress, newAddress, transferUsdc } from '../chain/wallets.ts';
import { type ChannelWorld, DEPOSIT, openChannel } from './channel-world.ts';
import { itRefuses, longer, openProgramChain, type ProgramChain, shorter, swap, useServer, withData } from './program-chain.ts';

const server = useServer();
const stranger = newAddress();
const FROZEN = 2;
const OWNER_OFFSET = 32;
const STATE_OFFSET = 108;

/** Two recipients share a third each in basis points, which leaves a rounding remainder. */
async function openShared(on: ProgramChain, program: ChannelWorld['program'], deposit = DEPOSIT) {
  const [first, second] = [await on.openWallet(), await on.openWallet()];
  for (const { address } of [first, second]) await on.chain.result('local_fundUsdc', address, '0');
  const shares: Share[] = [first, second].map(({ address }) => ({ recipient: address, bps: 3_333 }));
  const world = await openChannel(program, on, { shares, deposit });
  const held = async () => {
    const owners = [first.address, second.address, world.opening.payee, world.opening.payer, program.treasuryOwners.devnet];
    return Promise.all(owners.map((owner) => on.usdcOf(owner)));
  };
  return { world, held, first, second };
}

describe.each(Object.values(CHANNEL_PROGRAMS))('distribute, $generation program', (program) => {
  const isCurrent = program.generation === 'current';
  const layout = isCurrent ? DISTRIBUTE : OLDER_DISTRIBUTE;
  let on: ProgramChain;
  beforeAll(async () => {
    on = await openProgramChain(server());
  });

  it('distribute pays each share of newly settled funds, rounded down, and the rest to the treasury', async () => {
    const { world, held } = await openShared(on, program, 1_000n);
    const payer = 10n * DEPOSIT - 1_000n;
    await world.settle(2n);
    await world.distribute();
    expect(await held()).toEqual([0n, 0n, 0n, payer, 0n]);
    await world.settle(7n);
    await world.distribute();
    expect(await held()).toEqual([2n, 2n, 2n, payer, 0n]);
    expect((await world.read()).payoutWatermark).toBe(7n);
    await world.seal(500n);
    await world.distribute();
    expect(await held()).toEqual([166n, 166n, 166n, payer + 500n, 2n]);
  });

  it('distribute closes a sealed channel: escrow, rent and account are released as its program does', async () => {
    const { world } = await openShared(on, program);
    const { rentPayer } = world.opening;
    await world.seal(10n);
    const [escrowRent, channelRent] = [await on.lamportsOf(world.escrow), await on.lamportsOf(world.address)];
    const before = await on.lamportsOf(rentPayer);
    await world.distribute();
    expect(await on.dataOf(world.escrow)).toBeNull();
    if (isCurrent) {
      expect(await world.read()).toMatchObject({ status: 'distributed', settled: 10n, payoutWatermark: 0n });
      expect(await on.lamportsOf(rentPayer)).toBe(before + escrowRent);
    } else {
      expect(await on.dataOf(world.address)).toEqual(TOMBSTONE);
      const tombstoneRent = BigInt(await on.chain.result<number>('getMinimumBalanceForRentExemption', TOMBSTONE.length));
      expect(await on.lamportsOf(world.address)).toBe(tombstoneRent);
      expect(await on.lamportsOf(rentPayer)).toBe(before + escrowRent + channelRent - tombstoneRent);
    }
  });

  it.each(isCurrent ? ['current'] : [])('distribute frees the account of the %s program at once if its slot cannot recur', async () => {
    const chain = await openProgramChain(server());
    await chain.holdClock();
    const { world } = await openShared(chain, program);
    await world.seal();
    await chain.moveSlots(OPEN_SLOT_WINDOW + 1n);
    const rent = (await chain.lamportsOf(world.address)) + (await chain.lamportsOf(world.escrow));
    const before = await chain.lamportsOf(world.opening.rentPayer);
    await world.distribute();
    expect(await chain.dataOf(world.address)).toBeNull();
    expect(await chain.lamportsOf(world.opening.rentPayer)).toBe(before + rent);
  });

  it('distribute pays foreign deposits in the escrow to the treasury', async () => {
    const { world, held } = await openShared(on, program);
    const treasury = (await held())[4]!;
    const donor = await on.openWallet({ usdc: 33n });
    await on.send(await transferUsdc(donor, world.address, 33n));
    await world.seal();
    await world.distribute();
    expect((await held())[4]).toBe(treasury + 33n);
  });

  const redirected = (world: ChannelWorld, owner: Address, amount: bigint, beneficiary: number, reason: number) => {
    const fields = [...addressSeed(world.address), ...addressSeed(owner), ...u64Seed(amount), beneficiary, reason];
    return Uint8Array.of(...hex.decode('e445a52e51cb9a1dd116b9d754a75450'), ...fields);
  };
  /** Changes bytes of a token account, which no transaction could. */
  const damage = async (owner: Address, offset: number, bytes: Iterable<number>) => {
    const address = await deriveTokenAddress(owner);
    const data = (await on.dataOf(address))!;
    data.set([...bytes], offset);
    on.put(address, TOKEN_PROGRAM, data);
  };
  const remove = async (owner: Address) => on.put(await deriveTokenAddress(owner), TOKEN_PROGRAM, []);

  it.each([
    ['a recipient without a token account', 'first', 0, 1, (owner: Address) => remove(owner)],
    ['a recipient whose token account is frozen', 'second', 0, 2, (owner: Address) => damage(owner, STATE_OFFSET, [FROZEN])],
    ['a payee without a token account', 'operator', 1, 1, (owner: Address) => remove(owner)],
    ['a payer whose token account is frozen', 'payer', 2, 2, (owner: Address) => damage(owner, STATE_OFFSET, [FROZEN])],
  ] as const)(
    'distribute pays the other recipients and gives the treasury the share of %s',
    async (_who, party, beneficiary, reason, harm) => {
      const { world, held, first, second } = await openShared(on, program);
      const [treasury] = (await held()).slice(4);
      const owner = { first, second, ...world.parties }[party].address;
      await world.seal(300_000n);
      await harm(owner);
      const signature = await on.send(world.distribution());
      const lost = { first: 99_990n, second: 99_990n, operator: 100_020n, payer: 700_000n }[party];
      expect(await on.usdcOf(program.treasuryOwners.devnet)).toBe(treasury! + lost);
      const paid = [first.address, second.address, world.opening.payee].filter((address) => address !== owner);
      const parts = await Promise.all(paid.map((address) => on.usdcOf(address)));
      expect(parts.reduce((sum, part) => sum + part, 0n) + (party === 'payer' ? 0n : lost)).toBe(300_000n);
      expect(await on.eventsOf(signature, program.address)).toEqual([redirected(world, owner, lost, beneficiary, reason)]);
    },
  );

  it('a token account transferred to another owner is handled as in its program', async () => {
    const { world, first } = await openShared(on, program);
    await world.seal(300_000n);
    await damage(first.address, OWNER_OFFSET, addressSeed(await stranger));
    if (!isCurrent) return expect(await on.judge(world.distribution())).toBe(2404);
    const signature = await on.send(world.distribution());
    expect(await on.eventsOf(signature, program.address)).toEqual([redirected(world, first.address, 99_990n, 0, 3)]);
  });

  describe('', () => {
    let world: ChannelWorld;
    beforeAll(async () => {
      ({ world } = await openShared(on, program));
      await world.settle(100n);
    });
    const treasuryOwner = program.treasuryOwners.devnet;
    const built = () => world.distribution();
    const sharing = (shares: Share[]) => distributeInstruction(program, world.account, { shares, treasuryOwner });

    itRefuses(() => ({ on, world }), {
      'no list of shares': [() => withData(built(), [7]), 'InvalidInstructionData'],
      'an account too few': [() => ({ ...built(), accounts: built().accounts!.slice(0, 9) }), 'NotEnoughAccountKeys'],
      'a share without its account': [() => shorter(built()), 2409],
      'an account that is no share': [async () => longer(built(), await stranger), 2409],
      'what is no channel': [() => swap(built(), layout, 'channel', world.escrow), 'InvalidAccountOwner'],
      'another payer': [() => swap(built(), layout, 'payer', world.opening.payee), 5],
      'another mint': [async () => swap(built(), layout, 'mint', await stranger), 7],
      'another token program': [() => swap(built(), layout, 'tokenProgram', TOKEN_2022_PROGRAM), 54],
      'another escrow': [async () => swap(built(), layout, 'escrow', await deriveTokenAddress(world.opening.payee)), 50],
      'another treasury': [async () => swap(built(), layout, 'treasuryTokenAccount', await deriveTokenAddress(world.opening.payee)), 2401],
      'other shares than at the opening': [() => sharing([...world.opening.shares].reverse()), 2407],
      "somebody else's account for a share": [
        async () => {
          const { accounts, ...rest } = built();
          return {
            ...rest,
            accounts: [...accounts!.slice(0, -1), { ...accounts!.at(-1)!, address: await deriveTokenAddress(world.opening.payee) }],
          };
        },
        2404,
      ],
      "somebody else's account for the payee": [
        async () => swap(built(), layout, 'payeeTokenAccount', await deriveTokenAddress(world.opening.payer)),
        60,
      ],
      ...(isCurrent && {
        'somebody who did not pay the rent': [() => swap(built(), layout, 'rentPayer', world.opening.payer), 10] as const,
      }),
    });

    it('distribute refuses an idle, a closing and a closed channel', async () => {
      const parties = world.parties;
      const idle = await openChannel(program, on, { parties, salt: 20n });
      expect(await on.judge(idle.distribution())).toBe(2408);
      await on.send(requestCloseInstruction(program, idle.account));
      expect(await on.judge(idle.distribution())).toBe(2400);
      const closed = await openChannel(program, on, { parties, salt: 21n });
      await closed.seal(1n);
      expect(
        await on.judge(swap(closed.distribution(), layout, 'payerTokenAccount', await deriveTokenAddress(parties.merchant.address))),
      ).toBe(57);
      await closed.distribute();
      expect(await on.judge(closed.distribution())).toBe(isCurrent ? 2400 : 'InvalidAccountData');
    });

    it('distribute refuses a chain without a treasury, and a redirection with an unwritable event', async () => {
      await world.seal(300_000n);
      await remove(world.opening.payee);
      expect(await on.judge(swap(built(), layout, 'eventAuthority', await stranger))).toBe(8);
      await remove(treasuryOwner);
      expect(await on.judge(built())).toBe(2402);
    });
  });
});
