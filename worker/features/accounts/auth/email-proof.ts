import { ApiError } from '#core/errors.ts';
import { type AccountId, partitionOf } from '#core/ids.ts';
import { DAY, HOUR, MINUTE } from '#core/time.ts';
import { addressKeysOf, forgetBounce } from '#features/email/outbox.ts';
import { isBouncedAddress } from '#features/email/store.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { personIn, recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { findShardAt } from '#platform/db/directory.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { isHandedOver, personStatusOf } from '#rules/access/roles.ts';
import { planDeletion } from '../account.ts';
import { type AccountChange, changeAccount } from '../change-account.ts';
import { claiming, planRevokeAccess, withoutAccess } from '../claim/claim.ts';
import { hasOtherWay, isAddressLocked, moveAddress, planUnowned, recordDisowned } from '../claim/move-address.ts';
import { type AccountAccess, abortIfSold, findAccountAccess, findProvenAt, hasSold } from '../claim/store.ts';
import { findFactorsSince, type RetainedFactors } from '../factors/store.ts';
import { listOwned } from '../members/acting.ts';
import { NEW_ACCOUNT } from '../new-account.ts';
import { abortIfLinked } from '../oauth/store.ts';
import { forgetNetworks } from '../passwords/tries.ts';
import { requireGoodPassword } from '../passwords/weak-passwords.ts';
import { findAccount } from '../store.ts';
import { isLinkMac, linkMacs } from './emailed-links.ts';
import { planSecurityAlert } from './owner-emails.ts';
import { newPasswordHash } from './passwords.ts';
import { normaliseEmail } from './sign-in.ts';

export type EmailPurpose = 'verify' | 'reset' | 'sign_in';

const LIFE_MS: Record<EmailPurpose, number> = { verify: 24 * HOUR, reset: 30 * MINUTE, sign_in: 15 * MINUTE };

/**
 * Signed content of a token: account, address and token version, so that a change of any of them ends the token. Tokens are not stored, so
 * the database holds no secret that opens an account.
 */
const signed = (purpose: EmailPurpose, { id, email, tokenVersion }: Account, expiresAt: number) =>
  [`email-${purpose}`, id, tokenVersion, expiresAt, normaliseEmail(email ?? '')] as const;

export function emailToken(ctx: Ctx, purpose: EmailPurpose, account: Account, from: number): string {
  const expiresAt = from + LIFE_MS[purpose];
  return `${account.id}.${expiresAt.toString(36)}.${linkMacs(ctx, ...signed(purpose, account, expiresAt))[0]}`;
}

/**
 * True if the token of an email written to `address` at `createdAt` is still valid. If the account's address has changed, the token must
 * not go to the old one.
 */
export const isProvable = (
  { wallNow }: Ctx,
  purpose: EmailPurpose,
  { email }: Account,
  { address, createdAt }: { address: string | null; createdAt: number },
): boolean =>
  email !== null && address !== null && normaliseEmail(email) === normaliseEmail(address) && wallNow < createdAt + LIFE_MS[purpose];

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9a-z][0-9a-z]{0,9})\.([\w-]{43})$/;

export const isUnreachable = (ctx: Shard, email: string): Promise<boolean> =>
  isBouncedAddress(ctx.db, addressKeysOf(ctx, email), ['bounced', 'complained']);

/**
 * Verifies a token against the account's current state under any email key, and its expiry. An address is verified once, and again after it
 * bounced.
 */
async function isProof(ctx: Shard, purpose: EmailPurpose, account: Account, token: string): Promise<boolean> {
  const [, id, expiry = '', mac = ''] = TOKEN.exec(token) ?? [];
  const expiresAt = Number.parseInt(expiry, 36);
  if (id !== account.id || account.email === null || personStatusOf(account) !== 'active' || expiresAt <= ctx.wallNow) return false;
  const isOurs = isLinkMac(ctx, mac, ...signed(purpose, account, expiresAt));
  return isOurs && (purpose !== 'verify' || !account.emailVerified || (await isUnreachable(ctx, account.email)));
}

/** Time of the end of a link, as its token says, also a forged one. */
export const linkExpiry = (token: string): number => Number.parseInt(TOKEN.exec(token)?.[2] ?? '', 36);

/** The expiry is that of the token itself, and so reveals nothing about an account. */
export function refuseLink({ wallNow }: Ctx, token: string): never {
  const isOld = linkExpiry(token) <= wallNow;
  throw new ApiError('invalid_credentials', {
    detail: 'The link was used, has expired, or is not of this deployment. Request a new one.',
    ...(isOld ? { meta: { reason: 'expired' } } : {}),
  });
}

