import { createNoopSigner } from '@solana/kit';
import { getCreateAssociatedTokenIdempotentInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import { isOnCurve } from '#core/crypto.ts';
import { base58, hex } from '#core/encoding.ts';
import { addressSeed, associatedTokenAddress, u64Seed } from '#solana/programs/derived-address.ts';
import { type Channel, type ChannelProgram, findChannelAddress, OPEN_SLOT_WINDOW } from '#solana/programs/payment-channels/channel.ts';
import { hashShares } from '#solana/programs/payment-channels/distribution.ts';
import { CHANNEL_ERRORS } from '#solana/programs/payment-channels/errors.ts';
import { RENT_SYSVAR } from '#solana/programs/payment-channels/instructions.ts';
import type { ChannelInstruction } from '#solana/programs/payment-channels/parse-instruction.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import { U64_MAX } from '../../ledger/network.ts';
import type { ProgramCall } from '../program-call.ts';
import {
  ESCROW_ERRORS,
  loadChannel,
  PAYER_ERRORS,
  requireHolding,
  requireMint,
  requireSigner,
  saveChannel,
  type Token,
} from './channel-accounts.ts';

type Open = Extract<ChannelInstruction, { name: 'open' }>;
type TopUp = Extract<ChannelInstruction, { name: 'topUp' }>;

const OPENED = hex.decode('a6ac61094d4cbd6d');

export function open(program: ChannelProgram, call: ProgramCall, instruction: Open): void {
  const { accounts } = instruction;
  requireSigner(call, accounts.payer);
  requireSigner(call, accounts.rentPayer);
  checkTerms(program, call, instruction);
  const { address, bump } = findChannelAddress(program, { ...accounts, salt: instruction.salt, openSlot: instruction.openSlot });
  if (instruction.shares.some(({ recipient }) => recipient === address)) failProgram(CHANNEL_ERRORS.invalidSplitConfig);
  if (accounts.channel !== address) failProgram(CHANNEL_ERRORS.channelAddressMismatch);
  const token = requireMint(call, accounts.mint, accounts.tokenProgram);
  if (accounts.escrow !== associatedTokenAddress(address, token.mint, token.program)) failProgram(CHANNEL_ERRORS.channelAccountMismatch);
  requireHolding(call, { address: accounts.payerTokenAccount, owner: accounts.payer, token }, PAYER_ERRORS);
  if (accounts.rentSysvar !== RENT_SYSVAR) failProgram('UnsupportedSysvar');

  call.create(address, accounts.rentPayer, program.channelBytes);
  const payer = createNoopSigner(accounts.rentPayer);
  const creation = { payer, ata: accounts.escrow, owner: address, mint: token.mint };
  call.invoke(getCreateAssociatedTokenIdempotentInstruction(creation));
  deposit(call, { ...accounts, token, amount: instruction.deposit });
  saveChannel(program, call, address, newChannel(program, instruction, bump));
  if (accounts.eventAuthority !== program.eventAuthority) failProgram(CHANNEL_ERRORS.invalidEventAuthority);
  const epoch = instruction.openSlot === null ? [] : [...u64Seed(instruction.openSlot)];
  call.emit(program.eventAuthority, [...OPENED, ...addressSeed(address), ...epoch]);
}

export function topUp(program: ChannelProgram, call: ProgramCall, { accounts, amount }: TopUp): void {
  requireSigner(call, accounts.payer);
  if (amount === 0n) failProgram(CHANNEL_ERRORS.depositMustBeNonZero);
  const channel = loadChannel(program, call, accounts.channel);
  if (channel.status !== 'open') failProgram(CHANNEL_ERRORS.invalidChannelStatus);
  if (accounts.payer !== channel.payer) failProgram(CHANNEL_ERRORS.invalidChannelPayer);
  if (accounts.mint !== channel.mint) failProgram(CHANNEL_ERRORS.invalidChannelMint);
  const token = requireMint(call, accounts.mint, accounts.tokenProgram);
  requireHolding(call, { address: accounts.escrow, owner: accounts.channel, token }, ESCROW_ERRORS);
  requireHolding(call, { address: accounts.payerTokenAccount, owner: accounts.payer, token }, PAYER_ERRORS);
  if (channel.deposit + amount > U64_MAX) failProgram(CHANNEL_ERRORS.topUpDepositOverflow);
  saveChannel(program, call, accounts.channel, { ...channel, deposit: channel.deposit + amount });
  deposit(call, { ...accounts, token, amount });
}

function checkTerms(program: ChannelProgram, call: ProgramCall, { accounts, openSlot, ...terms }: Open): void {
  if (accounts.payer === accounts.payee) failProgram(CHANNEL_ERRORS.payerPayeeMustDiffer);
  if (terms.deposit === 0n) failProgram(CHANNEL_ERRORS.depositMustBeNonZero);
  if (terms.gracePeriodSeconds < 1) failProgram(CHANNEL_ERRORS.gracePeriodMustBeNonZero);
  if (!isOnCurve(base58.decode(accounts.authorizedSigner))) failProgram(CHANNEL_ERRORS.invalidAuthorizedSigner);
  if (program.generation === 'older' || openSlot === null) return;
  if (openSlot > call.slot || call.slot - openSlot > OPEN_SLOT_WINDOW) failProgram(CHANNEL_ERRORS.openSlotOutOfWindow);
}

function deposit(
  call: ProgramCall,
  into: Pick<TopUp['accounts'], 'payer' | 'payerTokenAccount' | 'escrow'> & { token: Token; amount: bigint },
) {
  const { token, amount } = into;
  const authority = createNoopSigner(into.payer);
  const transfer = {
    source: into.payerTokenAccount,
    mint: token.mint,
    destination: into.escrow,
    authority,
    amount,
    decimals: token.decimals,
  };
  call.invoke(getTransferCheckedInstruction(transfer));
}

function newChannel(program: ChannelProgram, { accounts, shares, ...terms }: Open, bump: number): Channel {
  const { payer, payee, authorizedSigner, mint, rentPayer } = accounts;
  const { salt, deposit, gracePeriodSeconds, openSlot } = terms;
  return {
    bump,
    status: 'open',
    salt,
    deposit,
    settled: 0n,
    payoutWatermark: 0n,
    closureStartedAt: 0n,
    payerWithdrawnAt: 0n,
    gracePeriodSeconds,
    distributionHash: hashShares(program, shares),
    payer,
    payee,
    authorizedSigner,
    mint,
    rentPayer,
    openSlot,
  };
}
