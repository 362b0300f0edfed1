import { formatErrorChain } from '#core/errors.ts';
import { partitionOfNonce } from '#core/ids.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commit, isConstraint, type Write } from '#platform/db/commit.ts';
import { findShardAt, shardNamed } from '#platform/db/directory.ts';
import { othersOf } from '#platform/db/each-database.ts';
import { addSwept, type Swept } from '#platform/db/sweeps.ts';
import type { Cursor } from '#platform/db/tables/candidates.ts';
import type { ListedSignature, SignatureListing } from '#solana/signature-list.ts';
import { insertFound } from './candidate.store.ts';
import { SWEEP_PATIENCE_MS } from './candidates.ts';
import { restoreEnded } from './ended-sessions.ts';
import { loadWalks, stepCursor, type Walks } from './reference-scan.store.ts';

const PAGE_SIZE = 1000;
const WALK_MS = 20 * SECOND;
/** Maximum time until a confirmed transaction appears in a node's list. */
const LISTING_LAG_MS = 30 * SECOND;
/** Overlap read by every walk, because a node may index a transaction long after its neighbours. */
const OVERLAP_MS = 5 * MINUTE;

/**
 * Finds unreported payments of all databases by a reference key of the service. Reads from the newest transaction to the start of the last
 * walk, then the backlog, so that new money is seen first. Each page and its cursor step are one batch in the first database: a crash
 * resumes, and a repeated page changes nothing.
 */
export async function sweepReference(ctx: Shard, index = 0, pageSize = PAGE_SIZE): Promise<Swept> {
  const key = ctx.config.SERVICE_REFERENCE[index];
  if (key === undefined) return { taken: 0, end: 'empty' };
  const walk = { key, pageSize };
  const walks = await loadWalks(ctx, key);
  if (walks.newest.walkBefore !== null) await storeScanStep(ctx, setAside(ctx, walks));
  const newest = await readPages(ctx, walk, stepNewest);
  const backlog = await readPages(ctx, walk, stepBacklog);
  return addSwept(newest, backlog);
}

type SignaturePage = Extract<SignatureListing, { kind: 'page' }>;

type Step = (ctx: Ctx, walks: Walks) => { from: Cursor; past: (page: SignaturePage) => Cursor; lost: () => Cursor } | null;

async function readPages(ctx: Shard, { key, pageSize }: { key: string; pageSize: number }, stepFrom: Step): Promise<Swept> {
  let taken = 0;
  const endsAtMs = ctx.elapsedMs() + WALK_MS;
  while (ctx.elapsedMs() < endsAtMs && ctx.budget.left > 0) {
    const walks = await loadWalks(ctx, key);
    const step = stepFrom(ctx, walks);
    if (!step) return { taken, end: 'empty' };
    const { walkBefore: before, until } = step.from;
    const listed = await ctx.chain.listSignatures(key, { before, until, limit: pageSize });
    if (listed.kind === 'unavailable') {
      ctx.note(`rpc: ${listed.reason}`);
      return { taken, end: 'paused' };
    }
    const items = listed.kind === 'page' ? listed.items : [];
    const next = listed.kind === 'page' ? step.past(listed) : step.lost();
    const found = Map.groupBy(items.flatMap(namedSession), ({ nonce }) => findShardAt(ctx, partitionOfNonce(nonce))?.database);
    const own = found.get(ctx.database) ?? [];
    await restoreEnded(ctx, { nonces: own.map(({ nonce }) => nonce) });
    const others = othersOf(ctx).map(({ database }) => storeFound(ctx, database, found.get(database) ?? []));
    const isStored = (await Promise.all(others)).every(Boolean);
    // The budget may not restore all of them, so the next round reads this page again.
    if (ctx.budget.left === 0) break;
    // A page with a payment of a database that is away is read again, after the payments of the others are stored.
    const steps = isStored ? stepCursor(ctx, step.from, next) : [];
    if (!(await storeScanStep(ctx, [...findIn(ctx, own), ...steps])) || !isStored) return { taken, end: 'paused' };
    taken += items.length;
    // The list ended, or the node cannot show more, which an immediate retry would not change.
    if (items.length === 0) return { taken, end: listed.kind === 'page' && isEnd(ctx, walks.newest, listed) ? 'empty' : 'paused' };
  }
  return { taken, end: 'bound' };
}

const findIn = (shard: Shard, found: NamedSession[]): Write[] =>
  found.length > 0 ? [insertFound(shard, found, shard.now - SWEEP_PATIENCE_MS)] : [];

/** Stores what the walk found for another database. False if that database is away, or a partition is leaving it. */
async function storeFound(ctx: Shard, database: string, found: NamedSession[]): Promise<boolean> {
  if (found.length === 0) return true;
  const homes = new Set(found.flatMap(({ nonce }) => partitionOfNonce(nonce) ?? []));
  const other = shardNamed(ctx, database, [...homes]);
  try {
    await restoreEnded(other, { nonces: found.map(({ nonce }) => nonce) });
    await commit(other, { events: [], writes: findIn(other, found), result: null });
    return true;
  } catch (error) {
    other.note(`${other.database}: ${formatErrorChain(error)}`);
    return false;
  }
}

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
 * True if an empty page ends the list. A node that does not know the last transaction may have restarted without history, and transactions
 * may be missing. After a day, as long as sessions wait, the node is believed, because otherwise no walk would ever end.
 */
const isEnd = (ctx: Ctx, { passedAt }: Cursor, { knowsUntil }: SignaturePage): boolean => knowsUntil || passedAt <= ctx.now - DAY;

/**
 * Walks from the top until an empty page, because some nodes return short pages. The next walk ends at the newest transaction old enough
 * that none can be listed late below it. The node's clock decides how far all was seen. Without it the last walk's time remains. A node
 * that lost the cursor restarts the walk.
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

/** Walks the backlog. If a node lost the cursor, the walk restarts at the end of the last walk from the top. */
const stepBacklog: Step = (ctx, { newest, backlog: cursor }) =>
  cursor.walkBefore === null
    ? null
    : {
        from: cursor,
        past: (page) => ({ ...cursor, walkBefore: page.items.at(-1)?.signature ?? (isEnd(ctx, newest, page) ? null : cursor.walkBefore) }),
        lost: () => ({ ...cursor, walkBefore: newest.until }),
      };

function setAside(ctx: Shard, { newest, backlog }: Walks): Write[] {
  const until = backlog.walkBefore === null ? newest.until : backlog.until;
  return [
    ...stepCursor(ctx, newest, { ...newest, ...ENDED, until: newest.walkTop ?? newest.until }),
    ...stepCursor(ctx, backlog, { ...backlog, walkBefore: newest.walkBefore, until }),
  ];
}

/** Parses the single session or refund that a listed memo names. The node prints memos as `[length] text`, joined by semicolons. */
interface NamedSession {
  signature: string;
  nonce: string;
}

function namedSession({ signature, memo }: ListedSignature): NamedSession[] {
  const nonces = [...(memo ?? '').matchAll(/(?:^|; )\[\d+\] svc(?:-refund)?:([1-9A-HJ-NP-Za-km-z]{1,44})(?=$|; )/g)].map(
    ([, nonce]) => nonce!,
  );
  return nonces.length === 1 ? [{ signature, nonce: nonces[0]! }] : [];
}
