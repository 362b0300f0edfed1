import { beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS, OPEN_SLOT_WINDOW } from '#solana/programs/payment-channels/channel.ts';
import {
  reclaimInstruction,
  requestCloseInstruction,
  sealInstruction,
  withdrawPayerInstruction,
} from '#solana/programs/payment-channels/instructions.ts';
import { RECLAIM, REQUEST_CLOSE, SEAL, WITHDRAW_PAYER } from '#solana/programs/payment-channels/layouts.ts';
import { TOKEN_2022_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { deriveTokenAddress, newAddress } from '../chain/wallets.ts';
import { type ChannelWorld, DEPOSIT, GRACE_SECONDS, openChannel } from './channel-world.ts';
import { itRefuses, longer, openProgramChain, type ProgramChain, shorter, swap, unsigned, useServer, withData } from './program-chain.ts';

const server = useServer();
const stranger = newAddress();

describe.each(Object.values(CHANNEL_PROGRAMS))('requestClose, $generation program', (program) => {
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openChannel(program, on);
  });
  const built = () => requestCloseInstruction(program, world.account);

  it('requestClose starts the grace period once', async () => {
    await on.holdClock();
    const closing = await openChannel(program, on, { parties: world.parties, salt: 8n });
    await on.send(requestCloseInstruction(program, closing.account));
    expect(await closing.read()).toMatchObject({ status: 'closing', closureStartedAt: await on.now() });
    expect(await on.judge(requestCloseInstruction(program, closing.account))).toBe(2);
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 9],
    'an account too many': [async () => longer(built(), await stranger), 9],
    'a payer who does not sign': [() => unsigned(built(), REQUEST_CLOSE, 'payer'), 1],
    'somebody else': [() => swap(built(), REQUEST_CLOSE, 'payer', world.parties.merchant.address), 5],
    'what is no channel': [() => swap(built(), REQUEST_CLOSE, 'channel', world.escrow), 'InvalidAccountOwner'],
  });
});

describe.each(Object.values(CHANNEL_PROGRAMS))('seal, $generation program', (program) => {
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openChannel(program, on);
  });

  it('seal waits for the last second of the grace period, then needs no signature', async () => {
    await on.holdClock();
    await on.send(requestCloseInstruction(program, world.account));
    const sealing = sealInstruction(program, world.account);
    await on.warp(GRACE_SECONDS - 1);
    expect(await on.judge(sealing)).toBe(program.generation === 'current' ? 2201 : 2);
    await on.warp(1);
    await on.send(sealing);
    expect(await world.read()).toMatchObject({ status: 'sealed', closureStartedAt: 0n });
    expect(await on.judge(sealing)).toBe(2);
  });

  itRefuses(() => world, {
    'no account': [() => shorter(sealInstruction(program, world.account)), 'NotEnoughAccountKeys'],
    'an account too many': [async () => longer(sealInstruction(program, world.account), await stranger), 'NotEnoughAccountKeys'],
    'what is no channel': [() => swap(sealInstruction(program, world.account), SEAL, 'channel', world.escrow), 'InvalidAccountOwner'],
    'a channel that is open': [
      async () => sealInstruction(program, (await openChannel(program, on, { parties: world.parties, salt: 9n })).account),
      2,
    ],
  });
});

