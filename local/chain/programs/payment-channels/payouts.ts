import type { Address } from '@solana/kit';
import { hex } from '#core/encoding.ts';
import { addressSeed, associatedTokenAddress, u64Seed } from '#solana/programs/derived-address.ts';
import type { ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { CHANNEL_ERRORS } from '#solana/programs/payment-channels/errors.ts';
import { failProgram } from '#solana/programs/program-failure.ts';
import type { ProgramCall } from '../program-call.ts';
import { findHoldingProblem, type HoldingProblem, type Token } from './channel-accounts.ts';

const BENEFICIARIES = ['recipient', 'payee', 'payer'] as const;

export interface Payout {
  beneficiary: (typeof BENEFICIARIES)[number];
  owner: Address;
  tokenAccount: Address;
  amount: bigint;
}

const WRONG_ACCOUNT = {
  recipient: CHANNEL_ERRORS.recipientAccountMismatch,
  payee: CHANNEL_ERRORS.payeeAccountMismatch,
  payer: CHANNEL_ERRORS.payerAccountMismatch,
} as const;

// Event codes for a redirected payout. The program's first code is about token extensions.
const REDIRECT_REASONS: Readonly<Record<HoldingProblem, number | null>> = {
  other_address: null,
  malformed: 1,
  not_initialized: 2,
  other_owner: 3,
};

const PAYOUT_REDIRECTED = hex.decode('d116b9d754a75450');

interface Context {
  channel: Address;
  treasuryTokenAccount: Address;
  eventAuthority: Address;
  token: Token;
}

/**
 * Resolves the destination of a payout. If the party's token account is missing, frozen or another owner's, the payout goes to the treasury
 * permanently so that the party cannot block the others. A wrong account named by the caller is an error.
 */
export function resolveDestination(
  program: ChannelProgram,
  call: ProgramCall,
  { channel, treasuryTokenAccount, eventAuthority, token }: Context,
  { beneficiary, owner, tokenAccount, amount }: Payout,
): { destination: Address; amount: bigint } {
  if (amount === 0n) {
    if (tokenAccount !== associatedTokenAddress(owner, token.mint, token.program)) failProgram(WRONG_ACCOUNT[beneficiary]);
    return { destination: tokenAccount, amount };
  }
  const problem = findHoldingProblem(call.read(tokenAccount), owner, token);
  if (problem === null) return { destination: tokenAccount, amount };
  // The older program has no code for an account with a changed owner and refuses it.
  const reason = program.generation === 'older' && problem === 'other_owner' ? null : REDIRECT_REASONS[problem];
  if (reason === null) return failProgram(WRONG_ACCOUNT[beneficiary]);
  if (eventAuthority !== program.eventAuthority) failProgram(CHANNEL_ERRORS.invalidEventAuthority);
  const kinds = [BENEFICIARIES.indexOf(beneficiary), reason];
  const fields = [...addressSeed(channel), ...addressSeed(owner), ...u64Seed(amount), ...kinds];
  call.emit(program.eventAuthority, [...PAYOUT_REDIRECTED, ...fields]);
  return { destination: treasuryTokenAccount, amount };
}
