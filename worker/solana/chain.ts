import type { Lifetime } from './checkout-transaction.ts';
import type { Confirmed, Finality } from './finality.ts';
import type { Unavailable } from './node.ts';
import type { Broadcast, Sighting, Sightings } from './node-answers.ts';
import type { AccountFacts } from './payee.ts';
import type { Bounds, SignatureListing } from './signature-list.ts';

/** What stands at an address. */
export interface ChainAccount {
  owner: string;
  data: Uint8Array;
}

/**
 * The chain as the verbs see it, whatever stands behind it: one that does not answer is `unavailable`, never an exception, and a
 * signature, a memo or an account means the same on each.
 */
export interface Chain {
  /** Names the chain: caches are kept by it, so that what is remembered of one chain is never told of another. */
  readonly place: string;

  /** The same chain with a shorter limit on each call and fewer tries. */
  within(timeoutMs: number, attempts?: number): Chain;

  /** Status (with history) and transaction at `confirmed`. Both must agree to count as found. */
  findTransaction(signature: string): Promise<Sighting>;

  /** Same as `findTransaction`, but for up to twenty signatures; also says whether absence proves anything. */
  findTransactions(signatures: readonly string[]): Promise<Sightings | Unavailable>;

  /** Which of up to 256 transactions the chain knows, and the height it made final. */
  knows(signatures: readonly string[]): Promise<{ kind: 'known'; finalHeight: number; isKnown: boolean[] } | Unavailable>;

  /** A fresh blockhash, and which of these token accounts exist. */
  prepare(tokenAccounts: readonly string[]): Promise<{ kind: 'ready'; lifetime: Lifetime; exists: boolean[] } | Unavailable>;

  /** What stands at an address, with the first bytes of its data; null where nothing does. */
  accountOf(address: string): Promise<{ kind: 'found'; account: AccountFacts | null } | Unavailable>;

  /** Whole accounts, in the order of their addresses and null where nothing stands, with the slot they were read at. At most a hundred. */
  readAccounts(addresses: readonly string[]): Promise<{ kind: 'accounts'; slot: number; accounts: (ChainAccount | null)[] } | Unavailable>;

  /** True where every node answers that nothing stands at an address. */
  isAbsentEverywhere(address: string): Promise<boolean>;

  /**
   * One page of the transactions that mention an address, newest first, `before` and `until` exclusive, and how far the chain has come
   * where it was asked.
   */
  listSignatures(address: string, page: Bounds & { limit: number }): Promise<SignatureListing>;

  /** What became of up to 256 confirmed transactions. Absence is proven, never assumed. */
  finalityOf(transactions: readonly Confirmed[]): Promise<{ kind: 'finality'; finality: Finality[] } | Unavailable>;

  /** Of up to 256 transactions, for each: true where every node that is not behind answers that it does not know it. */
  areUnknownEverywhere(signatures: readonly string[]): Promise<boolean[]>;

  /**
   * Broadcast. A second broadcast of the same bytes is harmless on chain and answered as sent. A refusal speaks for its own
   * attempt alone: after one whose answer was lost, the transaction may be on its way all the same.
   */
  sendTransaction(wire: Uint8Array, options?: { preflight: boolean }): Promise<Broadcast>;

  /** Whether this transaction would succeed as it is, and past which height it can never land. */
  simulate(wire: Uint8Array): Promise<{ kind: 'passed'; lastValidBlockHeight: number } | { kind: 'failed'; reason: string } | Unavailable>;

  /** Lamports an address holds. */
  balanceOf(address: string): Promise<{ kind: 'balance'; lamports: number } | Unavailable>;

  /** True where the chain answers and is the configured one. `now` is wall time in ms: an answer may be some seconds old. */
  isHealthy(now: number): Promise<boolean>;
}
