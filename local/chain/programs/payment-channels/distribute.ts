import { type Address, createNoopSigner } from '@solana/kit';
import { getCloseAccountInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import { equalBytes } from '#core/crypto.ts';
import { type Channel, type ChannelProgram, OPEN_SLOT_WINDOW, TOMBSTONE } from '#solana/programs/payment-channels/channel.ts';
import { hashShares, remainderBps, shareBetween } from '#solana/programs/payment-channels/distribution.ts';
import { CHANNEL_ERRORS } from '#solana/programs/payment-channels/errors.ts';
import type { ChannelInstruction } from '#solana/programs/payment-channels/parse-instruction.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import { readHolding } from '../../ledger/tokens.ts';
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
  TREASURY_ERRORS,
} from './channel-accounts.ts';
import { type Payout, resolveDestination } from './payouts.ts';

type Distribute = Extract<ChannelInstruction, { name: 'distribute' }>;
type WithdrawPayer = Extract<ChannelInstruction, { name: 'withdrawPayer' }>;
type Reclaim = Extract<ChannelInstruction, { name: 'reclaim' }>;

/** Pays out what is settled and not distributed. A sealed channel also pays refund and residue, and closes. Permissionless. */
export function distribute(program: ChannelProgram, call: ProgramCall, instruction: Distribute): void {
  const { accounts } = instruction;
  const channel = loadChannel(program, call, accounts.channel);
  const token = checkDistribution(program, call, instruction, channel);
  const payouts = listPayouts(instruction, channel).map((payout) => resolveDestination(program, call, { ...accounts, token }, payout));
  const isSealed = channel.status === 'sealed';
  if (isSealed) payouts.push({ destination: accounts.treasuryTokenAccount, amount: residueOf(call, accounts.escrow, payouts) });
  for (const { destination, amount } of payouts) payFromEscrow(call, { ...accounts, token, destination, amount });
  if (isSealed) closeChannel(program, call, accounts, channel);
  else saveChannel(program, call, accounts.channel, { ...channel, payoutWatermark: channel.settled });
}

/** Refunds the payer of a sealed channel ahead of its distribution. */
export function withdrawPayer(program: ChannelProgram, call: ProgramCall, { accounts }: WithdrawPayer): void {
  requireSigner(call, accounts.payer);
  const channel = loadChannel(program, call, accounts.channel);
  if (channel.status !== 'sealed') failProgram(CHANNEL_ERRORS.invalidChannelStatus);
  if (accounts.payer !== channel.payer) failProgram(CHANNEL_ERRORS.invalidChannelPayer);
  if (channel.payerWithdrawnAt !== 0n) failProgram(CHANNEL_ERRORS.payerAlreadyWithdrawn);
  if (accounts.mint !== channel.mint) failProgram(CHANNEL_ERRORS.invalidChannelMint);
  const token = requireMint(call, accounts.mint, accounts.tokenProgram);
  requireHolding(call, { address: accounts.escrow, owner: accounts.channel, token }, ESCROW_ERRORS);
  requireHolding(call, { address: accounts.payerTokenAccount, owner: accounts.payer, token }, PAYER_ERRORS);
  saveChannel(program, call, accounts.channel, { ...channel, payerWithdrawnAt: call.now });
  const refund = channel.deposit - channel.settled;
  payFromEscrow(call, { ...accounts, token, destination: accounts.payerTokenAccount, amount: refund });
}

/** Frees the remains of a distributed channel after its window. Permissionless. */
export function reclaim(program: ChannelProgram, call: ProgramCall, { accounts }: Reclaim): void {
  const channel = loadChannel(program, call, accounts.channel);
  if (channel.status !== 'distributed') failProgram(CHANNEL_ERRORS.invalidChannelStatus);
  if (accounts.rentPayer !== channel.rentPayer) failProgram(CHANNEL_ERRORS.invalidChannelRentPayer);
  if (!isWindowOver(call, channel)) failProgram(CHANNEL_ERRORS.channelCloseTooEarly);
  call.close(accounts.channel, accounts.rentPayer);
}