/** Entry of an action that its link proved. */
const recordProven = (ctx: Shard, { id, email }: Account, action: 'person.email_verified' | 'person.password_changed'): Write =>
  recordAction(
    ctx,
    { merchantId: id, livemode: true },
    {
      action,
      subject: { type: 'person', id },
      ...(action === 'person.email_verified' && { after: { email }, before: { email: null } }),
      by: personIn(id),
    },
  );

interface Spending<T> extends AccountChange {
  values: Partial<Account>;
  writes: Write[];
  result: T;
}

/**
 * Applies a token to the account that the token names. The token is verified again at each try, so that it works once. Throws 401
 * invalid_credentials.
 */
async function spend<T>(
  ctx: Ctx,
  purpose: EmailPurpose,
  token: string,
  change: (account: Account, home: Shard) => Spending<T> | Promise<Spending<T>>,
  storeAnswer: StoreAnswer<T>,
): Promise<T> {
  const { home, account: known } = await findNamed(ctx, token);
  if (!known || !(await isProof(home, purpose, known, token))) refuseLink(ctx, token);
  let spent: { result: T } | null = null;
  await changeAccount(home, known.id, async (account) => {
    if (!(await isProof(home, purpose, account, token))) refuseLink(ctx, token);
    const { writes, result, ...rest } = await change(account, home);
    spent = { result };
    return { ...rest, writes: [...writes, ...(await storeAnswer(result))] };
  });
  return spent!.result;
}

/**
 * Marks the account's address as verified and resumes emails if the address had bounced. Throws 401 invalid_credentials for a token that is
 * used, expired or unknown.
 */
export const verifyEmail = (ctx: Ctx, token: string, storeAnswer: StoreAnswer<null>): Promise<null> =>
  spend(
    ctx,
    'verify',
    token,
    (account, home) => ({
      values: { emailVerified: true },
      writes: [forgetBounce(home.db, addressKeysOf(ctx, account.email!)), recordProven(home, account, 'person.email_verified')],
      result: null,
      wasStored: async ({ emailVerified, email }) => emailVerified && !(await isUnreachable(home, email ?? '')),
    }),
    storeAnswer,
  );

/** Database of the account that a token names, also of a forged one. Null for a token that names no account. */
export const findLinkHome = (ctx: Ctx, token: string): Shard | null => findShardAt(ctx, partitionOf(TOKEN.exec(token)?.[1] ?? ''));

/** Finds the account that a token names, and its shard, without verifying the token. Throws 401 invalid_credentials. */
async function findNamed(ctx: Ctx, token: string): Promise<{ home: Shard; account: Account | undefined }> {
  const home = findLinkHome(ctx, token) ?? refuseLink(ctx, token);
  return { home, account: await findAccount(home.db, token.split('.')[0] as AccountId) };
}

export const emailOfSpent = async (ctx: Ctx, token: string): Promise<string | null> => (await findNamed(ctx, token)).account?.email ?? null;

/** Loads the account of a link without consuming the token. Throws 401 invalid_credentials. */
export async function findByProof(ctx: Ctx, purpose: EmailPurpose, token: string): Promise<{ home: Shard; account: Account }> {
  const { home, account } = await findNamed(ctx, token);
  return account && (await isProof(home, purpose, account, token)) ? { home, account } : refuseLink(ctx, token);
}

/**
 * Plans the end of an account that has no way to sign in without its address. Null if it has another way in, has sold, or its person proved an
 * address before or owns another account: then a person who mistyped a new address retains it.
 */
async function planUnusable(home: Shard, account: Account): Promise<Pick<Spending<null>, 'values' | 'writes'> | null> {
  if (account.formerEmails.length > 0 || isHandedOver(account) || (await hasOtherWay(home, account))) return null;
  if ((await listOwned(home, account, account.id)).length > 0 || (await hasSold(home.db, account.id))) return null;
  if ((await findProvenAt(home.db, account.id)) !== null) return null;
  const { values, writes } = await planDeletion(home, { ...account, email: null, emailKey: null });
  return { values, writes: [abortIfSold(home, account.id), abortIfLinked(home, account.id), ...writes] };
}

/**
 * Removes the address from an account that its reader did not create, and ends an account that is of no use without it. Otherwise the creator
 * retains the account and may set another address. Throws 401 invalid_credentials, or 409 state_conflict if the address is verified.
 */
