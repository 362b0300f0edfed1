import type { Lifetime } from './checkout-transaction.ts';
import type { Confirmed, Finality } from './finality.ts';
import type { Unavailable } from './node.ts';
import type { Broadcast, Sighting, Sightings } from './node-answers.ts';
import type { AccountFacts } from './payee.ts';
import type { Bounds, SignatureListing } from './signature-list.ts';

export interface ChainAccount {
  owner: string;
  data: Uint8Array;
}

/** Chain interface for the verbs, independent of the implementation. A missing answer is `unavailable`, never an exception. */
export interface Chain {
  /** Identifies the chain, as a cache key, so that cached facts never cross chains. */
  readonly cachePrefix: string;

  /** Returns a view of the chain with a shorter timeout per call and fewer attempts. */
  within(timeoutMs: number, attempts?: number): Chain;

  /** Status (with history) and transaction at `confirmed`. Both must agree to count as found. */
  findTransaction(signature: string): Promise<Sighting>;

  findTransactions(signatures: readonly string[]): Promise<Sightings | Unavailable>;

  knows(signatures: readonly string[]): Promise<{ kind: 'known'; finalHeight: number; isKnown: boolean[] } | Unavailable>;

  prepare(tokenAccounts: readonly string[]): Promise<{ kind: 'ready'; lifetime: Lifetime; exists: boolean[] } | Unavailable>;

  /** Account with the first bytes of its data. Null if the account does not exist. */
  accountOf(address: string): Promise<{ kind: 'found'; account: AccountFacts | null } | Unavailable>;

  /** Full accounts in the order of their addresses, null if absent, with the slot of the reading. At most 100. */
  readAccounts(addresses: readonly string[]): Promise<{ kind: 'accounts'; slot: number; accounts: (ChainAccount | null)[] } | Unavailable>;

  isAbsentEverywhere(address: string): Promise<boolean>;

  /** Page of the transactions that mention an address, newest first, `before` and `until` exclusive, with the chain time of the node. */
  listSignatures(address: string, page: Bounds & { limit: number }): Promise<SignatureListing>;

  /** Outcome of up to 256 confirmed transactions. Absence is proven, never assumed. */
  finalityOf(transactions: readonly Confirmed[]): Promise<{ kind: 'finality'; finality: Finality[] } | Unavailable>;

  /**
   * For each of up to 256 transactions: true if every node answers that the signature is unknown. A node without an answer proves nothing.
   */
  areUnknownEverywhere(signatures: readonly string[]): Promise<boolean[]>;

  /**
   * Broadcasts a transaction. Repeating the same bytes is harmless and returns `sent`. A rejection covers only its own attempt: after a
   * lost answer, the transaction may still be in flight.
   */
  sendTransaction(wire: Uint8Array, options?: { preflight: boolean }): Promise<Broadcast>;

  /** Simulates the transaction and returns the height past which it can never land. */
  simulate(wire: Uint8Array): Promise<{ kind: 'passed'; lastValidBlockHeight: number } | { kind: 'failed'; reason: string } | Unavailable>;

  balanceOf(address: string): Promise<{ kind: 'balance'; lamports: number } | Unavailable>;

  /** True if the chain answers and is the configured one. `now` is wall time in ms. The answer may be some seconds old. */
  isHealthy(now: number): Promise<boolean>;
}
