import { pepperedHashes } from '#core/crypto.ts';
import { ApiError, notAMember, sessionEnded } from '#core/errors.ts';
import { DAY } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commitNew, isConstraint, type Write } from '#platform/db/commit.ts';
import { homeForNew, homeOf } from '#platform/db/directory.ts';
import { findNamed, type IsUsed, NameTaken, withNames } from '#platform/db/names/names.ts';
import { type StoreAnswer, skipStoring, withAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Region } from '#platform/variables/regions.ts';
import { personStatusOf } from '#rules/access/roles.ts';
import { SESSION_MS } from '#rules/access/sessions.ts';
import type { SignIn } from '#rules/admission.ts';
import { findRole } from '../members/acting.ts';
import { newAccount, recordNewAccount } from '../new-account.ts';
import { checkPassword } from '../passwords/tries.ts';
import { requireGoodPassword } from '../passwords/weak-passwords.ts';
import { planAccountPayout } from '../payout.ts';
import { type AccountKeys, abortIfTaken, findAccount, findAccountByKeys, hasKey, insertAccount } from '../store.ts';
import { planVerification } from './owner-emails.ts';
import { findByPassword, newPasswordHash, renewPasswordHash } from './passwords.ts';
import { personObject } from './sessions.ts';
import { type Acting, readToken } from './tokens.ts';

/** Returns one spelling per mailbox: trimmed, lower case, NFC. */
export const normaliseEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();
export const emailKeysOf = (ctx: Ctx, email: string): AccountKeys & { keys: [string, ...string[]] } => ({
  column: 'emailKey',
  keys: pepperedHashes(ctx.config.PEPPER, 'email', normaliseEmail(email)),
});

/** Finds the account that has this email, or had it before its deletion, under any pepper. */
export const findAccountByEmail = (ctx: Ctx, email: string) =>
  findNamed(ctx, emailName(ctx, email), ({ db }) => findAccountByKeys(db, emailKeysOf(ctx, email)));

export const emailName = (ctx: Ctx, email: string) =>
  ({ kind: 'email', keys: emailKeysOf(ctx, email).keys, isUsed: isUsedAs('emailKey') }) as const;
export const walletName = (ctx: Ctx, walletAddress: string) =>
  ({ kind: 'wallet', keys: walletKeysOf(ctx, walletAddress).keys, isUsed: isUsedAs('walletKey') }) as const;

export const isUsedAs =
  (column: AccountKeys['column']): IsUsed =>
  ({ db }, accountId, keys) =>
    hasKey(db, accountId, { column, keys });

export const walletKeysOf = (ctx: Ctx, walletAddress: string): AccountKeys & { keys: [string, ...string[]] } => ({
  column: 'walletKey',
  keys: pepperedHashes(ctx.config.PEPPER, 'wallet', walletAddress),
});

export async function storeAccount(
  ctx: Shard,
  account: Account,
  storeAnswer: StoreAnswer<Account> = skipStoring,
  emails: Write[] = [],
): Promise<Account> {
  const payout = account.walletAddress ? planAccountPayout(ctx, account.id, account.walletAddress) : { events: [], writes: [] };
  const { email, walletAddress } = account;
  const known = [
    ...(email === null ? [] : [emailKeysOf(ctx, email)]),
    ...(walletAddress === null ? [] : [walletKeysOf(ctx, walletAddress)]),
  ];
  const named = [...(email === null ? [] : [emailName(ctx, email)]), ...(walletAddress === null ? [] : [walletName(ctx, walletAddress)])];
  return withNames(ctx, account.id, named, async (reserved) => {
    const guards = [...reserved, ...known.flatMap((keys) => abortIfTaken(ctx, account.id, keys))];
    const writes = [...guards, ...insertAccount(ctx.db, account), ...payout.writes, ...emails, recordNewAccount(ctx, account)];
    const change = await withAnswer({ events: payout.events, writes, result: account }, storeAnswer(account));
    return commitNew(ctx, change, () => findAccount(ctx.db, account.id));
  });
}

