import { equalBytes, hmacSha256, macRing } from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { HOUR, iso, MINUTE } from '#core/time.ts';
import { addressKeysOf, forgetBounce, planLetter } from '#features/mail/outbox.ts';
import { isBouncedAddress } from '#features/mail/store.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { type AccountChange, changeAccount } from '../change-account.ts';
import { claiming, disarmed, planDisarm } from '../claim/claim.ts';
import { type Arms, getArms, hasSold } from '../claim/store.ts';
import { findAccount, listIdentities } from '../store.ts';
import { ownerAddresses } from './owner-emails.ts';
import { newPasswordHash } from './passwords.ts';
import { normaliseEmail, requirePasswordLength } from './sign-in.ts';

/** What a link in a letter proves: that who follows it reads that address. */
export type EmailPurpose = 'verify' | 'reset';

const LIFE_MS: Record<EmailPurpose, number> = { verify: 24 * HOUR, reset: 30 * MINUTE };

/**
 * What is bound in: the account, its address and its token version, so that a token ends with the first change of any of them. Nothing is
 * stored of it: the database holds no secret that opens an account.
 */
const signed = (purpose: EmailPurpose, { id, email, tokenVersion }: Account, expiresAt: number): Uint8Array =>
  utf8([`email-${purpose}`, id, tokenVersion, expiresAt, normaliseEmail(email ?? '')].join('\0'));

const macsOf = ({ config }: Ctx, text: Uint8Array): string[] =>
  macRing(config.LETTER_KEYS).map((key) => base64url.encode(hmacSha256(key, text)));

/** The token of a letter that was written at `from`: the same whenever it is made. */
export function emailToken(ctx: Ctx, purpose: EmailPurpose, account: Account, from: number): string {
  const expiresAt = from + LIFE_MS[purpose];
  return `${account.id}.${expiresAt.toString(36)}.${macsOf(ctx, signed(purpose, account, expiresAt))[0]}`;
}

/**
 * Whether a token in a letter that was written to `address` at `createdAt` would still prove something. To an address that the account has no
 * more it would prove the other one, which this letter does not reach.
 */
export const isProvable = (
  { wallNow }: Ctx,
  purpose: EmailPurpose,
  { email }: Account,
  { address, createdAt }: { address: string | null; createdAt: number },
): boolean =>
  email !== null && address !== null && normaliseEmail(email) === normaliseEmail(address) && wallNow < createdAt + LIFE_MS[purpose];

const TOKEN = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([0-9a-z]{1,10})\.([\w-]{43})$/;

/** Whether letters to an address came back, or were called spam. */
export const isUnreachable = (ctx: Shard, email: string): Promise<boolean> =>
  isBouncedAddress(ctx.db, addressKeysOf(ctx, email), ['bounced', 'complained']);

/** Is it a token of this account as it is now, under any letter key, and in time? An address is proven once, and again after it bounced. */
async function isProof(ctx: Shard, purpose: EmailPurpose, account: Account, token: string): Promise<boolean> {
  const [, id, expiry = '', mac = ''] = TOKEN.exec(token) ?? [];
  const expiresAt = Number.parseInt(expiry, 36);
  if (id !== account.id || account.email === null || account.status !== 'active' || expiresAt <= ctx.wallNow) return false;
  const text = signed(purpose, account, expiresAt);
  // As text: one MAC, one spelling, and what no encoder writes is compared like any other.
  const isOurs = macsOf(ctx, text).some((known) => equalBytes(utf8(known), utf8(mac)));
  return isOurs && (purpose === 'reset' || !account.emailVerified || (await isUnreachable(ctx, account.email)));
}

/** Which links are too old their own text says, a forged one's too: it tells nothing of an account. */
function refuse({ wallNow }: Ctx, token: string): never {
  const isOld = Number.parseInt(TOKEN.exec(token)?.[2] ?? '', 36) <= wallNow;
  throw new ApiError('invalid_credentials', {
    detail: 'The link was used, has expired, or is not of this deployment. Request a new one.',
    ...(isOld ? { meta: { reason: 'expired' } } : {}),
  });
}

/** What a token that is spent changes, and what is answered. */
interface Spending<T> extends AccountChange {
  values: Partial<Account>;
  writes: Write[];
  result: T;
}

/** Changes the account that a token names; judged afresh at every try, so that it works once. 401 invalid_credentials. */
async function spend<T>(
  ctx: Ctx,
  purpose: EmailPurpose,
  token: string,
  change: (account: Account, home: Shard) => Spending<T> | Promise<Spending<T>>,
  storeAnswer: StoreAnswer<T>,
): Promise<T> {
  const { home, account: known } = await findNamed(ctx, token);
  if (!known || !(await isProof(home, purpose, known, token))) refuse(ctx, token);
  let spent: { result: T } | null = null;
  await changeAccount(home, known.id, async (account) => {
    if (!(await isProof(home, purpose, account, token))) refuse(ctx, token);
    const { writes, result, ...rest } = await change(account, home);
    spent = { result };
    return { ...rest, writes: [...writes, ...(await storeAnswer(result))] };
  });
  // What the last try planned is what was stored.
  return spent!.result;
}

