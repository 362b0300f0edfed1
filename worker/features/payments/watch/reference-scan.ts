import { DAY, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commit, isConstraint, type Write } from '#platform/db/commit.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import type { Cursor } from '#platform/db/tables/candidates.ts';
import type { ListedSignature, SignatureListing } from '#solana/signature-list.ts';
import { insertFound, loadWalks, stepCursor, type Walks } from './candidate.store.ts';
import { SWEEP_PATIENCE_MS } from './candidates.ts';
import { restoreEnded } from './ended-sessions.ts';

const PAGE_SIZE = 1000;
/** Of each of the two walks in one sweep; what is left over is read by the next. */
const WALK_MS = 20 * SECOND;
/** A confirmed transaction may take this long to appear in a node's list. */
const LISTING_LAG_MS = 30 * SECOND;
/** Read again by every walk: a node may index a transaction long after those around it. */
const OVERLAP_MS = 5 * MINUTE;

/**
 * Finds payments that no report names: every checkout transaction carries the service's reference key, so paging through the
 * transactions that mention it finds them all. The cost follows payments, not open sessions.
 * Reads from the newest transaction back to where the last walk began, then what is left of earlier walks: money that arrives now
 * is seen now, however many transactions with our public key lie before it. Each page's finds and the step past it are stored
 * in one batch, so a crash resumes in the middle, and a page read twice changes nothing.
 */
export async function sweepReference(ctx: Shard, pageSize = PAGE_SIZE): Promise<Swept> {
  const walks = await loadWalks(ctx.db);
  if (walks.newest.walkBefore !== null) await storeScanStep(ctx, setAside(ctx, walks));
  const newest = await readPages(ctx, pageSize, stepNewest);
  const backlog = await readPages(ctx, pageSize, stepBacklog);
  return { taken: newest.taken + backlog.taken, isFinished: newest.isFinished && backlog.isFinished };
}

type SignaturePage = Extract<SignatureListing, { kind: 'page' }>;

/** Where a walk goes on, and what the page it reads there changes; null where there is nothing to read. */
type Step = (ctx: Ctx, walks: Walks) => { from: Cursor; past: (page: SignaturePage) => Cursor; lost: () => Cursor } | null;

async function readPages(ctx: Shard, pageSize: number, stepFrom: Step): Promise<Swept> {
  let taken = 0;
  const endsAtMs = ctx.elapsedMs() + WALK_MS;
  while (ctx.elapsedMs() < endsAtMs && ctx.budget.left > 0) {
    const step = stepFrom(ctx, await loadWalks(ctx.db));
    if (!step) return { taken, isFinished: true };
    const { walkBefore: before, until } = step.from;
    const listed = await ctx.chain.listSignatures(ctx.config.SERVICE_REFERENCE, { before, until, limit: pageSize });
    if (listed.kind === 'unavailable') {
      ctx.note(`rpc: ${listed.reason}`);
      return { taken, isFinished: true };
    }
    const items = listed.kind === 'page' ? listed.items : [];
    const next = listed.kind === 'page' ? step.past(listed) : step.lost();
    const found = items.flatMap(namedSession);
    await restoreEnded(ctx, { nonces: found.map(({ nonce }) => nonce) });
    // Not all of them may be restored: the next round reads this page again.
    if (ctx.budget.left === 0) break;
    const finds = found.length > 0 ? [insertFound(ctx, found, ctx.now - SWEEP_PATIENCE_MS)] : [];
    // Another walker took this step; it goes on from there.
    if (!(await storeScanStep(ctx, [...finds, ...stepCursor(ctx, step.from, next)]))) return { taken, isFinished: true };
    taken += items.length;
    // The end, or a node that cannot show what comes next: asked again at once, it would tell the same.
    if (items.length === 0) return { taken, isFinished: true };
  }
  return { taken, isFinished: false };
}

