/**
 * Setup secret of an agent without a key: `svc_setup_`, the 32 hex digits of the setup intent's id, and 256 random bits. Only a keyed hash
 * of the full secret is stored. The id saves a search and proves nothing.
 * @module
 */

import { isOneOf, pepperedHash, pepperedHashes } from '#core/crypto.ts';
import { base64url } from '#core/encoding.ts';
import { partitionOf, type SetupIntentId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { findShardAt, globalOf } from '#platform/db/directory.ts';
import type { SetupIntent } from '#platform/db/tables/setups.ts';
import { findSetup, replaceSecretHash } from './store.ts';

const SHAPE = /^svc_setup_([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
const SECRET_BYTES = 32;

export function newSetupSecret(setupIntentId: SetupIntentId): string {
  const random = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return `svc_setup_${setupIntentId.replaceAll('-', '')}_${base64url.encode(random)}`;
}

export function parseSetupSecret(text: string): { setupIntentId: SetupIntentId } | null {
  const groups = SHAPE.exec(text)?.slice(1);
  return groups ? { setupIntentId: groups.join('-') as SetupIntentId } : null;
}

export const hashSetupSecret = (ctx: Ctx, secret: string): string => pepperedHash(ctx.config.PEPPER, 'setup-secret', secret);

/**
 * Finds the setup of a secret in any state. Returns null for a wrong or unknown one. Compares in constant time under each pepper, and
 * rehashes a right secret under the first pepper so that an older pepper can be removed.
 */
export async function findSetupBySecret(ctx: Shard, secret: string): Promise<Awaited<ReturnType<typeof findSetup>>> {
  const parsed = parseSetupSecret(secret);
  const intent = parsed && (await findSetup(ctx.db, parsed.setupIntentId));
  const hashes = pepperedHashes(ctx.config.PEPPER, 'setup-secret', secret);
  if (!isOneOf(intent?.secretHash ?? '', hashes) || !intent) return null;
  if (intent.secretHash !== hashes[0]) ctx.defer(replaceSecretHash(ctx.db, intent, hashes[0]));
  return intent;
}

/** Database of the secret's setup. For a wrong secret the first, where it is refused. */
export function locateSetup(ctx: Ctx, secret: string): Shard {
  const parsed = parseSetupSecret(secret);
  return (parsed && findShardAt(ctx, partitionOf(parsed.setupIntentId))) ?? globalOf(ctx);
}

/**
 * True while a setup may be used. Decided by the clock, because the sweep that stores `expired` may be late. A pending payment extends the
 * setup, so that an agent that has paid need not start over.
 */
export const isSetupOpen = (
  { status, expiresAt, isPaying }: Pick<SetupIntent, 'status' | 'expiresAt'> & { isPaying: boolean },
  now: number,
): boolean => status !== 'expired' && (isPaying || expiresAt === null || now < expiresAt);
