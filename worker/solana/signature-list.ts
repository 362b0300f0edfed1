import { base64 } from '#core/encoding.ts';
import { type RpcAnswer, type Unavailable, unavailable } from './node.ts';

/** Where a cluster keeps its time, and where in that account the `unix_timestamp` of the newest slot stands. (Solana Clock sysvar) */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';
export const CLOCK_SECONDS = { offset: 32, length: 8 };

/** What a node lists of an address, with the memo text as it prints it. */
export interface ListedSignature {
  signature: string;
  memo: string | null;
  /** Seconds. */
  blockTime?: number | null;
  confirmationStatus?: string | null;
}

export type SignatureListing =
  /**
   * `nodeSeconds`: Unix time of the newest slot this node has confirmed, null where it does not say. `knowsUntil`: false where the
   * node does not know the signature that the list was to end at, so that its list may lack what came after that.
   */
  | { kind: 'page'; items: ListedSignature[]; nodeSeconds: number | null; knowsUntil: boolean }
  /** The node does not know the signature that the page was to begin after. */
  | { kind: 'lost' }
  | Unavailable;

/** Where a page begins and where the list ends, both exclusive. */
export interface Bounds {
  before: string | null;
  until: string | null;
}

/** The signatures a page is bounded by, as their statuses are asked for together with it. */
export const boundsOf = ({ before, until }: Bounds): string[] => [before, until].filter((bound) => bound !== null);

/** Answers to getAccountInfo (clock), getSignaturesForAddress and, for a page that has bounds, the statuses of these. */
export function readListed([clock, listed, statuses]: RpcAnswer[], bounds: Bounds): SignatureListing {
  if (!listed || 'error' in listed) return unavailable(listed ? listed.error.message : 'short answer');
  const known = statuses && 'result' in statuses ? (statuses.result as { value: unknown[] }).value : [];
  const isKnown = (bound: string | null) => bound === null || Boolean(known[boundsOf(bounds).indexOf(bound)]);
  if (!isKnown(bounds.before)) return { kind: 'lost' };
  const items = listed.result as ListedSignature[];
  return { kind: 'page', items, nodeSeconds: readClock(clock), knowsUntil: isKnown(bounds.until) };
}

function readClock(answer: RpcAnswer | undefined): number | null {
  const account = answer && 'result' in answer ? (answer.result as { value: { data: [string, string] } | null }).value : null;
  if (!account) return null;
  const bytes = base64.decode(account.data[0]);
  return bytes.length === CLOCK_SECONDS.length ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true)) : null;
}
