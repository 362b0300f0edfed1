import type { Address, EncodedAccount } from '@solana/kit';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../assets.ts';
import { addressSeed, associatedTokenAddress, u64Seed } from '../../derived-address.ts';
import { failProgram } from '../../program-failure.ts';
import type { ProgramRun } from '../../program-run.ts';
import { findMintDecimals, isClassicHolding, readHolder } from '../../token-account.ts';
import { SUBSCRIPTION_ERRORS } from '../errors.ts';
import {
  ACCOUNT_KINDS,
  decodeAuthority,
  decodePlan,
  decodeSubscription,
  SUBSCRIPTIONS_EVENT_AUTHORITY,
  SUBSCRIPTIONS_PROGRAM,
  type Subscription,
  type SubscriptionAccountProblem,
  type SubscriptionAuthority,
  type SubscriptionPlan,
} from '../subscription.ts';

const PROBLEMS: Readonly<Record<SubscriptionAccountProblem, number>> = {
  wrong_length: SUBSCRIPTION_ERRORS.invalidAccountData,
  wrong_discriminator: SUBSCRIPTION_ERRORS.invalidAccountDiscriminator,
  wrong_version: SUBSCRIPTION_ERRORS.delegationVersionMismatch,
  wrong_status: SUBSCRIPTION_ERRORS.invalidPlanStatus,
};
const VERSION = 1;

export const isOfProgram = (account: Pick<EncodedAccount, 'programAddress'>): boolean => account.programAddress === SUBSCRIPTIONS_PROGRAM;

export function requireSigner(run: ProgramRun, address: Address): void {
  if (!run.isSigner(address)) failProgram(SUBSCRIPTION_ERRORS.notSigner);
}

export function requireWritable(run: ProgramRun, ...addresses: readonly Address[]): void {
  if (addresses.some((address) => !run.isWritable(address))) failProgram(SUBSCRIPTION_ERRORS.accountNotWritable);
}

export function requireOurs(run: ProgramRun, address: Address): void {
  if (!isOfProgram(run.read(address))) failProgram('InvalidAccountOwner');
}

export function requireSystemProgram(address: Address): void {
  if (address !== SYSTEM_PROGRAM) failProgram(SUBSCRIPTION_ERRORS.notSystemProgram);
}

export function requireTokenProgram(address: Address): void {
  if (address !== TOKEN_PROGRAM) failProgram(SUBSCRIPTION_ERRORS.invalidTokenProgram);
}

export function requireMint(run: ProgramRun, mint: Address, tokenProgram: Address): number {
  const decimals = findMintDecimals(run.read(mint)) ?? failProgram(SUBSCRIPTION_ERRORS.invalidTokenSplMintAccountData);
  requireTokenProgram(tokenProgram);
  return decimals;
}

export function requireTokenAccount(run: ProgramRun, address: Address, tokenProgram: Address): void {
  if (!isClassicHolding(run.read(address))) failProgram(SUBSCRIPTION_ERRORS.invalidTokenSplTokenAccountData);
  requireTokenProgram(tokenProgram);
}

export function requireHolding(run: ProgramRun, address: Address, { owner, mint }: { owner: Address; mint: Address }): void {
  const holding = readHolder(run.read(address).data);
  if (holding.owner !== owner) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  if (holding.mint !== mint) failProgram(SUBSCRIPTION_ERRORS.mintMismatch);
  const isAssociated = address === associatedTokenAddress(owner, mint, TOKEN_PROGRAM as Address);
  if (!isAssociated) failProgram(SUBSCRIPTION_ERRORS.invalidAssociatedTokenAccountDerivedAddress);
}

export function resolvePayer(run: ProgramRun, user: Address, payer: Address | null): Address {
  if (payer === null) return user;
  requireSigner(run, payer);
  requireWritable(run, payer);
  return payer;
}

export function resolveReceiver(run: ProgramRun, signer: Address, paidBy: Address, receiver: Address | null): Address {
  if (paidBy === signer) return signer;
  if (receiver === null) return failProgram(SUBSCRIPTION_ERRORS.notEnoughAccountKeys);
  requireWritable(run, receiver);
  return receiver === paidBy ? receiver : failProgram(SUBSCRIPTION_ERRORS.unauthorized);
}

export function loadAuthority(run: ProgramRun, address: Address): SubscriptionAuthority {
  const account = run.read(address);
  if (!isOfProgram(account)) failProgram(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  const authority = decodeAuthority(account.data);
  return authority.ok ? authority.value : failProgram(PROBLEMS[authority.reason]);
}

/** Requires the authority the subscriber consented under: same user and mint, and not created again since. */
export function requireAuthority(
  authority: SubscriptionAuthority,
  expected: Pick<SubscriptionAuthority, 'user' | 'mint' | 'initId'>,
): void {
  if (authority.user !== expected.user) failProgram(SUBSCRIPTION_ERRORS.unauthorized);
  if (authority.mint !== expected.mint) failProgram(SUBSCRIPTION_ERRORS.mintMismatch);
  if (authority.initId !== expected.initId) failProgram(SUBSCRIPTION_ERRORS.staleSubscriptionAuthority);
}

/** Decodes the plan in an account. The caller has checked the owner. */
export function loadPlan(run: ProgramRun, address: Address): SubscriptionPlan {
  const plan = decodePlan(run.read(address).data);
  return plan.ok ? plan.value : failProgram(PROBLEMS[plan.reason]);
}

/** The last second belongs to the plan. */
export const hasEnded = ({ endTs }: Pick<SubscriptionPlan, 'endTs'>, now: bigint): boolean => endTs !== 0n && now > endTs;

export function loadSubscription(run: ProgramRun, address: Address): Subscription {
  const { data } = run.read(address);
  if (data[0] !== ACCOUNT_KINDS.subscription) failProgram(SUBSCRIPTION_ERRORS.invalidAccountDiscriminator);
  if (data[1]! < VERSION) failProgram(SUBSCRIPTION_ERRORS.migrationRequired);
  const subscription = decodeSubscription(data);
  return subscription.ok ? subscription.value : failProgram(PROBLEMS[subscription.reason]);
}

const EVENTS = { created: 0, cancelled: 1, transfer: 2, resumed: 5, planUpdated: 6 } as const;

type Field = Address | bigint | Iterable<number>;

export function emit(
  run: ProgramRun,
  accounts: { eventAuthority: Address; program: Address },
  event: keyof typeof EVENTS,
  fields: readonly Field[],
): void {
  if (accounts.eventAuthority !== SUBSCRIPTIONS_EVENT_AUTHORITY) failProgram(SUBSCRIPTION_ERRORS.invalidEventAuthority);
  if (accounts.program !== SUBSCRIPTIONS_PROGRAM) failProgram(SUBSCRIPTION_ERRORS.invalidSelfProgram);
  run.emit(SUBSCRIPTIONS_EVENT_AUTHORITY, [EVENTS[event], ...fields.flatMap((field) => [...encodeField(field)])]);
}

function encodeField(field: Field): Iterable<number> {
  if (typeof field === 'bigint') return u64Seed(field);
  return typeof field === 'string' ? addressSeed(field) : field;
}
