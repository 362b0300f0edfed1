/** Limit per process. The oldest are dropped first. */
const REMEMBERED_MAX = 10_000;

/** Write of a single request: its Idempotency-Key, and the mark in its body if other requests may share the key. */
export interface OwnWrite {
  key: string;
  mark: string;
}

/** Writes of this process that served no request. The service alone cannot detect these. */
export class AbandonedWrites {
  readonly #abandoned = new Map<string, OwnWrite>();

  /**
   * Records a write that served no request, because its answer was lost or its use was refunded. The next identical request may resume it.
   */
  abandon(slot: string, own: OwnWrite): void {
    this.#abandoned.delete(slot);
    this.#abandoned.set(slot, own);
    if (this.#abandoned.size > REMEMBERED_MAX) this.#abandoned.delete(this.#abandoned.keys().next().value as string);
  }

  /** Returns true if a write of these contents can be resumed. */
  has(slot: string): boolean {
    return this.#abandoned.has(slot);
  }

  /** Returns an abandoned write to exactly one request. */
  resume(slot: string): OwnWrite | null {
    const own = this.#abandoned.get(slot) ?? null;
    this.#abandoned.delete(slot);
    return own;
  }
}
