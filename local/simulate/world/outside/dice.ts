/** Choices of one actor, all drawn from one stream. */
export class Dice {
  readonly #random: () => number;

  constructor(random: () => number) {
    this.#random = random;
  }

  below(count: number): number {
    return Math.floor(this.#random() * count);
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.below(256));
  }

  nonce(): string {
    return Buffer.from(this.bytes(16)).toString('hex');
  }

  key(): string {
    return `key-${this.nonce()}`;
  }

  /** Returns dice with a stream of their own, so that an actor's choices do not depend on the steps of others. */
  fork(): Dice {
    let state = this.below(2 ** 32);
    return new Dice(() => {
      // mulberry32
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
    });
  }
}
