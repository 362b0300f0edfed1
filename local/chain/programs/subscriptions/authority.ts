import { type Address, createNoopSigner } from '@solana/kit';
import { getApproveInstruction, getRevokeInstruction, getTokenDecoder } from '@solana-program/token';
import { SUBSCRIPTION_ERRORS } from '#solana/programs/subscriptions/errors.ts';
import type { SubscriptionInstruction } from '#solana/programs/subscriptions/parse-instruction.ts';
import { AUTHORITY_BYTES, encodeAuthority, findAuthorityAddress } from '#solana/programs/subscriptions/subscription.ts';
import { U64_MAX } from '../../network.ts';
import type { ProgramCall } from '../program-call.ts';
import { fail } from '../program-failure.ts';
import {
  isOurs,
  loadAuthority,
  requireHolding,
  requireMint,
  requireOurs,
  requireSigner,
  requireSystemProgram,
  requireTokenAccount,
  requireTokenProgram,
  requireWritable,
  resolvePayer,
  resolveReceiver,
} from './checks.ts';

type InitAuthority = Extract<SubscriptionInstruction, { name: 'initAuthority' }>;
type CloseAuthority = Extract<SubscriptionInstruction, { name: 'closeAuthority' }>;
type RevokeAuthority = Extract<SubscriptionInstruction, { name: 'revokeAuthority' }>;

/** Makes the authority where there is none, and approves it as the delegate of the user's token account for any amount. */
export function initAuthority(call: ProgramCall, { accounts, payer: sponsor }: InitAuthority): void {
  const { user, authority, mint, userTokenAccount, tokenProgram } = accounts;
  requireSigner(call, user);
  requireWritable(call, user, authority, userTokenAccount);
  requireMint(call, mint, tokenProgram);
  requireTokenAccount(call, userTokenAccount, tokenProgram);
  requireSystemProgram(accounts.systemProgram);
  const payer = resolvePayer(call, user, sponsor);
  const { address, bump } = findAuthorityAddress(user, mint);
  if (authority !== address) fail(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  if (call.read(address).data.length === 0) {
    call.create(address, payer, AUTHORITY_BYTES);
    call.write(address, encodeAuthority({ user, mint, payer, bump, initId: call.slot }));
  }
  requireHolding(call, userTokenAccount, { owner: user, mint });
  const approval = { source: userTokenAccount, delegate: address, owner: createNoopSigner(user), amount: U64_MAX };
  call.invoke(getApproveInstruction(approval));
}

/** Closes the authority. What the token account approved stays, for an address that is empty now. */
export function closeAuthority(call: ProgramCall, { accounts, payer }: CloseAuthority): void {
  const { user, authority } = accounts;
  requireSigner(call, user);
  requireWritable(call, user, authority);
  requireOurs(call, authority);
  close(call, { user, authority, receiver: payer });
}

/** Takes the approval away where it is the authority's, and closes that where it is still there. */
export function revokeAuthority(call: ProgramCall, { accounts, payer }: RevokeAuthority): void {
  const { user, userTokenAccount, mint, tokenProgram, authority } = accounts;
  requireSigner(call, user);
  requireWritable(call, user, userTokenAccount);
  requireTokenProgram(tokenProgram);
  requireMint(call, mint, tokenProgram);
  requireTokenAccount(call, userTokenAccount, tokenProgram);
  requireWritable(call, authority);
  requireHolding(call, userTokenAccount, { owner: user, mint });
  const expected = findAuthorityAddress(user, mint).address;
  const { delegate } = getTokenDecoder().decode(call.read(userTokenAccount).data);
  const isDelegate = delegate.__option === 'Some' && delegate.value === expected;
  if (isDelegate) call.invoke(getRevokeInstruction({ source: userTokenAccount, owner: createNoopSigner(user) }));
  const account = call.read(authority);
  if (!isOurs(account) || account.data.length === 0) return;
  if (authority !== expected) fail(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  close(call, { user, authority, receiver: payer });
}

function close(call: ProgramCall, { user, authority, receiver }: { user: Address; authority: Address; receiver: Address | null }): void {
  const stored = loadAuthority(call, authority);
  if (stored.user !== user) fail(SUBSCRIPTION_ERRORS.unauthorized);
  if (authority !== findAuthorityAddress(user, stored.mint).address) fail(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  call.close(authority, resolveReceiver(call, user, stored.payer, receiver));
}
