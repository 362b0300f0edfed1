import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import { admissionIdOf, newAccountId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commitNew, isConstraint, type Write } from '#platform/db/commit.ts';
import { drawPartition, findAnywhere, homeOf, othersOf } from '#platform/db/directory.ts';
import { type StoreAnswer, skipStoring, withAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { SignIn } from '#rules/admission.ts';
import { planAccountPayout } from '../payout.ts';
import { type AccountKeys, abortIfTaken, findAccount, findAccountByKeys, insertAccount } from '../store.ts';
import { planVerification } from './owner-emails.ts';
import { findByPassword, newPasswordHash, renewPasswordHash } from './passwords.ts';
import { readToken } from './tokens.ts';

const PASSWORD_LENGTH = { min: 8, max: 128 };

/** Returns one spelling per mailbox: trimmed, lower case, NFC. */
export const normaliseEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();
export const emailKeysOf = (ctx: Ctx, email: string): AccountKeys & { keys: [string, ...string[]] } => ({
  column: 'emailKey',
  keys: pepperedHashes(ctx.config.PEPPER, 'email', normaliseEmail(email)),
});

/** Finds the account that has this email, or had it before its deletion, under any pepper. */
export const findAccountByEmail = (ctx: Ctx, email: string) =>
  findAnywhere(ctx, ({ db }) => findAccountByKeys(db, emailKeysOf(ctx, email)));

export const walletKeysOf = (ctx: Ctx, walletAddress: string): AccountKeys & { keys: [string, ...string[]] } => ({
  column: 'walletKey',
  keys: pepperedHashes(ctx.config.PEPPER, 'wallet', walletAddress),
});

export function requirePasswordLength(password: string): void {
  const { length } = [...password];
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) throw new ApiError('password_too_short');
}

type SignInIdentity = Partial<Pick<Account, 'email' | 'emailKey' | 'passwordHash' | 'walletAddress' | 'walletKey'>>;

export function newAccount(ctx: Shard, displayName: string, identity: SignInIdentity): Account {
  const accountId = newAccountId(ctx.now, drawPartition(ctx));
  return {
    id: accountId,
    admissionId: admissionIdOf(accountId),
    email: null,
    emailKey: null,
    walletAddress: null,
    walletKey: null,
    passwordHash: null,
    displayName,
    plan: 'free',
    planThrough: null,
    processorPlans: [],
    status: 'active',
    isStaff: false,
    tokenVersion: 1,
    emailVerified: false,
    formerEmails: [],
    timezone: 'UTC',
    locale: 'en',
    notificationPrefs: {},
    merchantSettings: {},
    createdAt: ctx.now,
    claimed: null,
    deletedAt: null,
    erasedAt: null,
    version: 1,
    ...identity,
  };
}

export async function storeAccount(
  ctx: Shard,
  account: Account,
  storeAnswer: StoreAnswer<Account> = skipStoring,
  emails: Write[] = [],
): Promise<Account> {
  const payout = account.walletAddress ? planAccountPayout(ctx, account.id, account.walletAddress) : { events: [], writes: [] };
  const known = [
    ...(account.email === null ? [] : [emailKeysOf(ctx, account.email)]),
    ...(account.walletAddress === null ? [] : [walletKeysOf(ctx, account.walletAddress)]),
  ];
  const guards = known.flatMap((keys) => abortIfTaken(ctx, account.id, keys));
  const writes = [...guards, insertAccount(ctx.db, account), ...payout.writes, ...emails];
  const change = await withAnswer({ events: payout.events, writes, result: account }, storeAnswer(account));
  return commitNew(ctx, change, () => findAccount(ctx.db, account.id));
}

interface Register {
  email: string;
  password: string;
  displayName: string;
}

/**
 * In the database that creates accounts, a unique index detects duplicates, also of concurrent requests. The other databases create no
 * accounts.
 */
const isNamedElsewhere = async (ctx: Shard, keys: AccountKeys): Promise<boolean> =>
  (await Promise.all(othersOf(ctx).map(({ db }) => findAccountByKeys(db, keys)))).some((account) => account !== undefined);

/**
 * Creates an account on the free plan and emails a verification link. Throws 409 email_registered, also for the address of a deleted
 * account.
 */
export async function registerAccount(ctx: Shard, input: Register, storeAnswer: StoreAnswer<Account>): Promise<Account> {
  requirePasswordLength(input.password);
  const account = newAccount(ctx, input.displayName, {
    email: normaliseEmail(input.email),
    emailKey: emailKeysOf(ctx, input.email).keys[0],
    passwordHash: await newPasswordHash(ctx, input.password),
  });
  if (await isNamedElsewhere(ctx, emailKeysOf(ctx, input.email))) throw new ApiError('email_registered');
  try {
    return await storeAccount(ctx, account, storeAnswer, planVerification(ctx, account));
  } catch (error) {
    throw isConstraint(error) ? new ApiError('email_registered') : error;
  }
}

/**
 * Signs in with email and password. An unknown email and a wrong password cost and answer the same. Throws 401, or 403 for a suspended
 * account only after the right password.
 */
export async function logIn(ctx: Ctx, input: { email: string; password: string }): Promise<Account> {
  const account = await findByPassword(ctx, input.password, () => findAccountByEmail(ctx, input.email));
  if (!account) throw new ApiError('invalid_credentials');
  requireActive(account);
  ctx.defer(renewPasswordHash(homeOf(ctx, account.id), account, input.password));
  return account;
}

/** Throws 403 if the account is suspended or deleted. Call only after the caller has proved ownership of the account. */
export function requireActive(account: Account): Account {
  if (account.status === 'suspended') throw new ApiError('account_suspended');
  if (account.status === 'deleted') throw new ApiError('account_deleted');
  return account;
}

const REFRESH = { graceMs: 7 * DAY, sessionMs: 30 * DAY };

/**
 * Returns the account of a token and the session's sign-in, which a refresh does not change. Throws 401 for a token that is foreign, too
 * old or of an earlier token version, 403 for a suspended or deleted account.
 */
export async function refreshSession(ctx: Ctx, token: string | null): Promise<{ account: Account; signIn: SignIn }> {
  const claims = token ? await readToken(ctx, token, REFRESH.graceMs) : null;
  const account = claims ? await findAccount(homeOf(ctx, claims.sub).db, claims.sub) : null;
  if (!claims || !account) throw new ApiError('invalid_authorization');
  requireActive(account);
  const { signIn } = claims;
  if (claims.ver !== account.tokenVersion || ctx.wallNow - signIn.firstIat > REFRESH.sessionMs) throw new ApiError('invalid_authorization');
  return { account, signIn };
}
