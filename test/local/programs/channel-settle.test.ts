import type { Instruction } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS, encodeChannel } from '#solana/programs/payment-channels/channel.ts';
import { requestCloseInstruction, settleAndSealInstruction, settleInstruction } from '#solana/programs/payment-channels/instructions.ts';
import { SETTLE, SETTLE_AND_SEAL } from '#solana/programs/payment-channels/layouts.ts';
import type { Voucher } from '#solana/programs/payment-channels/vouchers.ts';
import { memo, newAddress } from '../chain/wallets.ts';
import { type ChannelWorld, DEPOSIT, GRACE_SECONDS, openChannel } from './channel-world.ts';
import {
  itRefuses,
  longer,
  openProgramChain,
  type ProgramChain,
  type Refusals,
  shorter,
  swap,
  unsigned,
  useServer,
  withData,
} from './program-chain.ts';

const server = useServer();
const stranger = newAddress();

const voucherRefusals = (isCurrent: boolean, settling: (world: ChannelWorld, voucher: Voucher) => Instruction): Refusals<ChannelWorld> => {
  const check = async (world: ChannelWorld, voucher: Voucher) => [await world.verified(voucher), settling(world, voucher)];
  const sound = (world: ChannelWorld) => world.voucher(200n);
  const malformed = async (world: ChannelWorld, change: (data: Uint8Array) => Iterable<number>) => {
    const verified = await world.verified(sound(world));
    return [withData(verified, change(Uint8Array.from(verified.data!))), settling(world, sound(world))];
  };
  return {
    'a voucher nobody checked': [(world) => settling(world, sound(world)), 230],
    'a check with something between': [
      async (world) => [await world.verified(sound(world)), memo('x'), settling(world, sound(world))],
      230,
    ],
    'a voucher for another channel': [async (world) => check(world, world.voucher(200n, { channelId: await stranger })), 232],
    'a voucher that expired this second': [async (world) => check(world, world.voucher(200n, { expiresAt: await world.on.now() })), 233],
    'a voucher over the deposit': [(world) => check(world, world.voucher(DEPOSIT + 1n)), 235],
    'a voucher for what is settled already': [(world) => check(world, world.voucher(100n)), 234],
    'a voucher for less than is settled': [(world) => check(world, world.voucher(99n)), 234],
    "a voucher of somebody else's key": [
      async (world) => [await world.verified(sound(world), world.parties.merchant), settling(world, sound(world))],
      237,
    ],
    ...(isCurrent
      ? {
          'a signed message that is no voucher': [
            async (world) => [await world.signed(new Uint8Array(50)), settling(world, sound(world))],
            238,
          ],
        }
      : {
          'a copy that is not what was signed': [
            async (world) => [await world.verified(world.voucher(300n)), settling(world, sound(world))],
            236,
          ],
        }),
    'a signed message of another length': [async (world) => [await world.signed(new Uint8Array(49)), settling(world, sound(world))], 231],
    'a check of nothing': [(world) => malformed(world, () => [0, 0]), 231],
  };
};