/** False where another walker was faster. */
async function storeScanStep(ctx: Shard, writes: Write[]): Promise<boolean> {
  try {
    await commit(ctx, { events: [], writes, result: null });
    return true;
  } catch (error) {
    if (isConstraint(error)) return false;
    throw error;
  }
}

const ENDED = { walkTop: null, walkBefore: null, walkStartedAt: null };

/**
 * Does an empty page end the list? Not where the node does not know the transaction that the list ends at: it was started anew, or has
 * no history of the address, and what came meanwhile may be missing. Sessions wait a day for what no node shows, and no longer; by
 * then a node that lost its history for good is believed, or no walk would ever end again.
 */
const isEnd = (ctx: Ctx, { passedAt }: Cursor, { knowsUntil }: SignaturePage): boolean => knowsUntil || passedAt <= ctx.now - DAY;

/**
 * A walk from the top. Only an empty page ends it; some nodes give less than asked for. The next one ends at the newest transaction
 * old enough that none can still be listed below it late. How far all was seen is told by the node's own clock, because one that is
 * behind has not listed what others confirmed; one that hides its time has come no further than the last. A node that lost our place
 * does not end the walk: it begins anew.
 */
const stepNewest: Step = (ctx, { newest: cursor, backlog }) => ({
  from: cursor,
  past: (page) => {
    const { items, nodeSeconds, knowsUntil } = page;
    const nodeAt = nodeSeconds === null ? null : nodeSeconds * SECOND;
    const startedAt = cursor.walkStartedAt ?? (nodeAt === null ? cursor.passedAt + LISTING_LAG_MS : Math.min(ctx.now, nodeAt));
    const isCertain = ({ blockTime }: ListedSignature) => typeof blockTime === 'number' && blockTime * SECOND <= startedAt - OVERLAP_MS;
    const walkTop = cursor.walkTop ?? items.find(isCertain)?.signature ?? null;
    const oldest = items.at(-1);
    if (oldest) return { ...cursor, walkTop, walkStartedAt: startedAt, walkBefore: oldest.signature };
    if (!isEnd(ctx, cursor, page)) return { ...cursor, ...ENDED };
    const isComplete = backlog.walkBefore === null;
    const passedAt = isComplete ? Math.max(cursor.passedAt, startedAt - LISTING_LAG_MS) : cursor.passedAt;
    return { ...cursor, ...ENDED, until: walkTop ?? (knowsUntil ? cursor.until : null), passedAt };
  },
  lost: () => ({ ...cursor, ...ENDED }),
});

/** A node that lost our place in the backlog has it read anew from where the last walk from the top ended. */
const stepBacklog: Step = (ctx, { newest, backlog: cursor }) =>
  cursor.walkBefore === null
    ? null
    : {
        from: cursor,
        past: (page) => ({ ...cursor, walkBefore: page.items.at(-1)?.signature ?? (isEnd(ctx, newest, page) ? null : cursor.walkBefore) }),
        lost: () => ({ ...cursor, walkBefore: newest.until }),
      };

/** What a walk from the top has left unread joins the backlog, so that the next one begins at the top. */
function setAside(ctx: Shard, { newest, backlog }: Walks): Write[] {
  const until = backlog.walkBefore === null ? newest.until : backlog.until;
  return [
    ...stepCursor(ctx, newest, { ...newest, ...ENDED, until: newest.walkTop ?? newest.until }),
    ...stepCursor(ctx, backlog, { ...backlog, walkBefore: newest.walkBefore, until }),
  ];
}

/** The one session, or refund, that a listed memo names. The node prints memos as `[length] text`, several joined by `; `. */
function namedSession({ signature, memo }: ListedSignature): { signature: string; nonce: string }[] {
  const nonces = [...(memo ?? '').matchAll(/(?:^|; )\[\d+\] svc(?:-refund)?:([1-9A-HJ-NP-Za-km-z]{1,44})(?=$|; )/g)].map(
    ([, nonce]) => nonce!,
  );
  return nonces.length === 1 ? [{ signature, nonce: nonces[0]! }] : [];
}
