/** A process remembers so many abandoned writes; the oldest are dropped first. */
const REMEMBERED_MAX = 10_000;

/** A write that is one request's alone: its Idempotency-Key, and what marks its body where the key may be another's too. */
export interface OwnWrite {
  key: string;
  mark: string;
}

/** The writes of this process that served no request, where the service alone could not tell. */
export class AbandonedWrites {
  readonly #abandoned = new Map<string, OwnWrite>();

  /** Remembers a write that has served no request, because its answer never arrived or its use was given back: the next same request may go on with it. */
  abandon(slot: string, own: OwnWrite): void {
    this.#abandoned.delete(slot);
    this.#abandoned.set(slot, own);
    if (this.#abandoned.size > REMEMBERED_MAX) this.#abandoned.delete(this.#abandoned.keys().next().value as string);
  }

  /** Hands an abandoned write to one request only. */
  resume(slot: string): OwnWrite | null {
    const own = this.#abandoned.get(slot) ?? null;
    this.#abandoned.delete(slot);
    return own;
  }
}
