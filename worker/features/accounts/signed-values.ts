import { equalBytes, pepperedHash, pepperedHashes } from '#core/crypto.ts';
import { base64url, hex, utf8 } from '#core/encoding.ts';
import type { Ctx } from '#platform/context.ts';

/** Signs a value that a client sends back, so that issuing one stores nothing. `purpose` separates the uses. */
export function signValue({ config }: Ctx, purpose: string, value: object): string {
  const payload = base64url.encode(utf8(JSON.stringify(value)));
  return `${payload}.${pepperedHash(config.PEPPER, purpose, payload)}`;
}

/** Reads a signed value, and the position of its pepper in the ring. Null unless this service signed it for this purpose. */
export function readSignedValue({ config }: Ctx, purpose: string, text: string | undefined): { value: unknown; pepper: number } | null {
  const [, payload = '', shown = ''] = /^([\w-]{1,4096})\.([0-9a-f]{64})$/.exec(text ?? '') ?? [];
  const hashes = pepperedHashes(config.PEPPER, purpose, payload);
  const pepper = hashes.findIndex((hash) => equalBytes(hex.decode(hash), hex.decode(shown)));
  if (payload === '' || pepper < 0) return null;
  return { value: JSON.parse(new TextDecoder().decode(base64url.decode(payload))), pepper };
}

/** 256 random bits in base64url. */
export const randomText = (): string => base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
