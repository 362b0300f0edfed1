import type { Ctx } from '../context.ts';
import { sha256Hex } from '../core/crypto.ts';
import { canonicalJson, utf8 } from '../core/encoding.ts';
import { commit, isConstraint } from '../db/commit.ts';
import { findChainEnd, linkReceipts, listUnlinked, type Receipt } from './store.ts';

/**
 * The hash chain over a merchant's receipts, per mode: appended afterwards, because a sequence inside a confirmation would
 * make confirmations wait for each other. Signatures prove a receipt; the chain proves that none was taken out. (contract section 4)
 */
const GENESIS = '0'.repeat(64);
const SWEEP_MAX = 500;

export interface Link {
  seq: number;
  prevHash: string;
}

/** The hash the next link carries: SHA-256 over the RFC 8785 bytes of this one and of the receipt it stands for. */
export const linkHash = ({ seq, prevHash }: Link, receiptSha256: string): string =>
  sha256Hex(utf8(canonicalJson({ seq, prev_hash: prevHash, sha256: receiptSha256 })));

/** Links of receipts in their order, after the end of the chain so far. Pure. */
export function extendChain(
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

export async function sweepChains(ctx: Ctx): Promise<number> {
  const unlinked = await listUnlinked(ctx.db, SWEEP_MAX);
  const chains = Map.groupBy(unlinked, ({ merchantId, livemode }) => `${merchantId}:${livemode}`);
  for (const receipts of chains.values()) {
    const { merchantId, livemode } = receipts[0]!;
    const links = extendChain(await findChainEnd(ctx.db, merchantId, livemode), receipts);
    try {
      await commit(ctx, { events: [], writes: linkReceipts(ctx, links), result: null });
    } catch (error) {
      // Another sweep appended at the same moment; what it left is taken next time.
      if (!isConstraint(error)) throw error;
    }
  }
  return unlinked.length;
}
