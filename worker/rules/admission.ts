/**
 * The pure rules of admitting a call: is the credential good, may it do this, and how many calls are left.
 * Everything is checked first and counted last, so a refused call never uses up a limit. No clock, no storage.
 * Below it: what an account may spend in a day on the network fees of x402 payments.
 * @module
 */

import type { AccountId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { CallOutcome, KeyUsage } from './analytics/key-usage.ts';
import type { Customer } from './balance.ts';
import type { KeyedUse, PassedOutcome } from './entitlement-rpc.ts';
import { type AccountPlans, type CallBucket, type PlanName, planAt } from './plans.ts';
import type { AccountStatus } from './states.ts';

export const PERMISSIONS = ['read', 'execute', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Its plans are judged with every call, so that each ends at its very instant. */
export interface AdmittedAccount extends AccountPlans {
  accountId: AccountId;
  status: AccountStatus;
  tokenVersion: number;
  isStaff: boolean;
  /** Of the D1 row this was read from: an older load never overwrites a newer one. */
  version: number;
}

export interface AdmittedKey {
  keyId: string;
  keyHash: string;
  permissions: Permission[];
  livemode: boolean;
  revokedAt: number | null;
}

export type Credential = { kind: 'key'; keyHash: string } | { kind: 'jwt'; accountId: string; tokenVersion: number };

export interface AdmissionRequest {
  credential: Credential;
  /** What the route asks for; absent where knowing who calls is enough. */
  permission: Permission | null;
  /** The mode asked for in words, if any: a key must not contradict its own. */
  mode: 'live' | 'sandbox' | null;
  bucket: CallBucket;
  rateMultiplier: number;
  /** Business time, by which plans end. */
  now: number;
  /** Wall time, by which rates count; absent where both clocks are one. */
  wallNow?: number;
}

/** A call that another party makes on what a merchant sells, with no credential of theirs: it is counted as a call of the merchant. */
export interface CountedCall extends Pick<AdmissionRequest, 'bucket' | 'rateMultiplier' | 'now' | 'wallNow'> {
  livemode: boolean;
}

/** How a person proved who they are; `nonce` is a wallet's signature over the bare nonce, which names no domain. */
export const SIGN_IN_METHODS = ['pwd', 'siws', 'nonce', 'oauth'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

/** Who else may say who a person is. */
export const SIGN_IN_PROVIDERS = ['google', 'github'] as const;
export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number];
/** What a refresh keeps: when a person last proved who they are and how, and when the session began. Milliseconds. */
export interface SignIn {
  authTime: number;
  firstIat: number;
  method: SignInMethod;
}

/** A fixed window that opens with its first hit. */
export interface Window {
  openedAt: number;
  hits: number;
}

export interface RateLimit {
  limit: number;
  remaining: number;
  /** Unix milliseconds at which the whole limit is free again. */
  resetAt: number;
}

export interface Caller {
  accountId: AccountId;
  keyId: string | null;
  livemode: boolean;
  permissions: Permission[];
  plan: PlanName;
  isStaff: boolean;
}

export type RefusalReason =
  | 'unknown_key'
  | 'revoked'
  | 'stale_token'
  | 'account_suspended'
  | 'account_deleted'
  | 'permission'
  | 'mode'
  | 'rate';

export type AdmissionAnswer =
  | { ok: true; caller: Caller; rate: RateLimit }
  /** `keyId`: of a key that is known and not revoked; its usage counts what it was refused. */
  | { ok: false; reason: RefusalReason; keyId?: string; rate?: RateLimit }
  /** The object has no account yet: the caller loads it once from the database and asks again. */
  | { ok: false; reason: 'unknown' };

export type Counted = { ok: true; rate: RateLimit } | { ok: false; reason: 'rate'; rate: RateLimit };

/** A use that is passed on to the entitlement's object once its caller is admitted; whose entitlement it is follows from the caller. */
export interface PassedUse extends KeyedUse {
  productId: string;
  customer: Customer;
  /** What the usage of the key says of the call. */
  call: Pick<CallOutcome, 'method' | 'endpoint' | 'requestId'>;
}

export interface PassedAnswer {
  admission: AdmissionAnswer;
  /** Absent where the caller was not admitted; null: what the entitlement's object did is not known, so it is asked again under the same key. */
  used?: PassedOutcome | null;
  entitlementId?: string;
}

/** What the Worker knows of the object. The class in durable-objects/ implements it. */
export interface AdmissionRpc {
  /** `admit`, and the use of an admitted caller in the same call. A success is in the key's usage before it is answered. */
  consume(request: AdmissionRequest, use: PassedUse): Promise<PassedAnswer>;
  admit(request: AdmissionRequest): Promise<AdmissionAnswer>;
  count(call: CountedCall): Promise<Counted | { ok: false; reason: 'unknown' }>;
  load(account: AdmittedAccount, keys: AdmittedKey[]): Promise<void>;
  stage(account: AdmittedAccount): Promise<void>;
  unstage(account: AdmittedAccount): Promise<void>;
  putKey(key: AdmittedKey): Promise<void>;
  revokeKey(keyHash: string, revokedAt: number): Promise<void>;
  record(outcome: CallOutcome): Promise<void>;
  usage(): Promise<Record<string, KeyUsage>>;
  hit(windows: AddressWindow[], now: number): Promise<AddressAnswer>;
  spendFees(spend: FeeSpend): Promise<FeeAnswer>;
  /** Of a message: claims it for so long. Answers whose it is: of several at once one claims it. */
  claimMessage(owner: string, claim: { windowMs: number; now: number }): Promise<string>;
  noteFailedFee(now: number): Promise<void>;
}

/** A window of a caller's address: at most so many hits in so long. */
export interface AddressWindow {
  name: string;
  max: number;
  windowMs: number;
  /** Not counted while this other window is open. */
  unlessOpen?: string;
}

/** Passed: the state of the first window asked for. Refused: the name and state of the first that is full. */
export type AddressAnswer = { allowed: true; rate: RateLimit } | { allowed: false; full: string; rate: RateLimit };

/** One more hit, if the window has room; a full window is returned as it was. */
export function hitWindow(
  window: Window | undefined,
  limit: number,
  windowMs: number,
  now: number,
): { allowed: boolean; window: Window; rate: RateLimit } {
  const open = window && now < window.openedAt + windowMs ? window : { openedAt: now, hits: 0 };
  const allowed = open.hits < limit;
  const next = allowed ? { ...open, hits: open.hits + 1 } : open;
  return { allowed, window: next, rate: { limit, remaining: Math.max(0, limit - next.hits), resetAt: next.openedAt + windowMs } };
}

/** One more hit in each of several windows, or in none where one of them is full. Answers the windows as they are then. */
export function hitWindows(
  held: ReadonlyMap<string, Window>,
  asked: readonly AddressWindow[],
  now: number,
): { answer: AddressAnswer; windows: [string, Window][] } {
  const hits = asked.map((one) => ({ ...one, ...hitWindow(held.get(one.name), one.max, one.windowMs, now) }));
  const full = hits.find(({ allowed }) => !allowed);
  if (full) return { answer: { allowed: false, full: full.name, rate: full.rate }, windows: [] };
  const windows = hits.map(({ name, window }): [string, Window] => [name, window]);
  return { answer: { allowed: true, rate: hits[0]!.rate }, windows };
}

/** A token acts as read and execute; only a key can carry admin, and only staff can make such a key. */
const TOKEN_PERMISSIONS: Permission[] = ['read', 'execute'];

/**
 * Who calls and whether they may, before any counting. Order: credential, account, permission, mode: an outsider learns
 * nothing about an account's state from a bad key.
 */
export function judgeCaller(
  account: AdmittedAccount,
  key: AdmittedKey | undefined,
  request: AdmissionRequest,
): { ok: true; caller: Caller } | { ok: false; reason: RefusalReason; keyId?: string } {
  const { credential, permission, mode } = request;
  if (credential.kind === 'key') {
    if (!key) return { ok: false, reason: 'unknown_key' };
    if (key.revokedAt !== null || account.status === 'deleted') return { ok: false, reason: 'revoked' };
  } else if (credential.accountId !== account.accountId) {
    return { ok: false, reason: 'stale_token' };
  }
  if (account.status === 'deleted') return { ok: false, reason: 'account_deleted' };
  const known = key && { keyId: key.keyId };
  if (account.status === 'suspended') return { ok: false, reason: 'account_suspended', ...known };
  if (credential.kind === 'jwt' && credential.tokenVersion !== account.tokenVersion) return { ok: false, reason: 'stale_token' };
  const permissions = key?.permissions ?? TOKEN_PERMISSIONS;
  // A key made while its owner was staff keeps the word, not the power.
  const isAllowed = !permission || (permissions.includes(permission) && (permission !== 'admin' || account.isStaff));
  if (!isAllowed) return { ok: false, reason: 'permission', ...known };
  const livemode = key ? key.livemode : mode !== 'sandbox';
  if (key && mode && (mode === 'live') !== key.livemode) return { ok: false, reason: 'mode', ...known };
  const { accountId, isStaff } = account;
  return { ok: true, caller: { accountId, keyId: key?.keyId ?? null, livemode, permissions, plan: planAt(account, request.now), isStaff } };
}

/** Payments whose network fee we are about to pay; less than nothing gives back. */
export interface FeeSpend {
  fees: number;
  /** The most in a day; null: what the plan of the object's account allows. */
  max: number | null;
  /** The payer has paid this merchant before, or is the account itself: payments of others that failed do not keep it out. */
  isKnownPayer: boolean;
  rateMultiplier: number;
  /** Business time, by which plans end. */
  now: number;
  /** Wall time, by which days count; absent where both clocks are one. */
  wallNow?: number;
}
/** Days are of UTC, counted from 1970. */
export interface FeesSpent {
  day: number;
  fees: number;
  /** Of them, for payments that failed on chain. */
  failed: number;
}
export interface FeeAnswer {
  allowed: boolean;
  /** Refused only because the share of failures is used up: a known payer is still served. */
  isForKnownPayers: boolean;
  plan: PlanName;
  limit: number;
  left: number;
  resetAt: number;
}

/** Days never go back: a clock that is behind does not open one again. */
const dayOf = (spent: FeesSpent | undefined, now: number): FeesSpent => {
  const day = Math.max(spent?.day ?? 0, Math.floor(now / DAY));
  return spent?.day === day ? spent : { day, fees: 0, failed: 0 };
};

/** Of a day's budget: what payments of strangers that fail on chain may use up. The rest is for payers the merchant knows. */
const FAILED_SHARE = 1 / 2;

/** Fees, if the day's budget has room for them; a full one is returned as it was. */
export function spendWithin(
  spent: FeesSpent | undefined,
  { fees, isKnownPayer, now }: Pick<FeeSpend, 'fees' | 'isKnownPayer' | 'now'>,
  limit: number,
): { spent: FeesSpent } & Omit<FeeAnswer, 'plan' | 'limit'> {
  const today = dayOf(spent, now);
  const total = Math.max(0, today.fees + fees);
  const hasRoom = fees <= 0 || total <= limit;
  const isForKnownPayers = hasRoom && fees > 0 && !isKnownPayer && today.failed >= limit * FAILED_SHARE;
  const allowed = hasRoom && !isForKnownPayers;
  const after = allowed ? { ...today, fees: total } : today;
  return { allowed, isForKnownPayers, spent: after, left: Math.max(0, limit - after.fees), resetAt: (after.day + 1) * DAY };
}

/** A payment whose fee was paid came to nothing on the chain. */
export function withFailedFee(spent: FeesSpent | undefined, now: number): FeesSpent {
  const today = dayOf(spent, now);
  return { ...today, failed: today.failed + 1 };
}
