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
const PAGE = 1000;
const PAGES_MAX = 10;
/** A confirmed transaction may take this long to appear in a node's list. */
const LISTING_LAG_MS = 30 * SECOND;

/**
 * Reads from the newest transaction back to where the last walk began. Each page's finds and the step past it are stored in
 * one batch, so a crash resumes in the middle, and a page read twice changes nothing. Answers how many transactions it read.
 */
export async function sweepReference(ctx: Ctx): Promise<number> {
  let read = 0;
  for (let page = 0; page < PAGES_MAX; page++) {
    const cursor = await getCursor(ctx.db, REFERENCE_CURSOR);
    const listed = await ctx.chain.listSignatures(ctx.config.SERVICE_REFERENCE, {
      before: cursor.walkBefore,
      until: cursor.until,
      limit: PAGE,
    });
    if (listed.kind === 'unavailable') {
      ctx.note(`rpc: ${listed.reason}`);
      return read;
    }
    const next = stepPast(cursor, listed.items, ctx.now);
    try {
      const found = listed.items.flatMap(namedSession);
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
    read += listed.items.length;
    if (next.walkBefore === null) return read;
  }
  return read;
}

/** A full page means older ones may follow; a shorter one ends the walk, and everything up to its start has been seen. */
function stepPast(cursor: Cursor, items: ListedSignature[], now: number): Cursor {
  const walkTop = cursor.walkTop ?? items[0]?.signature ?? cursor.until;
  const walkStartedAt = cursor.walkStartedAt ?? now;
  const oldest = items.at(-1);
  if (oldest && items.length === PAGE) return { ...cursor, walkTop, walkStartedAt, walkBefore: oldest.signature };
  return { ...cursor, until: walkTop, walkTop: null, walkBefore: null, walkStartedAt: null, passedAt: walkStartedAt - LISTING_LAG_MS };
}

/** The one session a listed memo names. The node prints memos as `[length] text`, several joined by `; `. */
function namedSession({ signature, memo }: ListedSignature): { signature: string; nonce: string }[] {
  const nonces = [...(memo ?? '').matchAll(/(?:^|; )\[\d+\] svc:([1-9A-HJ-NP-Za-km-z]{1,44})(?=$|; )/g)].map(([, nonce]) => nonce!);
  return nonces.length === 1 ? [{ signature, nonce: nonces[0]! }] : [];
}
