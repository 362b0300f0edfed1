import { type RpcAnswer, type Unavailable, unavailable } from './node.ts';
import { type ChainTransaction, parseTransaction, type RpcTransaction } from './transaction.ts';

/** What a node's answers say about a transaction. Pure: node-chain.ts asks, this reads. */
export type Sighting =
  /** Confirmed by the cluster, or final. */
  | { kind: 'found'; transaction: ChainTransaction }
  /** A node has seen it, the cluster has not confirmed it yet. */
  | { kind: 'seen' }
  | { kind: 'not_found' }
  /** The node answered, but refuses to show this one transaction: an unsupported version, or history it does not keep. */
  | { kind: 'unreadable'; reason: string }
  | Unavailable;

export interface Sightings {
  kind: 'sightings';
  /**
   * Every transaction with a blockhash that was dead at this height, and that is `not_found` here, never landed; as far as one
   * node can know. null where the statuses came from a view that is behind this height's: then absence proves nothing.
   */
  finalHeight: number | null;
  sightings: Sighting[];
}

interface Statuses {
  context: { slot: number };
  value: ({ confirmationStatus: string } | null)[];
}
interface Epoch {
  absoluteSlot: number;
  blockHeight: number;
}

/** Answers to getEpochInfo (final) and getSignatureStatuses (with history), from one batch. */
export function readStatuses(
  [epoch, statuses]: RpcAnswer[],
  count: number,
): { kind: 'statuses'; finalHeight: number; isCurrent: boolean; value: Statuses['value'] } | Unavailable {
  if (!epoch || !statuses) return unavailable('short answer');
  if ('error' in epoch) return unavailable(epoch.error.message);
  if ('error' in statuses) return unavailable(statuses.error.message);
  const { absoluteSlot, blockHeight } = epoch.result as Epoch;
  const { context, value } = statuses.result as Statuses;
  if (value.length !== count) return unavailable('short answer');
  return { kind: 'statuses', finalHeight: blockHeight, isCurrent: context.slot >= absoluteSlot, value };
}

/** Answers to the same two and to one getTransaction each. */
export function readSightings(answers: RpcAnswer[], signatures: readonly string[]): Sightings | Unavailable {
  const statuses = readStatuses(answers, signatures.length);
  if (statuses.kind === 'unavailable') return statuses;
  const sightings = signatures.map((signature, i) => sightingOf(signature, statuses.value[i] ?? null, answers[i + 2]));
  return { kind: 'sightings', finalHeight: statuses.isCurrent ? statuses.finalHeight : null, sightings };
}

/** Status and transaction must agree to count as found; and one that only one of them knows is not absent. */
export function sightingOf(signature: string, status: { confirmationStatus: string } | null, answer: RpcAnswer | undefined): Sighting {
  if (!answer) return unavailable('short answer');
  if ('error' in answer) return { kind: 'unreadable', reason: `${answer.error.code} ${answer.error.message}` };
  const raw = answer.result as RpcTransaction | null;
  if (!status) return { kind: raw ? 'seen' : 'not_found' };
  // Without meta or block time nothing can be judged yet.
  if (!raw?.meta || status.confirmationStatus === 'processed' || raw.blockTime === null) return { kind: 'seen' };
  return { kind: 'found', transaction: parseTransaction(signature, raw) };
}

export type Broadcast =
  | { kind: 'sent' }
  /** The node simulated it at the first attempt and said no: nothing was broadcast. */
  | { kind: 'rejected'; reason: string }
  /** No answer, or an unclear one: it may be on its way. */
  | Unavailable;

/** The answer to one sendTransaction. What the cluster has processed before was sent. */
export function readBroadcast([answer]: RpcAnswer[]): Broadcast {
  if (!answer) return unavailable('short answer');
  if ('result' in answer) return { kind: 'sent' };
  const { code, message } = answer.error;
  if (/already been processed|AlreadyProcessed/i.test(message)) return { kind: 'sent' };
  return [-32002, -32003, -32602].includes(code) ? { kind: 'rejected', reason: message } : unavailable(message);
}
