import type { Instruction } from '@solana/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS, OPEN_SLOT_WINDOW } from '#solana/programs/payment-channels/channel.ts';
import * as build from '#solana/programs/payment-channels/instructions.ts';
import { transferUsdc } from '../chain/wallets.ts';
import { type ChannelWorld, GRACE_SECONDS, openChannel } from './channel-world.ts';
import { type ChannelStep, PlainChannel } from './plain-channel.ts';
import { openProgramChain, useServer } from './program-chain.ts';

const server = useServer();
const DEPOSIT = 1_000n;
const BPS = [3_333, 2_500];

const amounts = fc.bigInt({ min: 0n, max: 1_300n });
const steps: fc.Arbitrary<ChannelStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('settle' as const), amount: amounts }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('topUp' as const), amount: fc.bigInt({ min: 0n, max: 300n }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('donate' as const), amount: fc.bigInt({ min: 1n, max: 9n }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('settleAndSeal' as const), amount: fc.option(amounts) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('distribute' as const) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constantFrom('requestClose' as const, 'seal' as const, 'withdrawPayer' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reclaim' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('warp' as const),
      seconds: fc.constantFrom(1n, BigInt(GRACE_SECONDS) - 1n, BigInt(GRACE_SECONDS)),
    }),
  },
);

async function buildInstructions(world: ChannelWorld, step: ChannelStep): Promise<Instruction[] | null> {
  const { program, account } = world;
  switch (step.kind) {
    case 'warp':
      await world.on.warp(step.seconds);
      return null;
    case 'donate':
      return [await transferUsdc(world.parties.payer, world.address, step.amount)];
    case 'settle':
      return [await world.verified(world.voucher(step.amount)), build.settleInstruction(program, world.voucher(step.amount))];
    case 'settleAndSeal': {
      const voucher = step.amount === null ? null : world.voucher(step.amount);
      const check = voucher === null ? [] : [await world.verified(voucher)];
      return [...check, build.settleAndSealInstruction(program, account, voucher)];
    }
    case 'topUp':
      return [build.topUpInstruction(program, account, step.amount)];
    case 'distribute':
      return [world.distribution()];
    case 'requestClose':
      return [build.requestCloseInstruction(program, account)];
    case 'seal':
      return [build.sealInstruction(program, account)];
    case 'withdrawPayer':
      return [build.withdrawPayerInstruction(program, account)];
    case 'reclaim':
      return [build.reclaimInstruction(program, account)];
  }
}

describe.each(Object.values(CHANNEL_PROGRAMS))('random histories of a channel of the $generation program', (program) => {
  it('each step matches the plain reference model, and no base unit is lost or created', async () => {
    const on = await openProgramChain(server());
    await on.holdClock();
    const recipients = [await on.openWallet(), await on.openWallet()];
    for (const { address } of recipients) await on.chain.result('local_fundUsdc', address, '0');
    const shares = recipients.map(({ address }, index) => ({ recipient: address, bps: BPS[index]! }));
    let salt = 100n;
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 12, maxLength: 30 }), async (history) => {
        salt += 1n;
        const world = await openChannel(program, on, { shares, deposit: DEPOSIT, salt });
        const { operator, payer } = world.parties;
        const parties = [...recipients.map(({ address }) => address), operator.address, payer.address, program.treasuryOwners.devnet];
        const readAll = () => Promise.all(parties.map((owner) => on.usdcOf(owner)));
        const before = await readAll();
        const terms = { deposit: DEPOSIT, graceSeconds: BigInt(GRACE_SECONDS), windowSlots: OPEN_SLOT_WINDOW, bps: BPS };
        const plain = new PlainChannel({ ...terms, isCurrent: program.generation === 'current' });
        let donated = 0n;
        for (const step of history) {
          const instructions = await buildInstructions(world, step);
          const expected = plain.take(step);
          if (instructions !== null) expect([step, await on.attempt(...instructions)]).toEqual([step, expected]);
          if (step.kind === 'donate' && expected === 'accepted') donated += step.amount;
        }
        const gains = (await readAll()).map((held, party) => held - before[party]!);
        expect(gains).toEqual(plain.gains.map((gain, party) => (party === parties.length - 2 ? gain - donated : gain)));
        const isEscrowThere = (await on.dataOf(world.escrow)) !== null;
        expect(isEscrowThere ? await on.usdcOf(world.address) : 0n).toBe(plain.escrow);
        if (plain.status !== 'gone') expect(await world.read()).toMatchObject({ status: plain.status });
        const { held, supply } = await on.countUsdc();
        expect(held).toBe(supply);
      }),
      { numRuns: 10 },
    );
  });
});