/** Of these letters, to one address: an account may name an address that is not its owner's. */
const PASSWORD_LETTERS_AN_HOUR = 3;

/** Emails about a new password to the address until now, and to those verified before within seven days. */
export function passwordLetters(ctx: Shard, account: Account): Write[] {
  return [...new Set([...(account.email === null ? [] : [account.email]), ...ownerAddresses(ctx, account)])].flatMap((address) => {
    const counted = { letters: ['password_changed' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR };
    const letter = { letter: 'password_changed' as const, facts: { at: iso(ctx.now) }, accountId: account.id, address };
    return planLetter(ctx, letter, { counted, max: PASSWORD_LETTERS_AN_HOUR }).writes;
  });
}

/**
 * The address is the account's own from now on, and letters go there again if it had bounced. 401 invalid_credentials for a token that was
 * used, is too old or unknown.
 */
export const verifyEmail = (ctx: Ctx, token: string, storeAnswer: StoreAnswer<null>): Promise<null> =>
  spend(
    ctx,
    'verify',
    token,
    (account, home) => ({
      values: { emailVerified: true },
      writes: [forgetBounce(home.db, addressKeysOf(ctx, account.email!))],
      result: null,
      wasStored: async ({ emailVerified, email }) => emailVerified && !(await isUnreachable(home, email ?? '')),
    }),
    storeAnswer,
  );

/** Account that a token names, and its home; whether the token proves something is not asked. 401 invalid_credentials. */
async function findNamed(ctx: Ctx, token: string): Promise<{ home: Shard; account: Account | undefined }> {
  const accountId = (TOKEN.exec(token)?.[1] ?? refuse(ctx, token)) as AccountId;
  const home = await homeOf(ctx, accountId);
  return { home, account: await findAccount(home.db, accountId) };
}

/** Address of the account that a spent token names. */
export const emailOfSpent = async (ctx: Ctx, token: string): Promise<string> => (await findNamed(ctx, token)).account?.email ?? '';

/** Account that a verification link is about. Uses nothing up. 401 invalid_credentials. */
export async function previewEmail(ctx: Ctx, token: string): Promise<Account> {
  const { home, account } = await findNamed(ctx, token);
  return account && (await isProof(home, 'verify', account, token)) ? account : refuse(ctx, token);
}

/**
 * Takes the address off an account that its reader did not make. Its maker keeps the rest, and may name another address. 401
 * invalid_credentials, 409 state_conflict for an address that is verified.
 */
export const disownEmail = (ctx: Ctx, token: string, storeAnswer: StoreAnswer<null>): Promise<null> =>
  spend(
    ctx,
    'verify',
    token,
    ({ emailVerified }) => {
      if (emailVerified)
        throw new ApiError('state_conflict', { detail: 'The email address is already verified.', meta: { reason: 'already_verified' } });
      return { values: { email: null, emailKey: null }, writes: [], result: null, wasStored: ({ email }) => email === null };
    },
    storeAnswer,
  );

/**
 * A new password for the reader of the account's address, also its first; every session ends, and the address counts as verified. Where it
 * never was, who made the account may be another person: nothing else that was put there keeps any power, and what ended is answered. 401
 * invalid_credentials, 409 state_conflict for a shop with another way in, 422 password_too_short.
 */
export async function resetPassword(
  ctx: Ctx,
  token: string,
  password: string,
  storeAnswer: StoreAnswer<Arms | null>,
): Promise<Arms | null> {
  requirePasswordLength(password);
  // Before a hash is made, which costs a tenth of a second: a token that is none is refused for nothing.
  const { home, account: known } = await findNamed(ctx, token);
  if (!known || !(await isProof(home, 'reset', known, token))) refuse(ctx, token);
  if (!known.emailVerified) await requireNoOwner(home, known);
  const passwordHash = await newPasswordHash(ctx, password);
  const wasStored = (now: Account) => now.passwordHash === passwordHash;
  const change = async (account: Account) => {
    const values = { passwordHash, emailVerified: true, tokenVersion: account.tokenVersion + 1 };
    if (account.emailVerified) return { values, writes: passwordLetters(home, account), wasStored, result: null };
    const arms = await getArms(home.db, account.id);
    return { values: { ...disarmed(home, account, arms), ...values }, writes: planDisarm(home, account, arms), wasStored, result: arms };
  };
  const store = () => spend(ctx, 'reset', token, change, storeAnswer);
  return known.emailVerified ? store() : claiming(home, known, store);
}

/** A shop that has sold and has another way in is its maker's, who may have misspelled the address: its reader is not given it. */
async function requireNoOwner(ctx: Shard, { id, walletKey }: Account): Promise<void> {
  const hasOtherWay = walletKey !== null || (await listIdentities(ctx.db, id)).length > 0;
  if (!hasOtherWay || !(await hasSold(ctx.db, id))) return;
  const detail = 'The email address is not verified, and buyers have paid this account. Sign in by wallet or provider.';
  throw new ApiError('state_conflict', { detail, meta: { reason: 'email_unverified' } });
}
