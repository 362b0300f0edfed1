import { type RpcAnswer, type Unavailable, unavailable } from './node.ts';
import { type ChainTransaction, parseTransaction, type RpcTransaction } from './transaction.ts';

/** Parses a node's answers about a transaction. Pure: node-chain.ts sends the requests. */
export type Sighting =
  | { kind: 'found'; transaction: ChainTransaction }
  | { kind: 'seen' }
  | { kind: 'not_found' }
  /** The node refuses to return the transaction: an unsupported version, or history that was pruned. */
  | { kind: 'unreadable'; reason: string }
  | Unavailable;

export interface Sightings {
  kind: 'sightings';
  /**
   * Height behind which absence is proven for one node: a `not_found` transaction with a blockhash that expired by this height never
   * landed. Null if the statuses are older than this height, so that absence proves nothing.
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

export function readSightings(answers: RpcAnswer[], signatures: readonly string[]): Sightings | Unavailable {
  const statuses = readStatuses(answers, signatures.length);
  if (statuses.kind === 'unavailable') return statuses;
  const sightings = signatures.map((signature, i) => sightingOf(signature, statuses.value[i] ?? null, answers[i + 2]));
  return { kind: 'sightings', finalHeight: statuses.isCurrent ? statuses.finalHeight : null, sightings };
}

/** Found only if status and transaction agree. A transaction known to only one of the two is not absent. */
export function sightingOf(signature: string, status: { confirmationStatus: string } | null, answer: RpcAnswer | undefined): Sighting {
  if (!answer) return unavailable('short answer');
  if ('error' in answer) return { kind: 'unreadable', reason: `${answer.error.code} ${answer.error.message}` };
  const raw = answer.result as RpcTransaction | null;
  if (!status) return { kind: raw ? 'seen' : 'not_found' };
  // A transaction without meta or block time cannot be judged yet.
  if (!raw?.meta || status.confirmationStatus === 'processed' || raw.blockTime === null) return { kind: 'seen' };
  return { kind: 'found', transaction: parseTransaction(signature, raw) };
}

export type Broadcast =
  | { kind: 'sent' }
  /** The node rejected the transaction in preflight at the first attempt: nothing was broadcast. */
  | { kind: 'rejected'; reason: string }
  /** No answer, or an ambiguous one: the transaction may be in flight. */
  | Unavailable;

/** Parses the answer to sendTransaction. An already processed transaction counts as sent. */
export function readBroadcast([answer]: RpcAnswer[]): Broadcast {
  if (!answer) return unavailable('short answer');
  if ('result' in answer) return { kind: 'sent' };
  const { code, message } = answer.error;
  if (/already been processed|AlreadyProcessed/i.test(message)) return { kind: 'sent' };
  return [-32002, -32003, -32602].includes(code) ? { kind: 'rejected', reason: message } : unavailable(message);
}
