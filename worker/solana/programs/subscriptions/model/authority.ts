import { type Address, createNoopSigner } from '@solana/kit';
import { getApproveInstruction, getRevokeInstruction, getTokenDecoder } from '@solana-program/token';
import { failProgram } from '../../program-failure.ts';
import type { ProgramRun } from '../../program-run.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import type { SubscriptionInstruction } from '../parse-instruction.ts';
import { AUTHORITY_BYTES, encodeAuthority, findAuthorityAddress } from '../subscription.ts';
import {
  isOfProgram,
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

const U64_MAX = 2n ** 64n - 1n;

export function initAuthority(run: ProgramRun, { accounts, payer: sponsor }: InitAuthority): void {
  const { user, authority, mint, userTokenAccount, tokenProgram } = accounts;
  requireSigner(run, user);
  requireWritable(run, user, authority, userTokenAccount);
  requireMint(run, mint, tokenProgram);
  requireTokenAccount(run, userTokenAccount, tokenProgram);
  requireSystemProgram(accounts.systemProgram);
  const payer = resolvePayer(run, user, sponsor);
  const { address, bump } = findAuthorityAddress(user, mint);
  if (authority !== address) failProgram(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  if (run.read(address).data.length === 0) {
    run.create(address, payer, AUTHORITY_BYTES);
    run.write(address, encodeAuthority({ user, mint, payer, bump, initId: run.slot }));
  }
  requireHolding(run, userTokenAccount, { owner: user, mint });
  const approval = { source: userTokenAccount, delegate: address, owner: createNoopSigner(user), amount: U64_MAX };
  run.invoke(getApproveInstruction(approval));
}

/** Closes the authority. The token account's approval remains, for an address that is now empty. */
export function closeAuthority(run: ProgramRun, { accounts, payer }: CloseAuthority): void {
  const { user, authority } = accounts;
  requireSigner(run, user);
  requireWritable(run, user, authority);
  requireOurs(run, authority);
  close(run, { user, authority, receiver: payer });
}

/** Revokes the approval if it is the authority's, and closes the authority if it exists. */
export function revokeAuthority(run: ProgramRun, { accounts, payer }: RevokeAuthority): void {
  const { user, userTokenAccount, mint, tokenProgram, authority } = accounts;
  requireSigner(run, user);
  requireWritable(run, user, userTokenAccount);
  requireTokenProgram(tokenProgram);
  requireMint(run, mint, tokenProgram);
  requireTokenAccount(run, userTokenAccount, tokenProgram);
  requireWritable(run, authority);
  requireHolding(run, userTokenAccount, { owner: user, mint });
  const expected = findAuthorityAddress(user, mint).address;
  const { delegate } = getTokenDecoder().decode(run.read(userTokenAccount).data);
  const isDelegate = delegate.__option === 'Some' && delegate.value === expected;
  if (isDelegate) run.invoke(getRevokeInstruction({ source: userTokenAccount, owner: createNoopSigner(user) }));
  const account = run.read(authority);
  if (!isOfProgram(account) || account.data.length === 0) return;
  if (authority !== expected) failProgram(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  close(run, { user, authority, receiver: payer });
}

function close(run: ProgramRun, { user, authority, receiver }: { user: Address; authority: Address; receiver: Address | null }): void {
  const stored = loadAuthority(run, authority);
  if (stored.user !== user) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  if (authority !== findAuthorityAddress(user, stored.mint).address) failProgram(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  run.close(authority, resolveReceiver(run, user, stored.payer, receiver));
}
