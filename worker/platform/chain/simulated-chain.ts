import { sha256Hex } from '#core/crypto.ts';
import { base64 } from '#core/encoding.ts';
import { SECOND, unixSeconds } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import { isAborted, type Write } from '#platform/db/commit.ts';
import type { SandboxOutcome, SandboxTransaction } from '#platform/db/tables/sandbox.ts';
import type { Chain, ChainAccount } from '#solana/chain.ts';
import type { Lifetime } from '#solana/checkout-transaction.ts';
import { BLOCKHASH_LIFE, type Confirmed, type Finality, lastHeightFrom } from '#solana/finality.ts';
import type { Broadcast, Sighting, Sightings } from '#solana/node-answers.ts';
import type { Bounds, SignatureListing } from '#solana/signature-list.ts';
import { parseTransaction } from '#solana/transaction.ts';
import { SimulatedLedger } from './accounts/ledger.ts';
import { changesAccounts } from './accounts/run.ts';
import { findTransactions, insertTransaction, isSent, listAbout, markSent, type SandboxKey } from './simulated.store.ts';
import {
  blockhashAt,
  decodeSigned,
  hasAuthorities,
  landedTransaction,
  type SignedTransaction,
  slotAt,
  slotOfBlockhash,
} from './simulated-blocks.ts';

/** Time and slots until a block is final, as on the real clusters. */
const FINAL_AFTER_MS = 13 * SECOND;
const FINAL_AFTER_SLOTS = 32;
const LAMPORTS = 1_000_000_000_000;

const TRIES_MAX = 8;

const AT_ONCE: SandboxOutcome = { landsAfterMs: 0 };

type TransactionState = 'unknown' | 'confirmed' | 'final' | 'dropped';

/**
 * Chain of one merchant's sandbox. Blocks follow from the clock of the scope, so a paused session sees a paused chain. A transaction must
 * be signed over a blockhash of this sandbox and session, which no cluster has, so nothing signed here can land on a cluster, and vice
 * versa.
 */
export class SimulatedChain implements Chain {
  readonly cachePrefix: string;
  readonly ledger: SimulatedLedger;
  readonly #db: Db;
  readonly #at: SandboxKey & { now: number };

  constructor(db: Db, at: SandboxKey & { now: number }) {
    this.#db = db;
    this.#at = at;
    this.cachePrefix = `sandbox:${at.merchantId}`;
    this.ledger = new SimulatedLedger(db, at);
  }

  within(): Chain {
    return this;
  }

  async findTransaction(signature: string): Promise<Sighting> {
    const [sighting] = (await this.findTransactions([signature])).sightings;
    return sighting!;
  }

