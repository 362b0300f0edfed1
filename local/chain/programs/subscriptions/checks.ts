import type { Address, EncodedAccount } from '@solana/kit';
import { addressSeed, associatedTokenAddress, u64Seed } from '#solana/programs/derived-address.ts';
import { SUBSCRIPTION_ERRORS } from '#solana/programs/subscriptions/errors.ts';
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
} from '#solana/programs/subscriptions/subscription.ts';
import { SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../network.ts';
import { isMint, isTokenAccount, readHolding, TOKEN_ACCOUNT_BYTES } from '../../tokens.ts';
import type { ProgramCall } from '../program-call.ts';
import { fail } from '../program-failure.ts';

const PROBLEMS: Readonly<Record<SubscriptionAccountProblem, number>> = {
  wrong_length: SUBSCRIPTION_ERRORS.invalidAccountData,
  wrong_discriminator: SUBSCRIPTION_ERRORS.invalidAccountDiscriminator,
  wrong_version: SUBSCRIPTION_ERRORS.delegationVersionMismatch,
  wrong_status: SUBSCRIPTION_ERRORS.invalidPlanStatus,
};
const VERSION = 1;

/** How the program tells whose an account is. */
export const isOurs = (account: EncodedAccount): boolean => account.programAddress === SUBSCRIPTIONS_PROGRAM;

export function requireSigner(call: ProgramCall, address: Address): void {
  if (!call.isSigner(address)) fail(SUBSCRIPTION_ERRORS.notSigner);
}

export function requireWritable(call: ProgramCall, ...addresses: readonly Address[]): void {
  if (addresses.some((address) => !call.isWritable(address))) fail(SUBSCRIPTION_ERRORS.accountNotWritable);
}

/** Requires an account of this program, of whatever kind. */
export function requireOurs(call: ProgramCall, address: Address): void {
  if (!isOurs(call.read(address))) fail('InvalidAccountOwner');
}

export function requireSystemProgram(address: Address): void {
  if (address !== SYSTEM_PROGRAM) fail(SUBSCRIPTION_ERRORS.notSystemProgram);
}

/** Requires the classic token program, which is the only one this model knows. */
export function requireTokenProgram(address: Address): void {
  if (address !== TOKEN_PROGRAM) fail(SUBSCRIPTION_ERRORS.invalidTokenProgram);
}

/** Requires a mint of that program, and returns its decimals. */
export function requireMint(call: ProgramCall, mint: Address, tokenProgram: Address): number {
  const account = call.read(mint);
  if (account.programAddress !== TOKEN_PROGRAM || !isMint(account)) fail(SUBSCRIPTION_ERRORS.invalidTokenSplMintAccountData);
  requireTokenProgram(tokenProgram);
  return account.data[44]!;
}

/** Requires a token account of that program, whosever and of whatever mint. */
export function requireTokenAccount(call: ProgramCall, address: Address, tokenProgram: Address): void {
  const account = call.read(address);
  const isOne = account.programAddress === TOKEN_PROGRAM && account.data.length === TOKEN_ACCOUNT_BYTES && isTokenAccount(account);
  if (!isOne) fail(SUBSCRIPTION_ERRORS.invalidTokenSplTokenAccountData);
  requireTokenProgram(tokenProgram);
}

/** Requires an owner's associated token account of a mint. */
export function requireHolding(call: ProgramCall, address: Address, { owner, mint }: { owner: Address; mint: Address }): void {
  const holding = readHolding(call.read(address).data);
  if (holding.owner !== owner) fail(SUBSCRIPTION_ERRORS.unauthorized);
  if (holding.mint !== mint) fail(SUBSCRIPTION_ERRORS.mintMismatch);
  const isAssociated = address === associatedTokenAddress(owner, mint, TOKEN_PROGRAM);
  if (!isAssociated) fail(SUBSCRIPTION_ERRORS.invalidAssociatedTokenAccountDerivedAddress);
}

/** Who pays the rent: the account named last, which must sign then, or else the user. */
export function resolvePayer(call: ProgramCall, user: Address, payer: Address | null): Address {
  if (payer === null) return user;
  requireSigner(call, payer);
  requireWritable(call, payer);
  return payer;
}

/** Where the rent goes: to who paid it, who must be named where that is not the signer. */
export function resolveReceiver(call: ProgramCall, signer: Address, paidBy: Address, receiver: Address | null): Address {
  if (paidBy === signer) return signer;
  if (receiver === null) return fail(SUBSCRIPTION_ERRORS.notEnoughAccountKeys);
  requireWritable(call, receiver);
  return receiver === paidBy ? receiver : fail(SUBSCRIPTION_ERRORS.unauthorized);
}

export function loadAuthority(call: ProgramCall, address: Address): SubscriptionAuthority {
  const account = call.read(address);
  if (!isOurs(account)) fail(SUBSCRIPTION_ERRORS.invalidSubscriptionAuthorityPda);
  const authority = decodeAuthority(account.data);
  return authority.ok ? authority.value : fail(PROBLEMS[authority.reason]);
}

/** Requires the authority a subscriber agreed under: theirs, for the plan's mint, and not one made again since. */
export function requireAuthority(
  authority: SubscriptionAuthority,
  expected: Pick<SubscriptionAuthority, 'user' | 'mint' | 'initId'>,
): void {
  if (authority.user !== expected.user) fail(SUBSCRIPTION_ERRORS.unauthorized);
  if (authority.mint !== expected.mint) fail(SUBSCRIPTION_ERRORS.mintMismatch);
  if (authority.initId !== expected.initId) fail(SUBSCRIPTION_ERRORS.staleSubscriptionAuthority);
}

/** The plan in an account; the caller has checked whose the account is. */
export function loadPlan(call: ProgramCall, address: Address): SubscriptionPlan {
  const plan = decodePlan(call.read(address).data);
  return plan.ok ? plan.value : fail(PROBLEMS[plan.reason]);
}

/** The last second of a plan still belongs to it. */
export const hasEnded = ({ endTs }: Pick<SubscriptionPlan, 'endTs'>, now: bigint): boolean => endTs !== 0n && now > endTs;

/** The subscription in an account; the caller has checked whose the account is. */
export function loadSubscription(call: ProgramCall, address: Address): Subscription {
  const { data } = call.read(address);
  if (data[0] !== ACCOUNT_KINDS.subscription) fail(SUBSCRIPTION_ERRORS.invalidAccountDiscriminator);
  if (data[1]! < VERSION) fail(SUBSCRIPTION_ERRORS.migrationRequired);
  const subscription = decodeSubscription(data);
  return subscription.ok ? subscription.value : fail(PROBLEMS[subscription.reason]);
}

const EVENTS = { created: 0, cancelled: 1, transfer: 2, resumed: 5, planUpdated: 6 } as const;

/** A field of an event: an address, a number of eight bytes, or bytes as they are. */
type Field = Address | bigint | Iterable<number>;

/** Writes an event down, where the instruction names the accounts for it rightly. */
export function emit(
  call: ProgramCall,
  accounts: { eventAuthority: Address; program: Address },
  event: keyof typeof EVENTS,
  fields: readonly Field[],
): void {
  if (accounts.eventAuthority !== SUBSCRIPTIONS_EVENT_AUTHORITY) fail(SUBSCRIPTION_ERRORS.invalidEventAuthority);
  if (accounts.program !== SUBSCRIPTIONS_PROGRAM) fail(SUBSCRIPTION_ERRORS.invalidSelfProgram);
  call.emit(SUBSCRIPTIONS_EVENT_AUTHORITY, [EVENTS[event], ...fields.flatMap((field) => [...encodeField(field)])]);
}

function encodeField(field: Field): Iterable<number> {
  if (typeof field === 'bigint') return u64Seed(field);
  return typeof field === 'string' ? addressSeed(field) : field;
}
