import { beforeAll, describe, expect, it } from 'vitest';
import { CHANNEL_PROGRAMS, OPEN_SLOT_WINDOW } from '#solana/programs/payment-channels/channel.ts';
import { hashShares, type Share } from '#solana/programs/payment-channels/distribution.ts';
import { type ChannelOpening, openChannelInstruction, topUpInstruction } from '#solana/programs/payment-channels/instructions.ts';
import { OLDER_OPEN, OPEN, TOP_UP } from '#solana/programs/payment-channels/layouts.ts';
import { TOKEN_2022_PROGRAM } from '../../../local/chain/ledger/network.ts';
import { deriveTokenAddress, newAddress } from '../chain/wallets.ts';
import { type ChannelWorld, DEPOSIT, openChannel, prepareChannel } from './channel-world.ts';
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

const INSUFFICIENT_TOKENS = 1;
const ADDRESS_IN_USE = 0;

describe.each(Object.values(CHANNEL_PROGRAMS))('open, $generation program', (program) => {
  const isCurrent = program.generation === 'current';
  const layout = isCurrent ? OPEN : OLDER_OPEN;
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await prepareChannel(program, on);
  });
  const built = () => openChannelInstruction(program, world.opening);
  const openWith = (changes: Partial<ChannelOpening>) => openChannelInstruction(program, { ...world.opening, ...changes });
  const openFor = (...shares: Share[]) => openWith({ shares });

  it('open creates the channel as given, charges the rent payer, and moves the deposit into escrow', async () => {
    const opened = await prepareChannel(program, on, { parties: world.parties, salt: 8n });
    const rentPayer = opened.opening.rentPayer;
    const before = await on.lamportsOf(rentPayer);
    await opened.open();
    const { shares, tokenProgram: _program, ...stored } = opened.opening;
    expect(await opened.read()).toMatchObject({ ...stored, status: 'open', settled: 0n, distributionHash: hashShares(program, shares) });
    const rent = (await on.lamportsOf(opened.address)) + (await on.lamportsOf(opened.escrow));
    expect(before - (await on.lamportsOf(rentPayer))).toBe(rent);
    expect(await on.usdcOf(opened.address)).toBe(DEPOSIT);
    expect(await on.usdcOf(world.parties.payer.address)).toBe(9n * DEPOSIT);
  });

  it('open succeeds although lamports were sent to the address before', async () => {
    const opened = await prepareChannel(program, on, { parties: world.parties, salt: 9n });
    await on.chain.result('local_fundSol', opened.address, '1000000');
    await opened.open();
    const exemption = await on.chain.result<number>('getMinimumBalanceForRentExemption', program.channelBytes);
    expect(await on.lamportsOf(opened.address)).toBe(BigInt(exemption));
  });

  const stranger = newAddress();
  const refusals: Refusals<ChannelWorld> = {
    'no arguments': [() => withData(built(), [1]), 'InvalidInstructionData'],
    'a byte too many': [() => withData(built(), [...built().data!, 0]), 'InvalidInstructionData'],
    'an account too few': [() => shorter(built()), 'NotEnoughAccountKeys'],
    'an account too many': [async () => longer(built(), await stranger), 'NotEnoughAccountKeys'],
    'more than 32 recipients': [() => withData(built(), [...built().data!.slice(0, isCurrent ? 29 : 21), 33, 0, 0, 0]), 260],
    'a share of nothing': [async () => openFor({ recipient: await stranger, bps: 0 }), 261],
    'shares above the whole': [
      async () => openFor({ recipient: await stranger, bps: 10_000 }, { recipient: world.opening.payee, bps: 1 }),
      261,
    ],
    'itself as a recipient': [() => openFor({ recipient: world.address, bps: 1 }), 261],
    'one recipient twice': [async () => openFor({ recipient: await stranger, bps: 1 }, { recipient: await stranger, bps: 1 }), 263],
    'a payer who does not sign': [() => unsigned(built(), layout, 'payer'), 1],
    'a payer who is the payee': [() => openWith({ payee: world.opening.payer }), 2001],
    'a deposit of nothing': [() => openWith({ deposit: 0n }), 200],
    'no grace period': [() => openWith({ gracePeriodSeconds: 0 }), 201],
    'a voucher key no one can have': [() => openWith({ authorizedSigner: world.address }), 2002],
    'another address for the channel': [async () => swap(built(), layout, 'channel', await stranger), 2000],
    'another token program': [() => swap(built(), layout, 'tokenProgram', TOKEN_2022_PROGRAM), 54],
    'a mint that is none': [async () => openWith({ mint: await stranger }), 53],
    'another escrow': [async () => swap(built(), layout, 'escrow', await stranger), 50],
    "somebody else's token account": [
      async () => swap(built(), layout, 'payerTokenAccount', await deriveTokenAddress(world.parties.merchant.address)),
      57,
    ],
    'another sysvar': [async () => swap(built(), layout, 'rentSysvar', await stranger), 'UnsupportedSysvar'],
    'another event authority': [async () => swap(built(), layout, 'eventAuthority', await stranger), 8],
    'more than the payer has': [() => openWith({ deposit: 20n * DEPOSIT }), INSUFFICIENT_TOKENS],
    ...(isCurrent && {
      'a rent payer who does not sign': [() => unsigned(built(), layout, 'rentPayer'), 1],
      'a slot to come': [async () => openWith({ openSlot: (await on.slot()) + 100n }), 2003],
    }),
  };

  itRefuses(() => world, refusals);

  it('open refuses a payer without a token account and an occupied address', async () => {
    const penniless = await on.openWallet();
    expect(await on.judge(openWith({ payer: penniless.address, ...(isCurrent ? {} : { rentPayer: penniless.address }) }))).toBe(58);
    const opened = await openChannel(program, on, { parties: world.parties, salt: 10n });
    expect(await on.judge(openChannelInstruction(program, { ...opened.opening, deposit: 1n }))).toBe(ADDRESS_IN_USE);
  });
});

