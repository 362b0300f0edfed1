/**
 * Hash chains over an account's receipts, one for received and one for paid receipts per mode. Appended after the confirmation, because a
 * sequence inside would serialise confirmations. Signatures prove a receipt, the chain proves that none was removed.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import type { Shard } from '#platform/context.ts';
import { commit, forEach, isConstraint } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { linkReceipts, listReceiptChainEnds, listUnlinked, type Receipt } from './store.ts';

const GENESIS = '0'.repeat(64);
/** Sized for pages in which each receipt is of another merchant and stored alone. */
const PAGES = { pageMax: 200, pagesMax: 4 };

export interface Link {
  seq: number;
  prevHash: string;
}

/** Hash in the next link: SHA-256 over the RFC 8785 bytes of this link and its receipt's hash. */
export const linkHash = ({ seq, prevHash }: Link, receiptSha256: string): string =>
  sha256Hex(utf8(canonicalJson({ seq, prev_hash: prevHash, sha256: receiptSha256 })));

export function extendReceiptChain(
  end: (Link & { sha256: string }) | null,
  receipts: Pick<Receipt, 'id' | 'sha256'>[],
): (Link & { receiptId: string })[] {
  let last = end;
  return receipts.map(({ id, sha256 }) => {
    const link: Link = last ? { seq: last.seq + 1, prevHash: linkHash(last, last.sha256) } : { seq: 1, prevHash: GENESIS };
    last = { ...link, sha256 };
    return { receiptId: id, ...link };
  });
}

/** Links unlinked receipts, oldest first, with one read and one batch per page. */
export const sweepReceiptChains = (ctx: Shard): Promise<Swept> =>
  sweepPages(
    ctx,
    PAGES,
    () => listUnlinked(ctx.db, PAGES.pageMax),
    (unlinked) => linkPage(ctx, unlinked),
  );

async function linkPage(ctx: Shard, unlinked: Awaited<ReturnType<typeof listUnlinked>>): Promise<void> {
  const receiptChains = Map.groupBy(unlinked, receiptChainOf);
  const ends = new Map(
    (
      await listReceiptChainEnds(
        ctx.db,
        [...receiptChains.values()].map(([first]) => first!),
      )
    ).map((end) => [receiptChainOf(end), end]),
  );
  const links = [...receiptChains].map(([receiptChain, receipts]) => extendReceiptChain(ends.get(receiptChain) ?? null, receipts));
  const store = (some: ReturnType<typeof extendReceiptChain>) =>
    commit(ctx, { events: [], writes: linkReceipts(ctx, some), result: null }).catch((error: unknown) => {
      // Another sweep appended at the same moment. The next run takes the rest.
      if (isConstraint(error)) return 'taken';
      throw error;
    });
  // If another sweep appended to one chain, the other chains are stored one by one.
  if ((await store(links.flat())) === 'taken' && links.length > 1) await forEach(ctx, links, store);
}

const receiptChainOf = ({ merchantId, livemode, isPaidByOwner }: Pick<Receipt, 'merchantId' | 'livemode' | 'isPaidByOwner'>): string =>
  `${merchantId}:${livemode}:${isPaidByOwner}`;