interface Register {
  email: string;
  password: string;
  displayName: string;
}

/** Database of a registration: that of the account with this email, where a repeated request gets its answer, else that of new accounts. */
export async function homeOfRegistration(ctx: Ctx, email: string, region?: Region): Promise<Shard> {
  if (ctx.databases.length === 1) return homeForNew(ctx, '', region);
  const home = await findNamed(ctx, emailName(ctx, email), async (known) =>
    (await findAccountByKeys(known.db, emailKeysOf(ctx, email))) ? known : null,
  );
  return home ?? homeForNew(ctx, normaliseEmail(email), region);
}

/**
 * Creates an account on the free plan and emails a verification link. Throws 409 email_registered, also for the address of a deleted
 * account.
 */
export async function registerAccount(ctx: Shard, input: Register, storeAnswer: StoreAnswer<Account>): Promise<Account> {
  await requireGoodPassword(input.password);
  const account = newAccount(ctx, input.displayName, {
    email: normaliseEmail(input.email),
    emailKey: emailKeysOf(ctx, input.email).keys[0],
    passwordHash: await newPasswordHash(ctx, input.password),
  });
  try {
    return await storeAccount(ctx, account, storeAnswer, planVerification(ctx, account));
  } catch (error) {
    throw isConstraint(error) || error instanceof NameTaken ? new ApiError('email_registered') : error;
  }
}

/**
 * Signs in with email and password. An unknown email and a wrong password cost and answer the same. Throws 401, or 403 for a suspended
 * account only after the right password.
 */
export async function logIn(ctx: Ctx, input: { email: string; password: string }, ip: string): Promise<Account> {
  const find = () => findAccountByEmail(ctx, input.email);
  const check = () => findByPassword(ctx, input.password, find);
  const account = await checkPassword(ctx, { email: normaliseEmail(input.email), ip, check, find });
  requireActivePerson(account);
  ctx.defer(renewPasswordHash(homeOf(ctx, account.id), account, input.password));
  return account;
}

/** Throws 403 if the account is suspended or deleted. Call only after the caller has proved ownership of the account. */
export function requireActive(account: Account): Account {
  requireStatus(account.status);
  return account;
}

/** Throws 403 if the person who signs in is suspended or deleted. Call only after the proof. */
export function requireActivePerson(person: Account): Account {
  requireStatus(personStatusOf(person));
  return person;
}

function requireStatus(status: Account['status']): void {
  if (status === 'suspended') throw new ApiError('account_suspended');
  if (status === 'deleted') throw new ApiError('account_deleted');
}

const REFRESH_GRACE_MS = 7 * DAY;

/**
 * Returns the account of a token and the session's sign-in, which a refresh does not change. Throws 401 for a token that is foreign, too
 * old, of an earlier token version or of an ended session, 403 for a suspended or deleted account.
 */
export async function refreshSession(ctx: Ctx, token: string | null): Promise<{ account: Account; signIn: SignIn; acting: Acting }> {
  const claims = token ? await readToken(ctx, token, REFRESH_GRACE_MS) : null;
  const account = claims ? await findAccount(homeOf(ctx, claims.sub).db, claims.sub) : null;
  if (!claims || !account) throw new ApiError('invalid_authorization');
  requireActivePerson(account);
  const { signIn } = claims;
  if (claims.ver !== account.tokenVersion || ctx.wallNow - signIn.firstIat > SESSION_MS) throw new ApiError('invalid_authorization');
  const used = { sessionId: signIn.sessionId, tokenVersion: claims.ver };
  if (!(await personObject(ctx, account.id).useSession(used, ctx.wallNow))) throw sessionEnded();
  const acting = await findRole(ctx, account, claims.acc ?? account.id);
  if (!acting) throw notAMember();
  requireActive(acting.account);
  return { account, signIn, acting };
}
