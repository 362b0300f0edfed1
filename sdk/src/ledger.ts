/** Remembered per process; the oldest go first. Beyond it the service's own word decides alone. */
const REMEMBERED_MAX = 10_000;

/** What this process knows of its own Idempotency-Keys and consumptions, where the service alone could not tell. */
export class KeyLedger {
  readonly #abandoned = new Map<string, string>();
  readonly #claimed = new Set<string>();

  /** The answer under this key never arrived, so it has served nobody: the next same request may go on with it. */
  abandon(slot: string, key: string): void {
    this.#abandoned.delete(slot);
    this.#abandoned.set(slot, key);
    if (this.#abandoned.size > REMEMBERED_MAX) this.#abandoned.delete(this.#abandoned.keys().next().value as string);
  }

  /** Hands an abandoned key to one request only. */
  resume(slot: string): string | null {
    const key = this.#abandoned.get(slot) ?? null;
    this.#abandoned.delete(slot);
    return key;
  }

  /** True for the first request that serves for this consumption. */
  claim(use: string): boolean {
    if (this.#claimed.has(use)) return false;
    this.#claimed.add(use);
    if (this.#claimed.size > REMEMBERED_MAX) this.#claimed.delete(this.#claimed.values().next().value as string);
    return true;
  }
}
