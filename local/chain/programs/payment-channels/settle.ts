import { getAddressDecoder } from '@solana/kit';
import type { Channel, ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { CHANNEL_ERRORS } from '#solana/programs/payment-channels/errors.ts';
import { INSTRUCTIONS_SYSVAR } from '#solana/programs/payment-channels/instructions.ts';
import type { ChannelInstruction } from '#solana/programs/payment-channels/parse-instruction.ts';
import {
  decodeVoucher,
  ED25519_PROGRAM,
  encodeVoucher,
  parseEd25519Instruction,
  type SignedMessage,
  type Voucher,
} from '#solana/programs/payment-channels/vouchers.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import type { ProgramCall } from '../program-call.ts';
import { loadChannel, requireSigner, saveChannel } from './channel-accounts.ts';

type Settle = Extract<ChannelInstruction, { name: 'settle' }>;
type SettleAndSeal = Extract<ChannelInstruction, { name: 'settleAndSeal' }>;

/** Raises the settled amount to a signed voucher. Permissionless. */
export function settle(program: ChannelProgram, call: ProgramCall, { accounts, voucher }: Settle): void {
  const channel = loadChannel(program, call, accounts.channel);
  if (channel.status !== 'open') failProgram(CHANNEL_ERRORS.invalidChannelStatus);
  const settled = verifyVoucher(program, call, { ...accounts, state: channel, copy: voucher });
  saveChannel(program, call, accounts.channel, { ...channel, settled });
}

/** Ends a channel with the payee's signature: open, or closing within its grace period. */
export function settleAndSeal(program: ChannelProgram, call: ProgramCall, { accounts, hasVoucher, voucher }: SettleAndSeal): void {
  requireSigner(call, accounts.payee);
  const channel = loadChannel(program, call, accounts.channel);
  const isInGrace = channel.status === 'closing' && call.now < channel.closureStartedAt + BigInt(channel.gracePeriodSeconds);
  if (channel.status !== 'open' && !isInGrace) failProgram(CHANNEL_ERRORS.invalidChannelStatus);
  if (accounts.payee !== channel.payee) failProgram(CHANNEL_ERRORS.invalidChannelPayee);
  const settled = hasVoucher ? verifyVoucher(program, call, { ...accounts, state: channel, copy: voucher }) : channel.settled;
  saveChannel(program, call, accounts.channel, { ...channel, settled, status: 'sealed', closureStartedAt: 0n });
}

type Verified = Settle['accounts'] & { state: Channel; copy: Voucher | null };

/**
 * Reads the voucher that the runtime has just verified and checks its amount. The older program takes the amounts from its own copy and
 * compares the bytes last.
 */
function verifyVoucher(program: ChannelProgram, call: ProgramCall, { channel, instructionsSysvar, state, copy }: Verified): bigint {
  if (instructionsSysvar !== INSTRUCTIONS_SYSVAR) failProgram('UnsupportedSysvar');
  const signed = readSignedMessage(program, call);
  const voucher = copy ?? decodeVoucher(program, signed.message) ?? failProgram(CHANNEL_ERRORS.voucherBadMagic);
  if (voucher.channelId !== channel) failProgram(CHANNEL_ERRORS.voucherChannelMismatch);
  if (voucher.expiresAt !== 0n && call.now >= voucher.expiresAt) failProgram(CHANNEL_ERRORS.voucherExpired);
  if (voucher.cumulativeAmount > state.deposit) failProgram(CHANNEL_ERRORS.voucherOverDeposit);
  if (voucher.cumulativeAmount <= state.settled) failProgram(CHANNEL_ERRORS.voucherWatermarkNotMonotonic);
  if (copy !== null && !isSame(encodeVoucher(program, copy), signed.message)) failProgram(CHANNEL_ERRORS.voucherMessageMismatch);
  if (getAddressDecoder().decode(signed.publicKey) !== state.authorizedSigner) failProgram(CHANNEL_ERRORS.voucherSignerMismatch);
  return voucher.cumulativeAmount;
}

function readSignedMessage(program: ChannelProgram, call: ProgramCall): SignedMessage {
  const previous = call.previousInstruction;
  if (previous?.program !== ED25519_PROGRAM) return failProgram(CHANNEL_ERRORS.missingEd25519Verification);
  return parseEd25519Instruction(program, previous.data) ?? failProgram(CHANNEL_ERRORS.malformedEd25519Instruction);
}

const isSame = (a: Uint8Array, b: ArrayLike<number>): boolean => a.length === b.length && a.every((byte, index) => byte === b[index]);