function checkDistribution(program: ChannelProgram, call: ProgramCall, { accounts, ...terms }: Distribute, channel: Channel): Token {
  if (channel.status !== 'open' && channel.status !== 'sealed') failProgram(CHANNEL_ERRORS.channelNotDistributable);
  if (accounts.payer !== channel.payer) failProgram(CHANNEL_ERRORS.invalidChannelPayer);
  if (accounts.mint !== channel.mint) failProgram(CHANNEL_ERRORS.invalidChannelMint);
  if (accounts.rentPayer !== channel.rentPayer) failProgram(CHANNEL_ERRORS.invalidChannelRentPayer);
  const token = requireMint(call, accounts.mint, accounts.tokenProgram);
  requireHolding(call, { address: accounts.escrow, owner: accounts.channel, token }, ESCROW_ERRORS);
  // This chain imitates devnet, so the treasury is devnet's.
  const owner = program.treasuryOwners.devnet;
  requireHolding(call, { address: accounts.treasuryTokenAccount, owner, token }, TREASURY_ERRORS);
  const isCommitted = equalBytes(hashShares(program, terms.shares), Uint8Array.from(channel.distributionHash));
  if (!isCommitted) failProgram(CHANNEL_ERRORS.invalidDistributionHash);
  if (terms.shareTokenAccounts.length !== terms.shares.length) failProgram(CHANNEL_ERRORS.recipientAccountCountMismatch);
  if (channel.payoutWatermark > channel.settled) failProgram(CHANNEL_ERRORS.distributePoolOverflow);
  if (channel.status === 'open' && channel.payoutWatermark === channel.settled) failProgram(CHANNEL_ERRORS.nothingToDistribute);
  return token;
}

/** Lists payouts in the program's order: shares, payee, and for a sealed channel the payer. */
function listPayouts({ accounts, shares, shareTokenAccounts }: Distribute, channel: Channel): Payout[] {
  const part = (bps: number) => shareBetween(channel.payoutWatermark, channel.settled, bps);
  const payouts = shares.map(({ recipient, bps }, index): Payout => {
    return { beneficiary: 'recipient', owner: recipient, tokenAccount: shareTokenAccounts[index]!, amount: part(bps) };
  });
  payouts.push({
    beneficiary: 'payee',
    owner: channel.payee,
    tokenAccount: accounts.payeeTokenAccount,
    amount: part(remainderBps(shares)),
  });
  const refund = channel.deposit - channel.settled;
  const isRefundDue = channel.status === 'sealed' && channel.payerWithdrawnAt === 0n && refund > 0n;
  if (isRefundDue) {
    payouts.push({ beneficiary: 'payer', owner: channel.payer, tokenAccount: accounts.payerTokenAccount, amount: refund });
  }
  return payouts;
}

/** Returns rounding remains and foreign transfers to the escrow. */
function residueOf(call: ProgramCall, escrow: Address, payouts: readonly { amount: bigint }[]): bigint {
  const due = payouts.reduce((sum, { amount }) => sum + amount, 0n);
  const held = readHolding(call.read(escrow).data).amount;
  return held >= due ? held - due : failProgram(CHANNEL_ERRORS.distributeBalanceCalculationOverflow);
}

type FromEscrow = Pick<Distribute['accounts'], 'channel' | 'escrow'> & { token: Token; destination: Address; amount: bigint };

function payFromEscrow(call: ProgramCall, { channel, escrow, token, destination, amount }: FromEscrow): void {
  if (amount === 0n) return;
  const authority = createNoopSigner(channel);
  const transfer = { source: escrow, mint: token.mint, destination, authority, amount, decimals: token.decimals };
  call.invoke(getTransferCheckedInstruction(transfer), [channel]);
}

/** Closes the escrow, then the channel: freed, retained until its window ends, or on the older program one byte permanently. */
function closeChannel(program: ChannelProgram, call: ProgramCall, accounts: Distribute['accounts'], channel: Channel): void {
  const closing = { account: accounts.escrow, destination: accounts.rentPayer, owner: createNoopSigner(accounts.channel) };
  call.invoke(getCloseAccountInstruction(closing), [accounts.channel]);
  if (program.generation === 'older') {
    call.write(accounts.channel, TOMBSTONE);
    const surplus = call.read(accounts.channel).lamports - call.rentExemption(TOMBSTONE.length);
    call.moveLamports(accounts.channel, accounts.rentPayer, surplus);
  } else if (isWindowOver(call, channel)) {
    call.close(accounts.channel, accounts.rentPayer);
  } else {
    saveChannel(program, call, accounts.channel, { ...channel, status: 'distributed' });
  }
}

const isWindowOver = (call: ProgramCall, channel: Channel): boolean => call.slot > (channel.openSlot ?? 0n) + OPEN_SLOT_WINDOW;
