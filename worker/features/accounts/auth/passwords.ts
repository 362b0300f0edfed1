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
import { overloaded, storyOf } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { replacePassword } from '../store.ts';

/** The purpose that password hashes are sealed for, so that one copied to another column cannot be opened. */
export const PASSWORD_PURPOSE = 'password';

/**
 * The keys that password hashes are sealed with, one of each pepper: a copy of the database alone cannot be searched for passwords. They are
 * sealed and not keyed, so that a sweep can move them under another pepper without knowing the password.
 */
export const passwordKeys = (peppers: string): string =>
  secretRing(peppers, PEPPER_BYTES)
    .map((pepper) => base64url.encode(hmacSha256(utf8(pepper), utf8('password-seal'))))
    .join();

export const sealHash = (peppers: string, hash: string): Promise<string> => seal(passwordKeys(peppers), PASSWORD_PURPOSE, hash);

const openHash = (peppers: string, stored: string): Promise<string> => unseal(passwordKeys(peppers), PASSWORD_PURPOSE, stored);

/** Password hashes that an isolate makes at a time: each is about a tenth of a second in which it does nothing else. */
const IN_FLIGHT_MAX = 8;
/** A request that was cut off never reports its end, so it stops counting after its deadline. */
const IN_FLIGHT_MS = 20 * SECOND;
const inFlight = new Memory<{ until: number }, true>(IN_FLIGHT_MAX);

/** Runs work that hashes a password, unless too much of it runs in this isolate: 503 temporarily_unavailable. */
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

/** The hash of a password as it is stored: scrypt, sealed under the first pepper. 503 temporarily_unavailable where too many are made at once. */
export const newPasswordHash = (ctx: Ctx, password: string): Promise<string> =>
  inFlightMax(ctx, async () => sealHash(ctx.config.PEPPER, await hashPassword(password)));

/**
 * The account whose password this is; null for a wrong one, and for one of no account at the same cost. It is looked for within the bound, so
 * that what is refused costs nothing. 503 temporarily_unavailable where too many are checked at once.
 */
export const findByPassword = (ctx: Ctx, password: string, find: () => Promise<Account | undefined> | Account): Promise<Account | null> =>
  inFlightMax(ctx, async () => {
    const account = (await find()) ?? null;
    const hash = account?.passwordHash ? await openHash(ctx.config.PEPPER, account.passwordHash).catch(lost(ctx)) : null;
    return (await verifyPassword(password, hash)) ? account : null;
  });

/** Its pepper is gone from the configuration: no password signs in to it. */
const lost = (ctx: Ctx) => (error: unknown) => {
  ctx.note(`password: ${storyOf(error)}`);
  return null;
};

/** Stores a password that was right as new ones are stored, where it was stored otherwise; it may as well be left for the next sign-in. */
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
    ctx.note(`password not renewed: ${storyOf(error)}`);
  }
}