describe.each(Object.values(CHANNEL_PROGRAMS))('settle, $generation program', (program) => {
  const isCurrent = program.generation === 'current';
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openChannel(program, on);
    await world.settle(100n);
  });
  const built = (settled: ChannelWorld = world) => settleInstruction(program, settled.voucher(200n));

  it('settle raises the settled amount and moves no token', async () => {
    expect(await world.read()).toMatchObject({ status: 'open', settled: 100n, payoutWatermark: 0n });
    expect(await on.usdcOf(world.address)).toBe(DEPOSIT);
  });

  it('settle accepts a voucher for the full deposit and one about to expire', async () => {
    const fullVoucher = world.voucher(DEPOSIT, { expiresAt: (await on.now()) + 1_000n });
    expect(await on.judge(await world.verified(fullVoucher), settleInstruction(program, fullVoucher))).toBe('accepted');
  });

  itRefuses(() => world, {
    ...voucherRefusals(isCurrent, ({ address }, voucher) => swap(settleInstruction(program, voucher), SETTLE, 'channel', address)),
    'an account too few': [() => shorter(built()), 'NotEnoughAccountKeys'],
    'an account too many': [async () => longer(built(), await stranger), 'NotEnoughAccountKeys'],
    'what is no channel': [() => swap(built(), SETTLE, 'channel', world.escrow), 'InvalidAccountOwner'],
    'another sysvar': [async () => swap(built(), SETTLE, 'instructionsSysvar', await stranger), 'UnsupportedSysvar'],
    'a channel of another length': [() => settleMade(world, (data) => [...data, 0]), 'InvalidAccountData'],
    'an account of another kind': [() => settleMade(world, ([, ...data]) => [9, ...data]), 3],
    'a channel of another version': [() => settleMade(world, ([kind, , ...data]) => [kind!, 2, ...data]), 4],
    'a channel in a state there is none of': [() => settleMade(world, (data) => data.map((byte, index) => (index === 3 ? 9 : byte))), 2],
    ...(!isCurrent && { 'a copy of another length': [() => withData(built(), [2, 0]), 'InvalidInstructionData'] }),
  });

  it('settle refuses a closing and a sealed channel', async () => {
    for (const [salt, end] of [
      [8n, async (channel: ChannelWorld) => void (await on.send(requestCloseInstruction(program, channel.account)))],
      [9n, (channel: ChannelWorld) => channel.seal()],
    ] as const) {
      const ending = await openChannel(program, on, { parties: world.parties, salt });
      await end(ending);
      expect(await on.judge(await ending.verified(ending.voucher(200n)), built(ending))).toBe(2);
    }
  });

  it('settle with a forged signature fails in the runtime’s signature check', async () => {
    const verified = await world.verified(world.voucher(200n));
    const forged = withData(verified, verified.data!.with(60, verified.data![60]! ^ 1));
    const error = await on.send(forged, built()).catch((refusal: unknown) => refusal);
    expect(error).toMatchObject({ cause: { context: { index: 1 } } });
    expect((await world.read()).settled).toBe(100n);
  });
});

/** Settles an account with channel bytes that the program itself never writes. */
async function settleMade(world: ChannelWorld, change: (data: number[]) => number[]): Promise<Instruction[]> {
  const address = await newAddress();
  world.on.put(address, world.program.address, change([...encodeChannel(world.program, await world.read())]));
  const voucher = world.voucher(200n, { channelId: address });
  return [await world.verified(voucher), settleInstruction(world.program, voucher)];
}

describe.each(Object.values(CHANNEL_PROGRAMS))('settleAndSeal, $generation program', (program) => {
  const isCurrent = program.generation === 'current';
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openChannel(program, on);
    await world.settle(100n);
  });
  const built = (voucher: Voucher | null = null) => settleAndSealInstruction(program, world.account, voucher);

  it('settleAndSeal by the payee ends a channel, with or without a last voucher', async () => {
    for (const [salt, last, settled] of [
      [8n, null, 0n],
      [9n, 250n, 250n],
    ] as const) {
      const ending = await openChannel(program, on, { parties: world.parties, salt });
      await ending.seal(last);
      expect(await ending.read()).toMatchObject({ status: 'sealed', settled, closureStartedAt: 0n });
      expect(await on.judge(settleAndSealInstruction(program, ending.account, null))).toBe(2);
    }
  });

  it('settleAndSeal ends a closing channel until the last second of the grace period', async () => {
    await on.holdClock();
    const closing = await openChannel(program, on, { parties: world.parties, salt: 10n });
    await on.send(requestCloseInstruction(program, closing.account));
    const sealing = [
      await closing.verified(closing.voucher(300n)),
      settleAndSealInstruction(program, closing.account, closing.voucher(300n)),
    ];
    await on.warp(GRACE_SECONDS - 1);
    expect(await on.judge(...sealing)).toBe('accepted');
    await on.warp(1);
    expect(await on.judge(...sealing)).toBe(2);
  });

  itRefuses(() => world, {
    ...voucherRefusals(isCurrent, (sealing, voucher) => settleAndSealInstruction(program, sealing.account, voucher)),
    'no arguments': [() => withData(built(), [4]), 'InvalidInstructionData'],
    'an account too few': [() => shorter(built()), 9],
    'an account too many': [async () => longer(built(), await stranger), 9],
    'a payee who does not sign': [() => unsigned(built(), SETTLE_AND_SEAL, 'payee'), 1],
    'a payee who is not the one': [() => swap(built(), SETTLE_AND_SEAL, 'payee', world.parties.merchant.address), 6],
    'another sysvar, with a voucher': [
      async () => [
        await world.verified(world.voucher(200n)),
        swap(built(world.voucher(200n)), SETTLE_AND_SEAL, 'instructionsSysvar', await stranger),
      ],
      'UnsupportedSysvar',
    ],
  });
});