it('a channel opens within 1,500 slots from the one in its address, and not later', async () => {
  const { current } = CHANNEL_PROGRAMS;
  const { on, opening } = await prepareChannel(current, await openProgramChain(server()));
  await on.holdClock();
  const late = openChannelInstruction(current, { ...opening, openSlot: await on.slot() });
  await on.moveSlots(OPEN_SLOT_WINDOW);
  expect(await on.judge(late)).toBe('accepted');
  await on.moveSlots(1);
  expect(await on.judge(late)).toBe(2003);
});

describe.each(Object.values(CHANNEL_PROGRAMS))('topUp, $generation program', (program) => {
  let on: ProgramChain;
  let world: ChannelWorld;
  beforeAll(async () => {
    on = await openProgramChain(server());
    world = await openChannel(program, on);
  });
  const built = (amount = 5n) => topUpInstruction(program, world.account, amount);

  it('topUp adds to the deposit and to the escrow', async () => {
    await on.send(built(5n));
    expect((await world.read()).deposit).toBe(DEPOSIT + 5n);
    expect(await on.usdcOf(world.address)).toBe(DEPOSIT + 5n);
  });

  const stranger = newAddress();
  const refusals: Refusals<ChannelWorld> = {
    'no amount': [() => withData(built(), [3]), 'InvalidInstructionData'],
    'an account too few': [() => shorter(built()), 9],
    'an account too many': [async () => longer(built(), await stranger), 9],
    'a payer who does not sign': [() => unsigned(built(), TOP_UP, 'payer'), 1],
    'nothing to add': [() => built(0n), 200],
    'what is no channel': [() => swap(built(), TOP_UP, 'channel', world.escrow), 'InvalidAccountOwner'],
    'a stranger who pays': [() => swap(built(), TOP_UP, 'payer', world.parties.merchant.address), 5],
    'another mint': [async () => swap(built(), TOP_UP, 'mint', await stranger), 7],
    'another token program': [() => swap(built(), TOP_UP, 'tokenProgram', TOKEN_2022_PROGRAM), 54],
    'another escrow': [async () => swap(built(), TOP_UP, 'escrow', await deriveTokenAddress(world.opening.payee)), 50],
    "somebody else's token account": [
      async () => swap(built(), TOP_UP, 'payerTokenAccount', await deriveTokenAddress(world.opening.payee)),
      57,
    ],
    'a deposit beyond 64 bits': [() => built(2n ** 64n - 1n), 2100],
    'more than the payer has': [() => built(20n * DEPOSIT), INSUFFICIENT_TOKENS],
  };

  itRefuses(() => world, refusals);

  it('topUp refuses a channel that is not open', async () => {
    const sealed = await openChannel(program, on, { parties: world.parties, salt: 8n });
    await sealed.seal();
    expect(await on.judge(topUpInstruction(program, sealed.account, 1n))).toBe(2);
  });
});
