/**
 * The hash chains over an account's receipts, in each mode one of what it received and one of what it paid: appended afterwards,
 * because a sequence inside a confirmation would make confirmations wait for each other. Signatures prove a receipt; the chain proves
 * that none was taken out.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import type { Shard } from '#platform/context.ts';
import { commit, forEach, isConstraint } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { linkReceipts, listReceiptChainEnds, listUnlinked, type Receipt } from './store.ts';

const GENESIS = '0'.repeat(64);
/** Also where each receipt of a page is of another merchant, and each has to be stored by itself. */
const PAGES = { pageMax: 200, pagesMax: 4 };

export interface Link {
  seq: number;
  prevHash: string;
}

/** The hash the next link carries: SHA-256 over the RFC 8785 bytes of this one and of the receipt it stands for. */
export const linkHash = ({ seq, prevHash }: Link, receiptSha256: string): string =>
  sha256Hex(utf8(canonicalJson({ seq, prev_hash: prevHash, sha256: receiptSha256 })));

/** Links of receipts in their order, after the end of the chain so far. Pure. */
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

/** What has no link yet, oldest first: one read and one batch for a page, of however many merchants it is. */
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
      // Another sweep appended at the same moment; what it left is taken next time.
      if (isConstraint(error)) return 'taken';
      throw error;
    });
  // Where another appended to one of the chains, the others are stored each by itself.
  if ((await store(links.flat())) === 'taken' && links.length > 1) await forEach(ctx, links, store);
}

const receiptChainOf = ({ merchantId, livemode, isPaidByOwner }: Pick<Receipt, 'merchantId' | 'livemode' | 'isPaidByOwner'>): string =>
  `${merchantId}:${livemode}:${isPaidByOwner}`;
