import type { Address, EncodedAccount } from '@solana/kit';
import { associatedTokenAddress } from '#solana/programs/derived-address.ts';
import {
  type Channel,
  type ChannelProblem,
  type ChannelProgram,
  decodeChannel,
  encodeChannel,
} from '#solana/programs/payment-channels/channel.ts';
import { CHANNEL_ERRORS, type ChannelError } from '#solana/programs/payment-channels/errors.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import { TOKEN_PROGRAM } from '../../ledger/network.ts';
import { isMint, isTokenAccount, readHolding, TOKEN_ACCOUNT_BYTES } from '../../ledger/tokens.ts';
import type { ProgramCall } from '../program-call.ts';

const CHANNEL_PROBLEMS: Readonly<Record<ChannelProblem, number | string>> = {
  tombstone: 'InvalidAccountData',
  wrong_length: 'InvalidAccountData',
  wrong_discriminator: CHANNEL_ERRORS.invalidAccountDiscriminator,
  wrong_version: CHANNEL_ERRORS.unsupportedChannelVersion,
  wrong_status: CHANNEL_ERRORS.invalidChannelStatus,
};

export function loadChannel(program: ChannelProgram, call: ProgramCall, address: Address): Channel {
  const account = call.read(address);
  if (account.programAddress !== program.address) failProgram('InvalidAccountOwner');
  const channel = decodeChannel(program, account.data);
  return channel.ok ? channel.value : failProgram(CHANNEL_PROBLEMS[channel.reason]);
}

export function saveChannel(program: ChannelProgram, call: ProgramCall, address: Address, channel: Channel): void {
  call.write(address, encodeChannel(program, channel));
}

export function requireSigner(call: ProgramCall, address: Address): void {
  if (!call.isSigner(address)) failProgram(CHANNEL_ERRORS.missingRequiredSignature);
}

export interface Token {
  mint: Address;
  program: Address;
  decimals: number;
}

/** Requires a mint of the classic token program, the only one that this model supports. */
export function requireMint(call: ProgramCall, mint: Address, tokenProgram: Address): Token {
  if (tokenProgram !== TOKEN_PROGRAM) failProgram(CHANNEL_ERRORS.invalidMintTokenProgram);
  const account = call.read(mint);
  if (account.programAddress !== TOKEN_PROGRAM || !isMint(account)) failProgram(CHANNEL_ERRORS.mintAccountMismatch);
  return { mint, program: tokenProgram, decimals: account.data[44]! };
}

/** Reason why a token account cannot receive: other address, malformed, other owner, or frozen. */
export type HoldingProblem = 'other_address' | 'malformed' | 'other_owner' | 'not_initialized';

const INITIALIZED = 1;
const STATE_OFFSET = 108;

export function findHoldingProblem(account: EncodedAccount, owner: Address, token: Token): HoldingProblem | null {
  if (account.address !== associatedTokenAddress(owner, token.mint, token.program)) return 'other_address';
  if (account.programAddress !== token.program || account.data.length !== TOKEN_ACCOUNT_BYTES) return 'malformed';
  const holding = readHolding(account.data);
  if (isTokenAccount(account) && (holding.owner !== owner || holding.mint !== token.mint)) return 'other_owner';
  return account.data[STATE_OFFSET] === INITIALIZED ? null : 'not_initialized';
}

/** Requires an owner's associated token account. The two error numbers are for another account and for a broken one. */
export function requireHolding(
  call: ProgramCall,
  { address, owner, token }: { address: Address; owner: Address; token: Token },
  errors: { mismatch: ChannelError; malformed: ChannelError },
): void {
  const problem = findHoldingProblem(call.read(address), owner, token);
  if (problem !== null) failProgram(CHANNEL_ERRORS[problem === 'malformed' ? errors.malformed : errors.mismatch]);
}

export const ESCROW_ERRORS = { mismatch: 'channelAccountMismatch', malformed: 'invalidChannelTokenAccount' } as const;
export const PAYER_ERRORS = { mismatch: 'payerAccountMismatch', malformed: 'invalidPayerTokenAccount' } as const;
export const TREASURY_ERRORS = { mismatch: 'treasuryAccountMismatch', malformed: 'invalidTreasuryTokenAccount' } as const;
