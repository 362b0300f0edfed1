import type { AccountId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { emptyOrBound, type Swept } from '#platform/db/sweeps.ts';
import { entryHash, GENESIS_HASH } from './entry.ts';
import { findHead, listAfter, listUnchained, saveHashes } from './store.ts';

const ENTRIES_MAX = 500;

/** Chains new entries by their hashes, in the order of their numbers. Of concurrent runs over an erasure, one stores. */
export async function sweepAuditChain(ctx: Shard): Promise<Swept> {
  const accountIds = await listUnchained(ctx.db, ENTRIES_MAX);
  let isFull = false;
  const taken = await forEach(ctx, accountIds, async (accountId) => {
    isFull = (await chainEntries(ctx, accountId)) === ENTRIES_MAX || isFull;
  });
  return { taken, end: emptyOrBound(!isFull && taken === accountIds.length) };
}

/** Chains the new entries of accounts, announced by the work that recorded them. */
export async function chainQueued(ctx: Shard, accountIds: readonly AccountId[]): Promise<void> {
  for (const accountId of accountIds) while ((await chainEntries(ctx, accountId)) === ENTRIES_MAX);
}

async function chainEntries({ db }: Shard, accountId: AccountId): Promise<number> {
  const head = await findHead(db, accountId);
  const end = { seq: head?.seq ?? 0, hash: head?.hash ?? GENESIS_HASH };
  const entries = await listAfter(db, accountId, end.seq, ENTRIES_MAX);
  let prevHash = end.hash;
  const links = entries.map((entry) => {
    const link = { seq: entry.seq, prevHash, hash: entryHash(entry, prevHash) };
    prevHash = link.hash;
    return link;
  });
  return links.length === 0 ? 0 : saveHashes(db, accountId, end, links);
}