export async function disownEmail(ctx: Ctx, token: string, storeAnswer: StoreAnswer<null>): Promise<null> {
  let address: string | null = null;
  await spend(
    ctx,
    'verify',
    token,
    async (account, home) => {
      address = account.email;
      if (account.emailVerified)
        throw new ApiError('state_conflict', { detail: 'The email address is already verified.', meta: { reason: 'already_verified' } });
      const end = await planUnusable(home, account);
      return {
        values: { ...end?.values, email: null, emailKey: null },
        writes: [recordDisowned(home, account), ...(end?.writes ?? [])],
        result: null,
        wasStored: ({ email }) => email === null,
      };
    },
    storeAnswer,
  );
  await forgetNetworks(ctx, address);
  return null;
}

/** Access that a reset ended, if any, and whether its reader got a new account. */
export interface PasswordReset {
  ended: AccountAccess | null;
  isNewAccount: boolean;
}

/** Time for which a reader who could not show the password at a provider's sign-in counts as another person than the maker. */
const JOIN_ASKED_MS = 7 * DAY;

/** True if a provider proved the address lately to a reader who did not show the password, so that a stranger may have made the account. */
const isDoubted = ({ wallNow }: Ctx, { joinAskedAt }: Account): boolean => joinAskedAt !== null && wallNow < joinAskedAt + JOIN_ASKED_MS;

/**
 * Sets a new password for the reader of the account's address, ends every session and verifies the address. A first proof revokes all other
 * access, as `endsOthers` and a reset instead of an asked password do. A shop that has sold and has another way in stays with its maker, and
 * the reader gets a new account. Throws 401 invalid_credentials, 422 password_too_short or password_too_common.
 */
export async function resetPassword(
  ctx: Ctx,
  token: string,
  { password, ...asked }: { password: string; endsOthers: boolean },
  storeAnswer: StoreAnswer<PasswordReset>,
): Promise<PasswordReset> {
  await requireGoodPassword(password);
  // Rejects an invalid token before the hash, which costs a tenth of a second.
  const { home, account: known } = await findByProof(ctx, 'reset', token);
  const passwordHash = await newPasswordHash(ctx, password);
  const endsOthers = asked.endsOthers || isDoubted(ctx, known);
  const wasStored = (now: Account) => now.passwordHash === passwordHash;
  const change = async (account: Account) => {
    const values = { passwordHash, emailVerified: true, joinAskedAt: null, tokenVersion: account.tokenVersion + 1 };
    const entry = recordProven(home, account, 'person.password_changed');
    if (account.emailVerified && !endsOthers) {
      const writes = [...planSecurityAlert(home, account, { change: 'password' }), entry];
      return { values, writes, wasStored, result: { ended: null, isNewAccount: false } };
    }
    // A mailbox alone removes no factor that was added after the address was proven, unless asked for by name.
    const retained = account.emailVerified && !asked.endsOthers ? { factors: await findProvenFactors(home, account) } : {};
    const unsold = account.emailVerified ? [] : await planUnowned(home, account);
    const access = await findAccountAccess(home, account);
    return {
      values: { ...withoutAccess(home, account, access, retained), ...values },
      writes: [...unsold, ...planRevokeAccess(home, account, { access, alert: { change: 'password' }, retained }), entry],
      wasStored,
      result: { ended: access, isNewAccount: false },
    };
  };
  const store = () => spend(ctx, 'reset', token, change, storeAnswer);
  if (known.emailVerified && !endsOthers) return store();
  const claimed = await claimByReset(home, known, { token, passwordHash, store, storeAnswer });
  await forgetNetworks(ctx, known.email);
  return claimed;
}

/** Factors that a person added after the address was proven. All of them if the log does not say when that was. */
const findProvenFactors = async ({ db }: Shard, { id, factors }: Account): Promise<RetainedFactors> =>
  findFactorsSince(db, id, factors, (await findProvenAt(db, id)) ?? 0);

interface ClaimByReset {
  token: string;
  passwordHash: string;
  store(): Promise<PasswordReset>;
  storeAnswer: StoreAnswer<PasswordReset>;
}

/** Stores a reset that ends all other access, or for a shop that stays with its maker, moves the address to a new account. */
async function claimByReset(
  home: Shard,
  known: Account,
  { token, passwordHash, store, storeAnswer }: ClaimByReset,
): Promise<PasswordReset> {
  try {
    if (!known.emailVerified) await planUnowned(home, known);
    return await claiming(home, known, store);
  } catch (error) {
    if (!isAddressLocked(error)) throw error;
    const result = { ended: null, isNewAccount: true };
    const plan = async (account: Account) =>
      (await isProof(home, 'reset', account, token)) ? storeAnswer(result) : refuseLink(home, token);
    await moveAddress(home, known, { displayName: NEW_ACCOUNT, passwordHash, plan });
    return result;
  }
}
