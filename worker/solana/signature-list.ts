import { base64 } from '#core/encoding.ts';
import { type RpcAnswer, type Unavailable, unavailable } from './node.ts';

/** Clock sysvar of Solana and the offset of `unix_timestamp` (time of the newest slot) in its data. */
export const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111';
export const CLOCK_SECONDS = { offset: 32, length: 8 };

export interface ListedSignature {
  signature: string;
  memo: string | null;
  blockTime?: number | null;
  confirmationStatus?: string | null;
}

export type SignatureListing =
  /**
   * `nodeSeconds`: Unix time of the node's newest confirmed slot, null if unknown. `knowsUntil`: false if the node does not know the
   * `until` signature, so the list may be incomplete after it.
   */
  { kind: 'page'; items: ListedSignature[]; nodeSeconds: number | null; knowsUntil: boolean } | { kind: 'lost' } | Unavailable;

/** Start of the page and end of the list, both exclusive. */
export interface Bounds {
  before: string | null;
  until: string | null;
}

export const boundsOf = ({ before, until }: Bounds): string[] => [before, until].filter((bound) => bound !== null);

/** Parses getAccountInfo (clock), getSignaturesForAddress and, for a bounded page, the statuses of the bounds. */
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
