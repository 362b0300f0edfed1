// What the platform has of Node (nodejs_compat) and tests alone use.
declare module 'node:zlib' {
  export function brotliDecompressSync(bytes: Uint8Array): Uint8Array;
}
