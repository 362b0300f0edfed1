import { sha256Hex } from '#core/crypto.ts';
import { base64 } from '#core/encoding.ts';
import { SECOND } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { SandboxFate, SandboxTransaction } from '#platform/db/tables/sandbox.ts';
import type { Chain } from '#solana/chain.ts';
import type { Lifetime } from '#solana/checkout-transaction.ts';
import type { Confirmed, Finality } from '#solana/finality.ts';
import type { Broadcast, Sighting, Sightings } from '#solana/node-answers.ts';
import type { SignatureListing } from '#solana/signature-list.ts';
import { parseTransaction } from '#solana/transaction.ts';
import { findTransactions, insertTransaction, markSent, type SandboxPlace } from './simulated.store.ts';
import { blockhashAt, decodeSigned, landedTransaction, type SignedTransaction, slotAt, slotOfBlockhash } from './simulated-blocks.ts';

/** Blocks for which a blockhash can be used, and after which a block is final, as on the real clusters. */
const BLOCKHASH_LIFE = 150;
const FINAL_AFTER_MS = 13 * SECOND;
const FINAL_AFTER_SLOTS = 32;
/** Every wallet of a sandbox can pay whatever it is asked. */
const LAMPORTS = 1_000_000_000_000;

const AT_ONCE: SandboxFate = { landsAfterMs: 0 };

/** Where a transaction stands at a moment of its clock. */
type Standing = 'unknown' | 'confirmed' | 'final' | 'dropped';

/**
 * The chain of one merchant's sandbox. Each block follows from the clock of the scope that asks, so that a session whose clock stands still
 * sees a chain that stands still. A transaction is only taken with true signatures over a blockhash of this sandbox and session, which
 * no cluster ever has: nothing signed here can land there, nor the other way round.
 */
export class SimulatedChain implements Chain {
  readonly place: string;
  readonly #db: Db;
  readonly #at: SandboxPlace & { now: number };

