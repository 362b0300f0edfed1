/**
 * Hash chains over an account's receipts, one for received and one for paid receipts per mode: proof that none was removed. The INSERT makes
 * the number. A receipt stores an anchor, the hash of the last link read before it. Receipts inserted since lead from there to `prev_hash`,
 * so that confirmations do not wait for each other.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { ReceiptId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { getLastReceipt, listBetween, type Receipt, type ReceiptChainKey, receiptChainEndQuery } from './store.ts';

export { receiptChainEndQuery } from './store.ts';

export interface Link {
  seq: number;
  prevHash: string;
}

/** Hash of an earlier link of the same chain. */
export interface Anchor {
  anchorSeq: number;
  anchorHash: string;
}

type NumberedReceipt = Pick<Receipt, 'seq' | 'sha256'>;

const GENESIS: Anchor = { anchorSeq: 0, anchorHash: '0'.repeat(64) };

/** Hash in the next link: SHA-256 over the RFC 8785 bytes of this link and its receipt's hash. */
export const linkHash = ({ seq, prevHash }: Link, receiptSha256: string): string =>
  sha256Hex(utf8(canonicalJson({ seq, prev_hash: prevHash, sha256: receiptSha256 })));

/** Hash after the receipts that follow an anchor, in order: the `prevHash` of the next one. */
export const followLinks = ({ anchorHash }: Anchor, receipts: readonly NumberedReceipt[]): string =>
  receipts.reduce((prevHash, { seq, sha256 }) => linkHash({ seq, prevHash }, sha256), anchorHash);

/** Anchor of the receipt after `end`, which is the last receipt of a chain and those between it and its anchor. */
export function anchorAfter(end: readonly (NumberedReceipt & Anchor)[]): Anchor {
  const last = end.at(-1);
  if (!last) return GENESIS;
  // Receipts between may be in the archive, after an erasure of the later ones.
  if (end.length < last.seq - last.anchorSeq) return { anchorSeq: last.anchorSeq, anchorHash: last.anchorHash };
  return { anchorSeq: last.seq, anchorHash: followLinks(last, end) };
}

/**
 * Anchors the next receipt to the last one even if receipts before it are in the archive, so that later links need not read them again. If
 * the archive does not answer, the older anchor is as valid.
 */
export async function loadNextAnchor(ctx: Shard, key: ReceiptChainKey, end: readonly (NumberedReceipt & Anchor)[]): Promise<Anchor> {
  const anchor = anchorAfter(end);
  if (anchor.anchorSeq === (end.at(-1)?.seq ?? 0)) return anchor;
  try {
    const last = await getLastReceipt(ctx, key);
    const link = (await listLinks(ctx, [last])).get(last.id)!;
    return { anchorSeq: link.seq, anchorHash: linkHash(link, last.sha256) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    ctx.note(`older anchor: ${error.message}`);
    return anchor;
  }
}

export const loadAnchor = async (ctx: Shard, key: ReceiptChainKey): Promise<Anchor> =>
  loadNextAnchor(ctx, key, await receiptChainEndQuery(ctx.db, key));

/** Links of receipts by id. Reads others only for receipts that were inserted at the same time. */
export async function listLinks(ctx: Shard, receipts: readonly Receipt[]): Promise<Map<ReceiptId, Link>> {
  const raced = receipts.filter(({ seq, anchorSeq }) => anchorSeq + 1 < seq);
  const between = raced.length === 0 ? null : await listBetween(ctx, raced);
  return new Map(
    receipts.map((receipt) => [receipt.id, { seq: receipt.seq, prevHash: followLinks(receipt, between?.get(receipt.id) ?? []) }]),
  );
}

/** Anchors receipts to their previous link, so that no other receipt is needed to read their links from the archive. */
export async function anchorToPrevious(ctx: Shard, receipts: readonly Receipt[]): Promise<Receipt[]> {
  const links = await listLinks(ctx, receipts);
  return receipts.map((receipt) => ({ ...receipt, anchorSeq: receipt.seq - 1, anchorHash: links.get(receipt.id)!.prevHash }));
}
