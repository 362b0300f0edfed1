/**
 * Admission rules: credential, permission and remaining calls. Everything is checked first and counted last, so a refused call uses up no
 * limit. Also the daily budget of network fees for x402 payments. Pure: no clock, no storage.
 * @module
 */

import type { AccountId, SessionId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { isInNetworks } from './access/networks.ts';
import type { PersonRpc } from './access/person-rpc.ts';
import { type GivenRole, hasRole, type Need, type Role, roleIn } from './access/roles.ts';
import { hasScope, type KeyScope } from './access/scopes.ts';
import type { Factor, UsedSession } from './access/sessions.ts';
import type { CallOutcome, KeyUsage } from './analytics/key-usage.ts';
import type { Customer } from './balance.ts';
import type { KeyedUse, PassedOutcome } from './entitlement-rpc.ts';
import { type AccountPlans, type CallBucket, type PlanName, planAt } from './plans.ts';
import type { AccountStatus } from './states.ts';

export const PERMISSIONS = ['read', 'execute', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** Plans are evaluated with every call, so that each ends exactly on time. */
export interface AdmittedAccount extends AccountPlans {
  accountId: AccountId;
  status: AccountStatus;
  tokenVersion: number;
  isStaff: boolean;
  ownerId: AccountId;
  /** Roles of the other members, by the ids of persons. */
  roles: Readonly<Record<string, GivenRole>>;
  /** Ways in which the person can prove a factor. Absent without one. */
  factors?: readonly Factor[];
  /** True if members without a factor are refused. Absent otherwise. */
  requireFactor?: boolean;
  /** Version of the D1 row. An older load never overwrites a newer one. */
  version: number;
}

export interface AdmittedKey {
  keyId: string;
  keyHash: string;
  permissions: Permission[];
  livemode: boolean;
  /** In the future if a new key replaces this one. */
  revokedAt: number | null;
  /** Version of the D1 row. An older load never overwrites a newer one. */
  version: number;
  /** Restrictions of the key. One that is absent restricts nothing. */
  scopes?: KeyScope[];
  expiresAt?: number;
  allowedIps?: string[];
}

/** `member`: a person in the account of another, after the person's own object has accepted the token. */
export type Credential =
  | { kind: 'key'; keyHash: string }
  | ({ kind: 'jwt'; accountId: string } & UsedSession)
  | { kind: 'member'; accountId: string; personId: string; hasFactor: boolean };

export interface AdmissionRequest {
  credential: Credential;
  /** Permission of the route. Null if authentication is enough. */
  permission: Permission | null;
  /** Access that a restricted key or a person's role needs. Null if authentication is enough. */
  scope: Need | null;
  /** Address of the caller. Null if the platform does not say. */
  ip: string | null;
  /** Mode requested explicitly. Must match the key's mode. */
  mode: 'live' | 'sandbox' | null;
  bucket: CallBucket;
  rateMultiplier: number;
  /** True for a call of persons about themselves by a token for the account of another. */
  isElsewhere?: true;
  /** True for a call that a person without a factor may make in every account. */
  needsNoFactor?: true;
  /** True for a call of a page, which the plan's limit does not count. */
  isInner?: true;
  /** Business time, for the end of plans. */
  now: number;
  wallNow?: number;
}

/** Call by another party on a merchant's product, without the merchant's credential. Counted as the merchant's call. */
export interface CountedCall extends Pick<AdmissionRequest, 'bucket' | 'rateMultiplier' | 'isInner' | 'now' | 'wallNow'> {
  livemode: boolean;
}

/** Sign-in methods. `nonce` is a wallet signature over the bare nonce, which names no domain. */
export const SIGN_IN_METHODS = ['pwd', 'siws', 'nonce', 'oauth', 'passkey'] as const;
export type SignInMethod = (typeof SIGN_IN_METHODS)[number];

export const SIGN_IN_PROVIDERS = ['google', 'github'] as const;
export type SignInProvider = (typeof SIGN_IN_PROVIDERS)[number];
/** Sign-in facts carried over by a refresh: session, time and method of the last authentication, start of the session. Milliseconds. */
export interface SignIn {
  sessionId: SessionId;
  authTime: number;
  /** Last time at which the person proved a factor. Null: never in this session. */
  factorTime: number | null;
  firstIat: number;
  method: SignInMethod;
}

export interface Window {
  openedAt: number;
  hits: number;
}

export interface RateLimit {
  limit: number;
  remaining: number;
  resetAt: number;
}

export interface Caller {
  accountId: AccountId;
  keyId: string | null;
  /** Person who calls, and the person's role. Null: a key. */
  personId: AccountId | null;
  role: Role | null;
  livemode: boolean;
  permissions: Permission[];
  /** Scopes of a restricted key. */
  scopes?: readonly KeyScope[];
  plan: PlanName;
  isStaff: boolean;
  /** Ways in which the signed-in person can prove a factor. Absent without one, and for a key. */
  factors?: readonly Factor[];
}

export type RefusalReason =
  | 'unknown_key'
  | 'revoked'
  | 'expired'
  | 'address'
  | 'stale_token'
  | 'session_ended'
  | 'not_a_member'
  | 'account_suspended'
  | 'account_deleted'
  | 'role'
  | 'factor'
  | 'permission'
  | 'scope'
  | 'mode'
  | 'rate';

export type AdmissionAnswer =
  | { ok: true; caller: Caller; rate: RateLimit }
  /** `keyId` is set for a known, unrevoked key, so that its usage counts the refusal. */
  | { ok: false; reason: RefusalReason; keyId?: string; role?: Role; rate?: RateLimit }
  /** No account is loaded yet. The caller loads it from the database once and repeats the call. */
  | { ok: false; reason: 'unknown' };

export type Counted = { ok: true; rate: RateLimit } | { ok: false; reason: 'rate'; rate: RateLimit };

/** Use to forward to the entitlement's object after admission. The owner follows from the authenticated caller. */
export interface PassedUse extends KeyedUse {
  productId: string;
  customer: Customer;
  call: Pick<CallOutcome, 'method' | 'endpoint' | 'requestId' | 'ip'>;
}

export interface PassedAnswer {
  admission: AdmissionAnswer;
  /** Absent if the caller was refused. Null if the outcome is unknown, so the caller repeats the use under the same key. */
  used?: PassedOutcome | null;
  entitlementId?: string;
}

export interface AdmissionRpc extends PersonRpc {
  /** `admit` and the use of an admitted caller in one call. A success is added to the key's usage before the answer. */
  consume(request: AdmissionRequest, use: PassedUse): Promise<PassedAnswer>;
  admit(request: AdmissionRequest): Promise<AdmissionAnswer>;
  count(call: CountedCall): Promise<Counted | { ok: false; reason: 'unknown' }>;
  load(account: AdmittedAccount, keys: AdmittedKey[]): Promise<void>;
  /** `writer`: unique number of the change under way. */
  stage(account: AdmittedAccount, writer: number): Promise<void>;
  unstage(account: AdmittedAccount, writer: number): Promise<void>;
  putKey(key: AdmittedKey): Promise<void>;
  revokeKey(keyHash: string, revokedAt: number): Promise<void>;
  record(outcome: CallOutcome): Promise<void>;
  usage(): Promise<Record<string, KeyUsage>>;
  hit(windows: AddressWindow[], now: number): Promise<AddressAnswer>;
  /** Takes back a hit of an open window. */
  release(name: string): Promise<void>;
  spendFees(spend: FeeSpend): Promise<FeeAnswer>;
  /** Claims a message for a time and returns the owner. Of concurrent claims, the first wins. */
  claimMessage(owner: string, claim: { windowMs: number; now: number }): Promise<string>;
  /** Returns the owner of the message. Null: no claim is known. */
  messageOwner(): Promise<string | null>;
  noteFailedFee(now: number): Promise<void>;
}

export interface AddressWindow {
  name: string;
  max: number;
  windowMs: number;
}

export type AddressAnswer = { allowed: true; rate: RateLimit } | { allowed: false; full: string; rate: RateLimit };

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

/** Counts a hit in all windows, or in none if one is full. Returns the resulting windows. */
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

/** Tokens carry read and execute. Only a key can carry admin, and only staff can create such a key. */
const TOKEN_PERMISSIONS: Permission[] = ['read', 'execute'];

/**
 * Authenticates and authorizes a caller before any counting. Order: credential, account, address, permission, scope, mode, so that a bad key
 * reveals nothing about the account's state, and a key used from elsewhere nothing about what it may do. `isOpen`: the token's session.
 */
export function judgeCaller(
  account: AdmittedAccount,
  key: AdmittedKey | undefined,
  request: AdmissionRequest,
  isOpen = false,
): { ok: true; caller: Caller } | { ok: false; reason: RefusalReason; keyId?: string; role?: Role } {
  const { credential, permission, scope, mode } = request;
  const personId = personIdOf(credential);
  const role = personId === null ? null : roleIn(account, personId);
  // A person who handed the account over signs in apart from it.
  const isApart = request.isElsewhere === true && credential.kind === 'jwt' && account.ownerId !== account.accountId;
  if (credential.kind === 'key') {
    if (!key) return { ok: false, reason: 'unknown_key' };
    if ((key.revokedAt !== null && key.revokedAt <= request.now) || account.status === 'deleted') return { ok: false, reason: 'revoked' };
    if (key.expiresAt !== undefined && key.expiresAt <= request.now) return { ok: false, reason: 'expired', keyId: key.keyId };
  } else if (credential.accountId !== account.accountId) {
    return { ok: false, reason: 'stale_token' };
  }
  if (personId !== null && role === null && !isApart) return { ok: false, reason: 'not_a_member' };
  if (account.status === 'deleted' && !isApart) return { ok: false, reason: 'account_deleted' };
  const known = key && { keyId: key.keyId };
  if (account.status === 'suspended' && !isApart) return { ok: false, reason: 'account_suspended', ...known };
  if (credential.kind === 'jwt') {
    if (credential.tokenVersion !== account.tokenVersion) return { ok: false, reason: 'stale_token' };
    if (!isOpen) return { ok: false, reason: 'session_ended' };
  }
  if (account.requireFactor && !request.needsNoFactor && !hasFactor(account, credential)) return { ok: false, reason: 'factor' };
  if (key?.allowedIps && !(request.ip !== null && isInNetworks(request.ip, key.allowedIps)))
    return { ok: false, reason: 'address', ...known };
  const permissions = key?.permissions ?? TOKEN_PERMISSIONS;
  // A key created by former staff still lists admin but no longer grants it.
  const isAllowed = !permission || (permissions.includes(permission) && (permission !== 'admin' || account.isStaff));
  if (!isAllowed) return { ok: false, reason: 'permission', ...known };
  if (key && scope && !hasScope(key.scopes ?? null, scope)) return { ok: false, reason: 'scope', ...known };
  if (role && scope && !hasRole(role, scope)) return { ok: false, reason: 'role', role };
  const livemode = key ? key.livemode : mode !== 'sandbox';
  if (key && mode && (mode === 'live') !== key.livemode) return { ok: false, reason: 'mode', ...known };
  const { accountId, factors } = account;
  const caller = { accountId, keyId: key?.keyId ?? null, personId, role, livemode, permissions, plan: planAt(account, request.now) };
  // The factors of a member are known to the person's own object alone.
  const own = credential.kind === 'jwt' && factors ? { factors } : {};
  const restricted = key?.scopes ? { scopes: key.scopes } : {};
  return { ok: true, caller: { ...caller, isStaff: account.isStaff && isOwn(caller), ...own, ...restricted } };
}

const personIdOf = (credential: Credential): AccountId | null =>
  credential.kind === 'key' ? null : ((credential.kind === 'jwt' ? credential.accountId : credential.personId) as AccountId);

/** True for a person with a factor, and for a key, which no person proves. */
const hasFactor = ({ factors }: AdmittedAccount, credential: Credential): boolean =>
  credential.kind === 'key' || (credential.kind === 'jwt' ? factors !== undefined : credential.hasFactor);

/** Staff are staff in their own account alone. */
const isOwn = ({ accountId, personId }: Pick<Caller, 'accountId' | 'personId'>): boolean => personId === null || personId === accountId;

/** Network fees about to be paid. A negative number releases fees. */
export interface FeeSpend {
  fees: number;
  /** Maximum per day. Null means the limit of the account's plan. */
  max: number | null;
  /** True if the payer has paid this merchant before, or is the account itself. Failed payments of strangers do not block a known payer. */
  isKnownPayer: boolean;
  rateMultiplier: number;
  now: number;
  wallNow?: number;
}
/** Fees of one UTC day, numbered from 1970. */
export interface FeesSpent {
  day: number;
  fees: number;
  failed: number;
}
export interface FeeAnswer {
  allowed: boolean;
  isForKnownPayers: boolean;
  plan: PlanName;
  limit: number;
  left: number;
  resetAt: number;
}

/** Days never go back: a clock that is behind does not reopen one. */
const dayOf = (spent: FeesSpent | undefined, now: number): FeesSpent => {
  const day = Math.max(spent?.day ?? 0, Math.floor(now / DAY));
  return spent?.day === day ? spent : { day, fees: 0, failed: 0 };
};

/** Share of the daily budget that failed payments of strangers may use. The rest is reserved for known payers. */
const FAILED_SHARE = 1 / 2;

/** Adds fees if the day's budget has room. Otherwise returns the budget unchanged. */
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

export function withFailedFee(spent: FeesSpent | undefined, now: number): FeesSpent {
  const today = dayOf(spent, now);
  return { ...today, failed: today.failed + 1 };
}