  async findTransactions(signatures: readonly string[]): Promise<Sightings> {
    const known = await this.#find(signatures);
    const sightings = signatures.map((signature): Sighting => {
      const transaction = known.get(signature);
      const state = this.#statusOf(transaction);
      if (!transaction || state === 'unknown' || state === 'dropped') return { kind: 'not_found' };
      return { kind: 'found', transaction: parseTransaction(signature, landedOf(transaction)) };
    });
    return { kind: 'sightings', finalHeight: this.#finalHeight, sightings };
  }

  async knows(signatures: readonly string[]): Promise<{ kind: 'known'; finalHeight: number; isKnown: boolean[] }> {
    const known = await this.#find(signatures);
    const isKnown = signatures.map((signature) => ['confirmed', 'final'].includes(this.#statusOf(known.get(signature))));
    return { kind: 'known', finalHeight: this.#finalHeight, isKnown };
  }

  async prepare(tokenAccounts: readonly string[]): Promise<{ kind: 'ready'; lifetime: Lifetime; exists: boolean[] }> {
    const slot = slotAt(this.#at.now);
    const lifetime = { blockhash: blockhashAt(this.#at, slot), lastValidBlockHeight: BigInt(slot + BLOCKHASH_LIFE) };
    return { kind: 'ready', lifetime, exists: tokenAccounts.map(() => true) };
  }

  async accountOf(): Promise<{ kind: 'found'; account: null }> {
    return { kind: 'found', account: null };
  }

  async readAccounts(addresses: readonly string[]): Promise<{ kind: 'accounts'; slot: number; accounts: (ChainAccount | null)[] }> {
    return { kind: 'accounts', slot: slotAt(this.#at.now), accounts: await this.ledger.read(addresses) };
  }

  async isAbsentEverywhere(): Promise<boolean> {
    return true;
  }

  async listSignatures(address: string, page: Bounds & { limit: number }): Promise<SignatureListing> {
    const rows = await listAbout(this.#db, this.#at, address, page);
    const items = rows
      .filter((row) => ['confirmed', 'final'].includes(this.#statusOf(row)))
      .map((row) => ({ signature: row.txSignature!, memo: null, blockTime: blockTimeOf(row) }));
    return { kind: 'page', items, nodeSeconds: unixSeconds(this.#at.now), knowsUntil: true };
  }

  async finalityOf(transactions: readonly Confirmed[]): Promise<{ kind: 'finality'; finality: Finality[] }> {
    const known = await this.#find(transactions.map(({ txSignature }) => txSignature));
    const finality = transactions.map(({ txSignature }): Finality => {
      const transaction = known.get(txSignature);
      if (!transaction) return { kind: 'unknown' };
      const state = this.#statusOf(transaction);
      if (state === 'confirmed') return { kind: 'seen', slot: slotAt(landedAt(transaction)!) };
      if (state !== 'final') return { kind: 'absent' };
      return transaction.outcome.hasFailed ? { kind: 'absent' } : { kind: 'finalized', slot: slotAt(landedAt(transaction)!) };
    });
    return { kind: 'finality', finality };
  }

  async areUnknownEverywhere(signatures: readonly string[]): Promise<boolean[]> {
    return (await this.knows(signatures)).isKnown.map((isKnown) => !isKnown);
  }

  /** Broadcasts a transaction. It lands as `planOutcome` decided for its message, else at once. */
  async sendTransaction(wire: Uint8Array, { preflight = true } = {}): Promise<Broadcast> {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const planned = await this.planSend(wire, AT_ONCE, { mayFail: !preflight });
      if ('kind' in planned) return planned;
      const [first, ...rest] = planned.writes;
      try {
        if (first) await this.#db.batch([first, ...rest]);
        return { kind: 'sent' };
      } catch (error) {
        if (!isAborted(error)) throw error;
      }
    }
    return { kind: 'unavailable', reason: 'others were faster each time' };
  }

  /**
   * Plans a broadcast as writes, to store in one batch with the answer, or returns the refusal. The batch aborts if an account changed
   * meanwhile. `isVouched`: skips the signature check because the sandbox acts for a wallet. `mayFail`: a program failure lands as a failed
   * transaction.
   */
  async planSend(
    wire: Uint8Array,
    outcome: SandboxOutcome,
    { isVouched = false, mayFail = false } = {},
  ): Promise<{ writes: Write[] } | Extract<Broadcast, { kind: 'rejected' }>> {
    const signed = decodeSigned(wire);
    const problem = this.#problemOf(signed, isVouched);
    if (problem !== null) return { kind: 'rejected', reason: problem };
    const sent = { ...rowOf(signed!, wire), outcome, sentAt: this.#at.now };
    if (!changesAccounts(signed!)) return { writes: [markSent(this.#db, this.#at, { ...sent, inner: null, about: null })] };
    if (await isSent(this.#db, this.#at, sent.messageHash)) return { writes: [] };
    const { run, writes } = await this.ledger.plan(signed!);
    const { about } = run;
    if (run.kind === 'failed') {
      if (!mayFail) return { kind: 'rejected', reason: run.reason };
      return { writes: [markSent(this.#db, this.#at, { ...sent, outcome: { ...outcome, hasFailed: true }, inner: null, about })] };
    }
    return { writes: [markSent(this.#db, this.#at, { ...sent, inner: run.inner, about }), ...writes] };
  }

  async simulate(wire: Uint8Array): Promise<{ kind: 'passed'; lastValidBlockHeight: number } | { kind: 'failed'; reason: string }> {
    const signed = decodeSigned(wire);
    const hasPrograms = signed !== null && changesAccounts(signed);
    const problem = this.#problemOf(signed, hasPrograms);
    if (problem !== null) return { kind: 'failed', reason: problem };
    const run = hasPrograms ? await this.ledger.run(signed) : null;
    if (run?.kind === 'failed') return { kind: 'failed', reason: run.reason };
    return { kind: 'passed', lastValidBlockHeight: lastHeightFrom(slotAt(this.#at.now)) };
  }

  async balanceOf(): Promise<{ kind: 'balance'; lamports: number }> {
    return { kind: 'balance', lamports: LAMPORTS };
  }

  async isHealthy(): Promise<boolean> {
    return true;
  }

  /** Plans the outcome of a message that others will broadcast. The first decision is final. */
  planOutcome(messageBytes: Uint8Array, outcome: SandboxOutcome): Write {
    return insertTransaction(this.#db, this.#at, { messageHash: sha256Hex(messageBytes), outcome, createdAt: this.#at.now });
  }

  get #finalHeight(): number {
    return slotAt(this.#at.now) - FINAL_AFTER_SLOTS;
  }

  #problemOf(signed: SignedTransaction | null, isVouched = false): string | null {
    if (signed === null) return 'failed to deserialize transaction';
    if (!signed.isSigned && !isVouched) return 'Transaction signature verification failure';
    if (!hasAuthorities(signed)) return 'Error processing Instruction: MissingRequiredSignature';
    const slot = slotOfBlockhash(this.#at, signed.blockhash);
    const age = slot === null ? Number.NaN : slotAt(this.#at.now) - slot;
    return age >= 0 && age <= BLOCKHASH_LIFE ? null : 'Blockhash not found';
  }

  #statusOf(transaction: SandboxTransaction | undefined): TransactionState {
    const landed = transaction ? landedAt(transaction) : null;
    if (!transaction || landed === null || this.#at.now < landed) return 'unknown';
    const { dropsAfterMs } = transaction.outcome;
    if (dropsAfterMs !== undefined && this.#at.now >= landed + dropsAfterMs) return 'dropped';
    return this.#at.now >= landed + FINAL_AFTER_MS ? 'final' : 'confirmed';
  }

  async #find(signatures: readonly string[]): Promise<Map<string, SandboxTransaction>> {
    const rows = await findTransactions(this.#db, this.#at, signatures);
    return new Map(rows.map((row) => [row.txSignature!, row]));
  }
}

/** Epoch ms, null if the transaction never lands. */
const landedAt = ({ sentAt, outcome }: SandboxTransaction): number | null =>
  sentAt === null || outcome.landsAfterMs === null ? null : sentAt + outcome.landsAfterMs;

function landedOf(transaction: SandboxTransaction) {
  const at = landedAt(transaction)!;
  return landedTransaction(decodeSigned(base64.decode(transaction.wire!))!, {
    slot: slotAt(at),
    blockTime: blockTimeOf(transaction),
    hasFailed: transaction.outcome.hasFailed === true,
    inner: transaction.inner ?? [],
  });
}

const blockTimeOf = (transaction: SandboxTransaction): number =>
  unixSeconds(landedAt(transaction)! + (transaction.outcome.blockAheadMs ?? 0));

const rowOf = ({ messageBytes, signature }: SignedTransaction, wire: Uint8Array) => ({
  messageHash: sha256Hex(messageBytes),
  txSignature: signature,
  wire: base64.encode(wire),
});