describe.each(Object.values(CHANNEL_PROGRAMS))('withdrawPayer, $generation program', (program) => {
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openChannel(program, on);
    await world.seal(400n);
  });
  const built = () => withdrawPayerInstruction(program, world.account);

  it('withdrawPayer pays the refund before the distribution, which does not pay it again', async () => {
    const sealed = await openChannel(program, on, { parties: world.parties, salt: 8n });
    const { payer, merchant } = sealed.parties;
    const before = await on.usdcOf(payer.address);
    await sealed.seal(100n);
    await on.holdClock();
    await on.send(withdrawPayerInstruction(program, sealed.account));
    expect(await on.usdcOf(payer.address)).toBe(before + DEPOSIT - 100n);
    expect((await sealed.read()).payerWithdrawnAt).toBe(await on.now());
    expect(await on.judge(withdrawPayerInstruction(program, sealed.account))).toBe(2300);
    await sealed.distribute();
    expect(await on.usdcOf(payer.address)).toBe(before + DEPOSIT - 100n);
    expect(await on.usdcOf(merchant.address)).toBe(100n);
  });

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 9],
    'an account too many': [async () => longer(built(), await stranger), 9],
    'a payer who does not sign': [() => unsigned(built(), WITHDRAW_PAYER, 'payer'), 1],
    'somebody else': [() => swap(built(), WITHDRAW_PAYER, 'payer', world.parties.merchant.address), 5],
    'another mint': [async () => swap(built(), WITHDRAW_PAYER, 'mint', await stranger), 7],
    'another token program': [() => swap(built(), WITHDRAW_PAYER, 'tokenProgram', TOKEN_2022_PROGRAM), 54],
    'another escrow': [async () => swap(built(), WITHDRAW_PAYER, 'escrow', await deriveTokenAddress(world.opening.payee)), 50],
    "somebody else's token account": [
      async () => swap(built(), WITHDRAW_PAYER, 'payerTokenAccount', await deriveTokenAddress(world.opening.payee)),
      57,
    ],
    'what is no channel': [() => swap(built(), WITHDRAW_PAYER, 'channel', world.escrow), 'InvalidAccountOwner'],
    'a channel that is open': [
      async () => withdrawPayerInstruction(program, (await openChannel(program, on, { parties: world.parties, salt: 9n })).account),
      2,
    ],
  });
});

describe('reclaim, current program', () => {
  const program = CHANNEL_PROGRAMS.current;
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    await on.holdClock();
    world = await openChannel(program, on);
    await world.seal();
    await world.distribute();
  });
  const built = () => reclaimInstruction(program, world.account);

  itRefuses(() => world, {
    'an account too few': [() => shorter(built()), 'NotEnoughAccountKeys'],
    'an account too many': [async () => longer(built(), await stranger), 'NotEnoughAccountKeys'],
    'what is no channel': [() => swap(built(), RECLAIM, 'channel', world.escrow), 'InvalidAccountOwner'],
    'somebody who did not pay the rent': [() => swap(built(), RECLAIM, 'rentPayer', world.parties.payer.address), 10],
    'a channel that is not distributed': [
      async () => reclaimInstruction(program, (await openChannel(program, on, { parties: world.parties, salt: 9n })).account),
      2,
    ],
  });

  it('reclaim waits until the opening slot cannot be reused, then frees the account and its rent', async () => {
    await on.moveSlots(OPEN_SLOT_WINDOW);
    expect(await on.judge(built())).toBe(2414);
    await on.moveSlots(1);
    const rent = await on.lamportsOf(world.address);
    const before = await on.lamportsOf(world.opening.rentPayer);
    await on.send(built());
    expect(await on.dataOf(world.address)).toBeNull();
    expect(await on.lamportsOf(world.opening.rentPayer)).toBe(before + rent);
  });
});

describe.each(Object.values(CHANNEL_PROGRAMS))('instructions of the $generation program', (program) => {
  it('an unknown instruction and a direct event call are refused', async () => {
    const on = await openProgramChain(server());
    const { account, parties } = await openChannel(program, on);
    const made = requestCloseInstruction(program, account);
    expect(await on.judge(withData(made, [99]))).toBe('InvalidInstructionData');
    expect(await on.judge(withData(made, []))).toBe('InvalidInstructionData');
    if (program.generation === 'older') expect(await on.judge(withData(made, [9]))).toBe('InvalidInstructionData');
    expect(await on.judge(withData(made, [228]))).toBe(9);
    const emission = shorter(withData(made, [228]));
    expect(await on.judge(emission)).toBe(8);
    expect(await on.judge(unsigned(swap(emission, REQUEST_CLOSE, 'payer', program.eventAuthority), REQUEST_CLOSE, 'payer'))).toBe(1);
    expect(await on.judge(swap(emission, REQUEST_CLOSE, 'payer', parties.merchant.address))).toBe(8);
  });
});