  constructor(db: Db, at: SandboxPlace & { now: number }) {
    this.#db = db;
    this.#at = at;
    this.place = `sandbox:${at.merchantId}`;
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
      const standing = this.#standingOf(transaction);
      if (!transaction || standing === 'unknown' || standing === 'dropped') return { kind: 'not_found' };
      return { kind: 'found', transaction: parseTransaction(signature, landedOf(transaction)) };
    });
    return { kind: 'sightings', finalHeight: this.#finalHeight, sightings };
  }

  async knows(signatures: readonly string[]): Promise<{ kind: 'known'; finalHeight: number; isKnown: boolean[] }> {
    const known = await this.#find(signatures);
    const isKnown = signatures.map((signature) => ['confirmed', 'final'].includes(this.#standingOf(known.get(signature))));
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

  async readAccounts(addresses: readonly string[]): Promise<{ kind: 'accounts'; slot: number; accounts: null[] }> {
    return { kind: 'accounts', slot: slotAt(this.#at.now), accounts: addresses.map(() => null) };
  }

  async isAbsentEverywhere(): Promise<boolean> {
    return true;
  }

  async listSignatures(): Promise<SignatureListing> {
    return { kind: 'page', items: [], nodeSeconds: Math.floor(this.#at.now / SECOND), knowsUntil: true };
  }

  async finalityOf(transactions: readonly Confirmed[]): Promise<{ kind: 'finality'; finality: Finality[] }> {
    const known = await this.#find(transactions.map(({ txSignature }) => txSignature));
    const finality = transactions.map(({ txSignature }): Finality => {
      const transaction = known.get(txSignature);
      if (!transaction) return { kind: 'unknown' };
      const standing = this.#standingOf(transaction);
      if (standing === 'confirmed') return { kind: 'seen', slot: slotAt(landedAt(transaction)!) };
      if (standing !== 'final') return { kind: 'absent' };
      return transaction.fate.hasFailed ? { kind: 'absent' } : { kind: 'finalized', slot: slotAt(landedAt(transaction)!) };
    });
    return { kind: 'finality', finality };
  }

  async areUnknownEverywhere(signatures: readonly string[]): Promise<boolean[]> {
    return (await this.knows(signatures)).isKnown.map((isKnown) => !isKnown);
  }

  /** Takes a transaction on its way: it lands as was decided for its message before, and at once where nothing was. */
  async sendTransaction(wire: Uint8Array): Promise<Broadcast> {
    const planned = this.planSend(wire, AT_ONCE);
    if ('kind' in planned) return planned;
    await this.#db.batch([planned.write]);
    return { kind: 'sent' };
  }

  /**
   * The broadcast as a statement, so that it can be stored in one batch with its answer; or why it is refused. `isVouched`: the sandbox
   * itself acts for a wallet whose key it does not have, so its signature is not looked at.
   */
  planSend(wire: Uint8Array, fate: SandboxFate, { isVouched = false } = {}): { write: Write } | Extract<Broadcast, { kind: 'rejected' }> {
    const signed = decodeSigned(wire);
    const problem = this.#problemOf(signed, isVouched);
    if (problem !== null) return { kind: 'rejected', reason: problem };
    return { write: markSent(this.#db, this.#at, { ...rowOf(signed!, wire), fate, sentAt: this.#at.now }) };
  }

  async simulate(wire: Uint8Array): Promise<{ kind: 'passed'; lastValidBlockHeight: number } | { kind: 'failed'; reason: string }> {
    const problem = this.#problemOf(decodeSigned(wire));
    if (problem !== null) return { kind: 'failed', reason: problem };
    return { kind: 'passed', lastValidBlockHeight: slotAt(this.#at.now) + BLOCKHASH_LIFE };
  }

  async balanceOf(): Promise<{ kind: 'balance'; lamports: number }> {
    return { kind: 'balance', lamports: LAMPORTS };
  }

  async isHealthy(): Promise<boolean> {
    return true;
  }

  /** A statement that decides what becomes of a message which others will broadcast. Decided once: what comes later changes nothing. */
  planFate(messageBytes: Uint8Array, fate: SandboxFate): Write {
    return insertTransaction(this.#db, this.#at, { messageHash: sha256Hex(messageBytes), fate, createdAt: this.#at.now });
  }

  get #finalHeight(): number {
    return slotAt(this.#at.now) - FINAL_AFTER_SLOTS;
  }

  /** The words of a node that refuses a transaction; null where it takes it. */
  #problemOf(signed: SignedTransaction | null, isVouched = false): string | null {
    if (signed === null) return 'failed to deserialize transaction';
    if (!signed.isSigned && !isVouched) return 'Transaction signature verification failure';
    const slot = slotOfBlockhash(this.#at, signed.blockhash);
    const age = slot === null ? Number.NaN : slotAt(this.#at.now) - slot;
    return age >= 0 && age <= BLOCKHASH_LIFE ? null : 'Blockhash not found';
  }

  #standingOf(transaction: SandboxTransaction | undefined): Standing {
    const landed = transaction ? landedAt(transaction) : null;
    if (!transaction || landed === null || this.#at.now < landed) return 'unknown';
    const { dropsAfterMs } = transaction.fate;
    if (dropsAfterMs !== undefined && this.#at.now >= landed + dropsAfterMs) return 'dropped';
    return this.#at.now >= landed + FINAL_AFTER_MS ? 'final' : 'confirmed';
  }

  async #find(signatures: readonly string[]): Promise<Map<string, SandboxTransaction>> {
    const rows = await findTransactions(this.#db, this.#at, signatures);
    return new Map(rows.map((row) => [row.txSignature!, row]));
  }
}

/** Epoch ms of its clock; null: never. */
const landedAt = ({ sentAt, fate }: SandboxTransaction): number | null =>
  sentAt === null || fate.landsAfterMs === null ? null : sentAt + fate.landsAfterMs;

function landedOf(transaction: SandboxTransaction) {
  const at = landedAt(transaction)!;
  return landedTransaction(decodeSigned(base64.decode(transaction.wire!))!, {
    slot: slotAt(at),
    blockTime: Math.floor((at + (transaction.fate.blockAheadMs ?? 0)) / SECOND),
    hasFailed: transaction.fate.hasFailed === true,
  });
}

const rowOf = ({ messageBytes, signature }: SignedTransaction, wire: Uint8Array) => ({
  messageHash: sha256Hex(messageBytes),
  txSignature: signature,
  wire: base64.encode(wire),
});
