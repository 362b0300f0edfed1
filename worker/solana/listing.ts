import { base64 } from '../core/encoding.ts';
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
}

export type Listed =
  /** `nodeSeconds`: Unix time of the newest slot this node has confirmed, null where it does not say. */
  | { kind: 'page'; items: ListedSignature[]; nodeSeconds: number | null }
  /** The node does not know the signature that the page was to begin after. */
  | { kind: 'lost' }
  | Unavailable;

/** Answers to getAccountInfo (clock), getSignaturesForAddress and, for a page that is not the first, the status of where it begins. */
export function readListed([clock, listed, known]: RpcAnswer[], isContinued: boolean): Listed {
  if (!listed || 'error' in listed) return unavailable(listed ? listed.error.message : 'short answer');
  const status = known && 'result' in known ? (known.result as { value: unknown[] }).value[0] : null;
  if (isContinued && !status) return { kind: 'lost' };
  return { kind: 'page', items: listed.result as ListedSignature[], nodeSeconds: readClock(clock) };
}

function readClock(answer: RpcAnswer | undefined): number | null {
  const account = answer && 'result' in answer ? (answer.result as { value: { data: [string, string] } | null }).value : null;
  if (!account) return null;
  const bytes = base64.decode(account.data[0]);
  return bytes.length === CLOCK_SECONDS.length ? Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(0, true)) : null;
}
