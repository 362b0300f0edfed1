import { createHash } from 'node:crypto';
import { type Blockhash, getBase58Decoder, blockhash as toBlockhash } from '@solana/kit';
import { BLOCKHASH_VALID_SLOTS } from './network.ts';

/** Blockhashes of one chain: one per slot, derived from a secret seed, valid for 150 more slots. */
export class BlockhashWindow {
  readonly #seed: Uint8Array;
  readonly #slotByHash = new Map<string, number>();
  #derivedThrough = -1;

  constructor(seed: Uint8Array) {
    this.#seed = seed;
  }

  at(slot: number): Blockhash {
    const digest = createHash('sha256').update(this.#seed).update(String(slot)).digest();
    return toBlockhash(getBase58Decoder().decode(digest));
  }

  isValid(hash: string, currentSlot: number): boolean {
    this.#deriveThrough(currentSlot);
    const slot = this.#slotByHash.get(hash);
    return slot !== undefined && slot <= currentSlot && currentSlot - slot <= BLOCKHASH_VALID_SLOTS;
  }

  #deriveThrough(currentSlot: number): void {
    const oldest = Math.max(0, currentSlot - BLOCKHASH_VALID_SLOTS);
    for (let slot = Math.max(oldest, this.#derivedThrough + 1); slot <= currentSlot; slot += 1) this.#slotByHash.set(this.at(slot), slot);
    this.#derivedThrough = Math.max(this.#derivedThrough, currentSlot);
    for (const [hash, slot] of this.#slotByHash) {
      if (slot >= oldest) break;
      this.#slotByHash.delete(hash);
    }
  }
}
