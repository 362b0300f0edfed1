import type { Ctx } from '../context.ts';
import { SECOND } from '../core/time.ts';
import { commit, isConstraint } from '../db/commit.ts';
import type { ListedSignature } from '../solana/rpc.ts';
import { SWEEP_PATIENCE_MS } from './candidates.ts';
import { type Cursor, getCursor, insertFound, stepCursor } from './chain.store.ts';

/**
 * Payments nobody tells us about: every checkout transaction carries the service's reference key, so paging through the
 * transactions that mention it finds them all. The cost follows payments, not open sessions. (contract section 3 "References")
 */
export const REFERENCE_CURSOR = 'service-reference';
const PAGE_SIZE = 1000;
const PAGES_MAX = 10;
/** A confirmed transaction may take this long to appear in a node's list. */
const LISTING_LAG_MS = 30 * SECOND;

/**
 * Reads from the newest transaction back to where the last walk began. Each page's finds and the step past it are stored in
 * one batch, so a crash resumes in the middle, and a page read twice changes nothing. Answers how many transactions it read.
 */
export async function sweepReference(ctx: Ctx, pageSize = PAGE_SIZE): Promise<number> {
  let read = 0;
  for (let page = 0; page < PAGES_MAX; page++) {
    const cursor = await getCursor(ctx.db, REFERENCE_CURSOR);
    const listed = await ctx.chain.listSignatures(ctx.config.SERVICE_REFERENCE, {
      before: cursor.walkBefore,
      until: cursor.until,
      limit: pageSize,
    });
    if (listed.kind === 'unavailable') {
      ctx.note(`rpc: ${listed.reason}`);
      return read;
    }
    // A node that lost our place must not end the walk: it begins anew from the top, and what was read changes nothing.
    const items = listed.kind === 'page' ? listed.items : [];
    const next =
      listed.kind === 'page' ? stepPast(cursor, items, ctx.now) : { ...cursor, walkTop: null, walkBefore: null, walkStartedAt: null };
    try {
      const found = items.flatMap(namedSession);
      const writes = [
        ...(found.length > 0 ? [insertFound(ctx, found, ctx.now - SWEEP_PATIENCE_MS)] : []),
        ...stepCursor(ctx, cursor, next),
      ];
      await commit(ctx, { events: [], writes, result: null });
    } catch (error) {
      // Another walker took this step; it goes on from there.
      if (isConstraint(error)) return read;
      throw error;
    }
    read += items.length;
    if (next.walkBefore === null) return read;
  }
  return read;
}

/**
 * Only an empty page ends the walk; some nodes give less than asked for. The next walk ends at the newest transaction old
 * enough that none can still be listed below it late.
 */
function stepPast(cursor: Cursor, items: ListedSignature[], now: number): Cursor {
  const walkStartedAt = cursor.walkStartedAt ?? now;
  const isSettled = ({ blockTime }: ListedSignature) =>
    blockTime !== null && blockTime !== undefined && blockTime * SECOND <= walkStartedAt - LISTING_LAG_MS;
  const walkTop = cursor.walkTop ?? items.find(isSettled)?.signature ?? null;
  const oldest = items.at(-1);
  if (oldest) return { ...cursor, walkTop, walkStartedAt, walkBefore: oldest.signature };
  const passedAt = walkStartedAt - LISTING_LAG_MS;
  return { ...cursor, until: walkTop ?? cursor.until, walkTop: null, walkBefore: null, walkStartedAt: null, passedAt };
}

/** The one session a listed memo names. The node prints memos as `[length] text`, several joined by `; `. */
function namedSession({ signature, memo }: ListedSignature): { signature: string; nonce: string }[] {
  const nonces = [...(memo ?? '').matchAll(/(?:^|; )\[\d+\] svc:([1-9A-HJ-NP-Za-km-z]{1,44})(?=$|; )/g)].map(([, nonce]) => nonce!);
  return nonces.length === 1 ? [{ signature, nonce: nonces[0]! }] : [];
}
