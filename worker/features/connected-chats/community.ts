import { sha256 } from '#core/crypto.ts';
import { hex, randomBase62, utf8 } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import { type AccountId, type CommunityId, newId } from '#core/ids.ts';
import { COMMUNITIES_MAX, LIFE } from '#core/limits.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { type NewAuditEntry, recordAction } from '#platform/db/audit/record-action.ts';
import { hasEntry } from '#platform/db/audit/recorded.ts';
import { abortUnlessChanged, isConstraint } from '#platform/db/commit.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { IndexedAction } from '#platform/db/tables/office/audit-log.ts';
import type { Community } from '#platform/db/tables/office/placements.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import {
  claimCommunity,
  countCommunities,
  deleteAccountCommunities,
  deleteCommunity,
  disownTargets,
  findByCode,
  findCommunity,
  findOwnCommunity,
  insertCommunity,
  releaseCommunity,
} from './store.ts';

const hasSameDatabase = (ctx: Scope): boolean => globalOf(ctx).database === ctx.database;

/** Stores a claim of the first database with its entry: in one batch if the account is there, else before it. Without its entry no code is shown. */
async function insertRecorded(ctx: Scope, community: Community, entry: NewAuditEntry): Promise<void> {
  const { db } = globalOf(ctx);
  const isTogether = hasSameDatabase(ctx);
  await db.batch([insertCommunity(db, community), ...(isTogether ? [recordAction(ctx, ctx, entry)] : [])]);
  if (!isTogether) await ctx.db.batch([recordAction(ctx, ctx, entry)]);
}

/**
 * Deletes a claim of the first database with its entry. In another database the entry follows the release, and precedes the deletion, so that the
 * repeated call after a crash finds the claim and adds the entry. Aborts without a row.
 */
async function deleteRecorded(ctx: Scope, { id }: Community, entry: NewAuditEntry & { action: IndexedAction }): Promise<void> {
  const global = globalOf(ctx);
  const gone = [deleteCommunity(global.db, ctx.merchantId, id), abortUnlessChanged(global)] as const;
  if (hasSameDatabase(ctx)) await global.db.batch([...gone, recordAction(ctx, ctx, entry)]);
  else {
    await releaseCommunity(global.db, ctx.merchantId, id, ctx.wallNow);
    await ctx.db.batch([recordAction(ctx, ctx, entry, hasEntry({ merchantId: ctx.merchantId, action: entry.action }, id))]);
    await global.db.batch(gone);
  }
}

const hashOf = (code: string): string => hex.encode(sha256(utf8(code)));

/**
 * Issues a code that an administrator posts in a chat or guild to claim it for this account. One bot serves all merchants, so an unclaimed
 * chat could otherwise be sold by another merchant. Throws 429 plan_limit_reached.
 */
export async function beginClaim(ctx: Scope, provider: IdentityProvider): Promise<{ code: string; expiresAt: number }> {
  const { db } = globalOf(ctx);
  const used = await countCommunities(db, ctx.merchantId, ctx.wallNow);
  if (used >= COMMUNITIES_MAX) throw new ApiError('plan_limit_reached', { meta: { limit: COMMUNITIES_MAX, used } });
  const code = `claim-${randomBase62(24)}`;
  const expiresAt = ctx.wallNow + LIFE.claimMinutes * MINUTE;
  const community = {
    id: newId<CommunityId>(ctx.wallNow, ctx.merchantId),
    accountId: ctx.merchantId,
    provider,
    codeHash: hashOf(code),
    nativeId: null,
    expiresAt,
    claimedAt: null,
    createdAt: ctx.wallNow,
  };
  await insertRecorded(ctx, community, {
    action: 'chat.claim_started',
    subject: { type: 'chat', id: community.id },
    after: { provider },
  });
  return { code, expiresAt };
}

/**
 * Completes a claim with the chat or guild where an administrator posted the code. Idempotent, also for a chat that the account already
 * has. Throws 404 for a code that is unknown, expired or of another platform, 409 state_conflict for a chat claimed by another account.
 */
export async function completeClaim(ctx: Ctx, provider: IdentityProvider, code: string, nativeId: string): Promise<Community> {
  const { db } = globalOf(ctx);
  const begun = (await findByCode(db, hashOf(code))) ?? raise('not_found');
  if (begun.provider !== provider) throw new ApiError('not_found');
  if (begun.claimedAt === null) {
    const isOver = begun.expiresAt === null || begun.expiresAt <= ctx.wallNow;
    if (isOver) throw new ApiError('not_found');
    try {
      if (!(await claimCommunity(db, begun, nativeId, ctx.wallNow))) throw new ApiError('not_found');
    } catch (error) {
      if (!isConstraint(error)) throw error;
    }
  }
  const claimed = await findCommunity(db, provider, nativeId);
  if (claimed?.accountId === begun.accountId) return claimed;
  const detail = claimed
    ? 'The chat or guild belongs to another account, which must release it first.'
    : 'The code was posted in another chat or guild. Create a new one.';
  throw new ApiError('state_conflict', { detail, meta: { reason: claimed ? 'claimed' : 'code_used' } });
}

/** Releases a chat or guild: revokes its open invitations and changes nothing else. Another account may claim it afterwards. Throws 404. */
export async function giveBack(ctx: Scope, id: CommunityId): Promise<void> {
  const { db } = globalOf(ctx);
  const community = (await findOwnCommunity(db, ctx.merchantId, id)) ?? raise('not_found');
  // Runs before the claim is deleted: after a crash in between, the merchant can repeat the call.
  if (community.nativeId !== null) await disownTargets(ctx, community);
  const named = { provider: community.provider, native_id: community.nativeId };
  const entry = { action: 'chat.released', subject: { type: 'chat', id }, before: named, after: {} } as const;
  await deleteRecorded(ctx, community, entry).catch((error: unknown) => {
    throw isConstraint(error) ? new ApiError('not_found') : error;
  });
}

export const giveAllBack = (ctx: Ctx, accountId: AccountId): Promise<number> => deleteAccountCommunities(globalOf(ctx).db, accountId);
