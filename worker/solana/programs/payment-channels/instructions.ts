import { type Address, getU8Encoder, getU32Encoder, getU64Encoder, type Instruction, type ReadonlyUint8Array } from '@solana/kit';
import { associatedTokenAddress } from '../derived-address.ts';
import { buildInstruction, WRITABLE } from '../instruction-layout.ts';
import { type Channel, type ChannelProgram, findChannelAddress } from './channel.ts';
import { encodeDistribution, type Share } from './distribution.ts';
import {
  DISTRIBUTE,
  OLDER_DISTRIBUTE,
  OLDER_OPEN,
  OPEN,
  RECLAIM,
  REQUEST_CLOSE,
  SEAL,
  SETTLE,
  SETTLE_AND_SEAL,
  TOP_UP,
  WITHDRAW_PAYER,
} from './layouts.ts';
import { encodeVoucher, type Voucher } from './vouchers.ts';

export const INSTRUCTIONS_SYSVAR = 'Sysvar1nstructions1111111111111111111111111' as Address;
export const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111' as Address;
const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;
const ASSOCIATED_TOKEN_PROGRAM = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL' as Address;

export interface ChannelOpening
  extends Pick<
    Channel,
    'payer' | 'rentPayer' | 'payee' | 'mint' | 'authorizedSigner' | 'salt' | 'deposit' | 'gracePeriodSeconds' | 'openSlot'
  > {
  shares: readonly Share[];
  tokenProgram: Address;
}

export interface ChannelAccount {
  address: Address;
  channel: Pick<Channel, 'payer' | 'payee' | 'mint' | 'rentPayer'>;
  tokenProgram: Address;
}

export function openChannelInstruction(program: ChannelProgram, opening: ChannelOpening): Instruction {
  const { payer, rentPayer, payee, mint, authorizedSigner, tokenProgram } = opening;
  const channel = findChannelAddress(program, opening).address;
  const accounts = {
    payer,
    rentPayer,
    payee,
    mint,
    authorizedSigner,
    channel,
    payerTokenAccount: associatedTokenAddress(payer, mint, tokenProgram),
    escrow: associatedTokenAddress(channel, mint, tokenProgram),
    tokenProgram,
    systemProgram: SYSTEM_PROGRAM,
    rentSysvar: RENT_SYSVAR,
    associatedTokenProgram: ASSOCIATED_TOKEN_PROGRAM,
    eventAuthority: program.eventAuthority,
    program: program.address,
  };
  const isCurrent = program.generation === 'current';
  const args = Uint8Array.of(
    ...getU64Encoder().encode(opening.salt),
    ...getU64Encoder().encode(opening.deposit),
    ...getU32Encoder().encode(opening.gracePeriodSeconds),
    ...(isCurrent ? getU64Encoder().encode(opening.openSlot ?? 0n) : []),
    ...encodeDistribution(opening.shares),
  );
  return buildInstruction(program.address, isCurrent ? OPEN : OLDER_OPEN, accounts, { args });
}

/** Raises the settled amount to the voucher verified by the preceding Ed25519 instruction. Needs no signer. */
export const settleInstruction = (program: ChannelProgram, voucher: Voucher): Instruction =>
  buildInstruction(
    program.address,
    SETTLE,
    { channel: voucher.channelId, instructionsSysvar: INSTRUCTIONS_SYSVAR },
    { args: program.generation === 'older' ? encodeVoucher(program, voucher) : new Uint8Array() },
  );

/** Adds to the deposit of an open channel. The payer signs. */
export const topUpInstruction = (program: ChannelProgram, account: ChannelAccount, amount: bigint): Instruction =>
  buildInstruction(program.address, TOP_UP, tokenAccountsOf(account), { args: getU64Encoder().encode(amount) });

/**
 * Ends a channel with the payee's signature and optionally a last voucher. A voucher must exceed the settled amount, so pass null if that
 * is already the highest.
 */
export function settleAndSealInstruction(
  program: ChannelProgram,
  { address, channel }: ChannelAccount,
  voucher: Voucher | null,
): Instruction {
  const hasVoucher = getU8Encoder().encode(voucher === null ? 0 : 1);
  const unused = { channelId: address, cumulativeAmount: 0n, expiresAt: 0n };
  const copy: ReadonlyUint8Array = program.generation === 'older' ? encodeVoucher(program, voucher ?? unused) : new Uint8Array();
  const accounts = { payee: channel.payee, channel: address, instructionsSysvar: INSTRUCTIONS_SYSVAR };
  return buildInstruction(program.address, SETTLE_AND_SEAL, accounts, { args: Uint8Array.of(...copy, ...hasVoucher) });
}

/** Starts the payer's exit: after the grace period anyone may seal. The payer signs. */
export const requestCloseInstruction = (program: ChannelProgram, { address, channel }: ChannelAccount): Instruction =>
  buildInstruction(program.address, REQUEST_CLOSE, { payer: channel.payer, channel: address });

/** Seals a channel after its grace period. Needs no signer. */
export const sealInstruction = (program: ChannelProgram, { address }: ChannelAccount): Instruction =>
  buildInstruction(program.address, SEAL, { channel: address });

/**
 * Pays out the settled, undistributed amount. For a sealed channel also refunds the payer, pays the residue and closes the account.
 * `shares` must equal the opening's. A recipient with a missing or frozen token account loses its share to the treasury.
 */
export function distributeInstruction(
  program: ChannelProgram,
  account: ChannelAccount,
  { shares, treasuryOwner }: { shares: readonly Share[]; treasuryOwner: Address },
): Instruction {
  const { channel, tokenProgram } = account;
  const holdingOf = (owner: Address) => associatedTokenAddress(owner, channel.mint, tokenProgram);
  const accounts = {
    ...tokenAccountsOf(account),
    rentPayer: channel.rentPayer,
    payeeTokenAccount: holdingOf(channel.payee),
    treasuryTokenAccount: holdingOf(treasuryOwner),
    eventAuthority: program.eventAuthority,
    program: program.address,
  };
  const layout = program.generation === 'current' ? DISTRIBUTE : OLDER_DISTRIBUTE;
  const rest = shares.map(({ recipient }) => ({ address: holdingOf(recipient), role: WRITABLE }));
  return buildInstruction(program.address, layout, accounts, { args: encodeDistribution(shares), rest });
}

/** Refunds the payer of a sealed channel before its distribution. The payer signs. */
export const withdrawPayerInstruction = (program: ChannelProgram, account: ChannelAccount): Instruction =>
  buildInstruction(program.address, WITHDRAW_PAYER, tokenAccountsOf(account));

/** Frees a distributed channel's account after its window and returns the rent to its payer. Current program only. */
export const reclaimInstruction = (program: ChannelProgram, { address, channel }: ChannelAccount): Instruction =>
  buildInstruction(program.address, RECLAIM, { channel: address, rentPayer: channel.rentPayer });

const tokenAccountsOf = ({ address, channel, tokenProgram }: ChannelAccount) => ({
  payer: channel.payer,
  channel: address,
  payerTokenAccount: associatedTokenAddress(channel.payer, channel.mint, tokenProgram),
  escrow: associatedTokenAddress(address, channel.mint, tokenProgram),
  mint: channel.mint,
  tokenProgram,
});
