// The few functions of Node that workerd provides natively and we use. All of @types/node would bring Node's globals along.
declare module 'node:crypto' {
  interface ScryptOptions {
    N: number;
    r: number;
    p: number;
    maxmem: number;
  }
  export function randomBytes(size: number): Uint8Array;
  export function scrypt(
    password: Uint8Array,
    salt: Uint8Array,
    length: number,
    options: ScryptOptions,
    done: (error: Error | null, key: Uint8Array) => void,
  ): void;
  export function timingSafeEqual(a: Uint8Array, b: Uint8Array): boolean;
}

declare module 'node:zlib' {
  export function crc32(bytes: Uint8Array): number;
}
