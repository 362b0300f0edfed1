import { MINUTE, SECOND } from '#core/time.ts';
import { type Node, type RpcAnswer, type RpcCall, type Unavailable, unavailable } from './node.ts';

export interface Confirmed {
  txSignature: string;
  slot: number | null;
}

export type Finality =
  | { kind: 'finalized' | 'seen'; slot: number }
  /** Proven: the finalized chain lacks the transaction, or contains it as failed. */
  | { kind: 'absent' }
  /** Not proven: a node without the transaction proves nothing. */
  | { kind: 'unknown' };

interface Status {
  slot: number;
  confirmationStatus: string;
  err: unknown;
}

/** Blocks for which a blockhash is valid. */
export const BLOCKHASH_LIFE = 150;

/** Time in which a transaction lands, or never does. Longer than a blockhash lives at normal speed, for where the height is unknown. */
export const LANDS_WITHIN_MS = 2 * MINUTE;

/** Last height for a transaction that was valid at `height`. The node that gave its blockhash may be ahead by the life of one. */
export const lastHeightFrom = (height: number): number => height + 2 * BLOCKHASH_LIFE;

/** True while it makes sense to send a transaction with this last height again. Afterwards it is in flight, or gone. */
export const isSendable = (lastHeight: number, finalHeight: number): boolean => finalHeight <= lastHeight - BLOCKHASH_LIFE;

/** Absence must be proven again after this time: one incomplete answer of a node is no proof. */
export const DOUBT_MS = 30 * SECOND;
export const STATUSES_MAX = 256;
/** Blocks per batch and per run. A block has some hundred kilobytes of signatures. The rest is proven in a later run. */
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
 * Outcomes in the order of the input. One node that shows a transaction suffices. Absence needs a proof: the finalized block of its slot
 * lacks the transaction, or the slot was skipped (a finalized block names an earlier parent). With several nodes, two must prove the
 * absence and none show the transaction.
 */
export async function fetchFinality(
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
    const outcomes = await readFinality(
      node,
      open.map((i) => transactions[i]!),
      timeoutMs,
    );
    if ('kind' in outcomes) {
      silence = outcomes;
      continue;
    }
    answered++;
    for (const [position, seen] of outcomes.entries()) {
      const i = open[position]!;
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

async function readFinality(node: Node, transactions: readonly Confirmed[], timeoutMs: number): Promise<Finality[] | Unavailable> {
  const answers = await node.call([statusesCall(transactions.map(({ txSignature }) => txSignature))], timeoutMs);
  if ('kind' in answers) return answers;
  const statuses = readStatuses(answers[0], transactions.length);
  if (!statuses) return unavailable('no statuses');
  const outcomes = statuses.map(finalityOfStatus);
  const slots = [...new Set(transactions.flatMap(({ slot }, i) => (outcomes[i]!.kind === 'unknown' && slot !== null ? [slot] : [])))];
  for (let from = 0; from < Math.min(slots.length, BLOCKS_MAX); from += BLOCKS_PER_CALL) {
    const page = slots.slice(from, from + BLOCKS_PER_CALL);
    const suspects = [...transactions.entries()].filter(([i, { slot }]) => outcomes[i]!.kind === 'unknown' && page.includes(slot ?? -1));
    // Batched, so that the same node returns the block and states that the transaction is unknown.
    const signatures = suspects.map(([, { txSignature }]) => txSignature);
    const [again, ...blocks] = await callOrNothing(
      node,
      [statusesCall(signatures), ...page.map((slot) => blockCall(slot, 'signatures'))],
      timeoutMs,
    );
    const stillUnknown = readStatuses(again, signatures.length);
    if (!stillUnknown) continue;
    const proven = await Promise.all(page.map((slot, i) => signaturesAt(node, slot, blocks[i], timeoutMs)));
    for (const [position, [i, { txSignature, slot }]] of suspects.entries()) {
      const signaturesThere = proven[page.indexOf(slot!)];
      if (stillUnknown[position] === null && signaturesThere && !signaturesThere.includes(txSignature)) outcomes[i] = { kind: 'absent' };
    }
  }
  return outcomes;
}

/** A transaction that failed in the final chain counts as absent: nothing was paid. */
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

/** `Slot was skipped, or missing due to ledger jump` and `… or missing in long-term storage`: the node cannot distinguish the two. */
const MAYBE_SKIPPED = [-32007, -32009];

/** Signatures of the finalized block of a slot. Empty if the slot was provably skipped. Null if nothing is proven. */
async function signaturesAt(node: Node, slot: number, block: RpcAnswer | undefined, timeoutMs: number): Promise<string[] | null> {
  if (!block) return null;
  if ('error' in block) return MAYBE_SKIPPED.includes(block.error.code) && (await isSkipped(node, slot, timeoutMs)) ? [] : null;
  const { signatures } = (block.result ?? {}) as { signatures?: string[] };
  return Array.isArray(signatures) ? signatures : null;
}

/** A slot was skipped if the parent of the next finalized block is before the slot. */
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
