export class CallCounts {
  readonly #counts = new Map<string, number>();

  add(method: string): void {
    if (!method.startsWith('local_')) this.#counts.set(method, (this.#counts.get(method) ?? 0) + 1);
  }

  reset(): void {
    this.#counts.clear();
  }

  toObject(): Record<string, number> {
    return Object.fromEntries(this.#counts);
  }
}
