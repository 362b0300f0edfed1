import { SECOND } from '#core/time.ts';
import { type Node, type RpcAnswer, type RpcCall, type Unavailable, unavailable } from './node.ts';

/** A transaction that was confirmed, and the slot it was seen in; null: not known. */
export interface Confirmed {
  txSignature: string;
  slot: number | null;
}

/** What the nodes say became of a confirmed transaction. `slot`: where it is now. */
export type Finality =
  | { kind: 'finalized' | 'seen'; slot: number }
  /** The finalized chain is proven to be without it, or with it as failed. */
  | { kind: 'absent' }
  /** Nothing is proven: a node that knows nothing of it says nothing about it. */
  | { kind: 'unknown' };

interface Status {
  slot: number;
  confirmationStatus: string;
  err: unknown;
}

/** What is absent has to be absent again this long after: the forgetfulness of one moment is no proof. */
export const DOUBT_MS = 30 * SECOND;
/** What getSignatureStatuses takes, and a node answers at once. */
export const STATUSES_MAX = 256;
/** Blocks in one batch, each some hundred kilobytes of signatures, and of one look. What is left over is proven another time. */
const BLOCKS_PER_CALL = 8;
const BLOCKS_MAX = 40;

export const statusesCall = (signatures: readonly string[]): RpcCall => ({
  method: 'getSignatureStatuses',
  params: [signatures, { searchTransactionHistory: true }],
});
const blockCall = (slot: number, transactionDetails: 'signatures' | 'none'): RpcCall => ({
  method: 'getBlock',
  params: [slot, { transactionDetails, commitment: 'finalized', rewards: false, maxSupportedTransactionVersion: 0 }],
});

/**
 * What became of them, in their order. One node that shows a transaction is believed. Absence takes a proof, a missing answer is none:
 * the finalized block of its slot without it, or a finalized block that names an earlier one as its parent, so that the slot was
 * skipped; and where several nodes are configured, the proof of two of them and none that shows it.
 */
export async function finalityOf(
  nodes: readonly Node[],
  transactions: readonly Confirmed[],
  timeoutMs: number,
): Promise<{ kind: 'finality'; finality: Finality[] } | Unavailable> {
  const finality: Finality[] = transactions.map(() => ({ kind: 'unknown' }));
  const proofs = transactions.map(() => 0);
  let open = transactions.map((_, i) => i);
  let silence: Unavailable | null = null;
  let answered = 0;
  for (const node of nodes) {
    if (open.length === 0) break;
    const looked = await lookWith(
      node,
      open.map((i) => transactions[i]!),
      timeoutMs,
    );
    if ('kind' in looked) {
      silence = looked;
      continue;
    }
    answered++;
    for (const [place, seen] of looked.entries()) {
      const i = open[place]!;
      if (seen.kind === 'absent') proofs[i]!++;
      else finality[i] = seen;
    }
    open = open.filter((i) => finality[i]!.kind === 'unknown');
  }
  if (answered === 0) return silence ?? unavailable('no node');
  const needed = Math.min(2, nodes.length);
  for (const i of open) if (proofs[i]! >= needed) finality[i] = { kind: 'absent' };
  return { kind: 'finality', finality };
}

/** What one node shows, and of what it does not show, what it proves. */
async function lookWith(node: Node, transactions: readonly Confirmed[], timeoutMs: number): Promise<Finality[] | Unavailable> {
  const answers = await node.call([statusesCall(transactions.map(({ txSignature }) => txSignature))], timeoutMs);
  if ('kind' in answers) return answers;
  const statuses = readStatuses(answers[0], transactions.length);
  if (!statuses) return unavailable('no statuses');
  const looked = statuses.map(finalityOfStatus);
  const slots = [...new Set(transactions.flatMap(({ slot }, i) => (looked[i]!.kind === 'unknown' && slot !== null ? [slot] : [])))];
  for (let from = 0; from < Math.min(slots.length, BLOCKS_MAX); from += BLOCKS_PER_CALL) {
    const page = slots.slice(from, from + BLOCKS_PER_CALL);
    const suspects = [...transactions.entries()].filter(([i, { slot }]) => looked[i]!.kind === 'unknown' && page.includes(slot ?? -1));
    // In one batch, so that the same node that shows the block says that it does not know the transaction.
    const signatures = suspects.map(([, { txSignature }]) => txSignature);
    const [again, ...blocks] = await callOrNothing(
      node,
      [statusesCall(signatures), ...page.map((slot) => blockCall(slot, 'signatures'))],
      timeoutMs,
    );
    const stillUnknown = readStatuses(again, signatures.length);
    if (!stillUnknown) continue;
    const proven = await Promise.all(page.map((slot, i) => signaturesAt(node, slot, blocks[i], timeoutMs)));
    for (const [place, [i, { txSignature, slot }]] of suspects.entries()) {
      const signaturesThere = proven[page.indexOf(slot!)];
      if (stillUnknown[place] === null && signaturesThere && !signaturesThere.includes(txSignature)) looked[i] = { kind: 'absent' };
    }
  }
  return looked;
}

/** Failing in the final chain is the same as not being in it: nothing was paid. */
function finalityOfStatus(status: Status | null): Finality {
  if (!status) return { kind: 'unknown' };
  const isFinal = status.confirmationStatus === 'finalized';
  if (status.err !== null) return isFinal ? { kind: 'absent' } : { kind: 'unknown' };
  return { kind: isFinal ? 'finalized' : 'seen', slot: status.slot };
}

function readStatuses(answer: RpcAnswer | undefined, count: number): (Status | null)[] | null {
  if (!answer || 'error' in answer) return null;
  const { value } = answer.result as { value: (Status | null)[] };
  return value.length === count ? value : null;
}

/** `Slot was skipped, or missing due to ledger jump`, `… or missing in long-term storage`: the node does not say which. */
const MAYBE_SKIPPED = [-32007, -32009];

/** The signatures of the finalized block of a slot; none where the slot is proven to have been skipped; null: nothing is proven. */
async function signaturesAt(node: Node, slot: number, block: RpcAnswer | undefined, timeoutMs: number): Promise<string[] | null> {
  if (!block) return null;
  if ('error' in block) return MAYBE_SKIPPED.includes(block.error.code) && (await isSkipped(node, slot, timeoutMs)) ? [] : null;
  const { signatures } = (block.result ?? {}) as { signatures?: string[] };
  return Array.isArray(signatures) ? signatures : null;
}

/** The next finalized block tells by its parent: one before the slot, and there never was a block in between. */
async function isSkipped(node: Node, slot: number, timeoutMs: number): Promise<boolean> {
  const [listed] = await callOrNothing(node, [{ method: 'getBlocksWithLimit', params: [slot, 1, { commitment: 'finalized' }] }], timeoutMs);
  const next = listed && 'result' in listed ? (listed.result as number[])[0] : undefined;
  if (next === undefined || next <= slot) return false;
  const [block] = await callOrNothing(node, [blockCall(next, 'none')], timeoutMs);
  if (!block || 'error' in block) return false;
  const { parentSlot } = (block.result ?? {}) as { parentSlot?: number };
  return parentSlot !== undefined && parentSlot < slot;
}

async function callOrNothing(node: Node, calls: readonly RpcCall[], timeoutMs: number): Promise<RpcAnswer[]> {
  const answers = await node.call(calls, timeoutMs);
  return 'kind' in answers ? [] : answers;
}
