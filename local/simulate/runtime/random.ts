/** FNV-1a of a text, as a start for `Random`. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Seeded generator (sfc32). A stream has a name, so that draws of one part of a history do not move those of another. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  constructor(seed: number, stream: string) {
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) >>> 0;
    this.#c = hashText(stream);
    for (let i = 0; i < 15; i++) this.uint32();
  }

  uint32(): number {
    const sum = (this.#a + this.#b + this.#count++) >>> 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) >>> 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) >>> 0;
    return sum;
  }

  /** Uniform in [0, 1), with 53 bits as `Math.random`. */
  next = (): number => ((this.uint32() >>> 5) * 2 ** 26 + (this.uint32() >>> 6)) / 2 ** 53;

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(from: readonly [T, ...T[]] | readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  fill<T extends ArrayBufferView>(view: T): T {
    const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    for (let i = 0; i < bytes.length; ) {
      let word = this.uint32();
      for (let end = Math.min(i + 4, bytes.length); i < end; word >>>= 8) bytes[i++] = word & 255;
    }
    return view;
  }

  uuid(): string {
    const bytes = this.fill(new Uint8Array(16));
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    return Buffer.from(bytes)
      .toString('hex')
      .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  }
}
