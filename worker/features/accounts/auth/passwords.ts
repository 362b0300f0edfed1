import {
  hashPassword,
  hmacSha256,
  isHashedOtherwise,
  PEPPER_BYTES,
  seal,
  sealVersions,
  secretRing,
  unseal,
  verifyPassword,
} from '#core/crypto.ts';
import { base64url, utf8 } from '#core/encoding.ts';
import { formatErrorChain, overloaded } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { replacePassword } from '../store.ts';

/** Purpose bound into the seal of password hashes, so that a hash copied to another column cannot be opened. */
export const PASSWORD_PURPOSE = 'password';

/**
 * Seal keys of password hashes, one per pepper: a copy of the database alone cannot be searched for passwords. Hashes are sealed rather
 * than keyed, so that a sweep can rotate the pepper without the password.
 */
export const passwordKeys = (peppers: string): string =>
  secretRing(peppers, PEPPER_BYTES)
    .map((pepper) => base64url.encode(hmacSha256(utf8(pepper), utf8('password-seal'))))
    .join();

export const sealHash = (peppers: string, hash: string): Promise<string> => seal(passwordKeys(peppers), PASSWORD_PURPOSE, hash);

const openHash = (peppers: string, stored: string): Promise<string> => unseal(passwordKeys(peppers), PASSWORD_PURPOSE, stored);

/** Limit on concurrent password hashes per isolate. Each blocks the isolate for about a tenth of a second. */
const IN_FLIGHT_MAX = 8;
/** An aborted request never reports its end, so it stops counting after this time. */
const IN_FLIGHT_MS = 20 * SECOND;
const inFlight = new Memory<{ until: number }, true>(IN_FLIGHT_MAX);

async function inFlightMax<T>({ wallNow: now }: Ctx, work: () => Promise<T>): Promise<T> {
  for (const one of inFlight.keys()) if (one.until <= now) inFlight.delete(one);
  if (inFlight.size >= IN_FLIGHT_MAX) throw overloaded();
  const mine = { until: now + IN_FLIGHT_MS };
  inFlight.set(mine, true);
  try {
    return await work();
  } finally {
    inFlight.delete(mine);
  }
}

/** Hashes a password with scrypt and seals the hash under the first pepper. Throws 503 temporarily_unavailable if too many run at once. */
export const newPasswordHash = (ctx: Ctx, password: string): Promise<string> =>
  inFlightMax(ctx, async () => sealHash(ctx.config.PEPPER, await hashPassword(password)));

/**
 * Returns the account if the password is right. A wrong password and an unknown account cost the same. The lookup runs inside the
 * concurrency limit, so that a refused request costs nothing. Throws 503 temporarily_unavailable if too many run at once.
 */
export const findByPassword = (ctx: Ctx, password: string, find: () => Promise<Account | undefined> | Account): Promise<Account | null> =>
  inFlightMax(ctx, async () => {
    const account = (await find()) ?? null;
    const hash = account?.passwordHash ? await openHash(ctx.config.PEPPER, account.passwordHash).catch(lost(ctx)) : null;
    return (await verifyPassword(password, hash)) ? account : null;
  });

/** The pepper of the hash is no longer configured, so no password can sign in to the account. */
const lost = (ctx: Ctx) => (error: unknown) => {
  ctx.note(`password: ${formatErrorChain(error)}`);
  return null;
};

/** Stores a verified password in the current format if it was stored in an older one. Best effort: the next sign-in tries again. */
export async function renewPasswordHash(ctx: Shard, { id, passwordHash: stored }: Account, password: string): Promise<void> {
  if (stored === null) return;
  const { PEPPER } = ctx.config;
  try {
    const hash = await openHash(PEPPER, stored);
    const [version] = await sealVersions(passwordKeys(PEPPER));
    const isStale = isHashedOtherwise(hash);
    if (!isStale && stored.startsWith(`${version}.`)) return;
    await replacePassword(ctx.db, id, stored, isStale ? await newPasswordHash(ctx, password) : await sealHash(PEPPER, hash));
  } catch (error) {
    ctx.note(`password not renewed: ${formatErrorChain(error)}`);
  }
}
