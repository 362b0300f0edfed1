/**
 * The token in a hand-off's link: it names a row and proves that we made it, for this product, until then. Whom it recognises
 * is in the row alone, because links end up in histories and logs. Pure.
 * @module
 */

import { equalBytes, hmacSha256 } from '#core/crypto.ts';
import { base64url, hex, utf8 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import type { HandoffId } from '#core/ids.ts';
import { SECOND, unixSeconds } from '#core/time.ts';

const PREFIX = 'ho_';
const ID_BYTES = 16;
const EXPIRY_BYTES = 4;
const MAC_BYTES = 16;
const LENGTH = ID_BYTES + EXPIRY_BYTES + MAC_BYTES;

const macOf = (key: Uint8Array, productId: string, named: Uint8Array): Uint8Array =>
  hmacSha256(key, utf8(JSON.stringify(['handoff', productId, base64url.encode(named)]))).slice(0, MAC_BYTES);

const keysOf = (secrets: string): Uint8Array[] => secrets.split(',').map((seed) => base64url.decode(seed));

/** `ho_` + base64url(id 16 | expiry 4, seconds | MAC 16). The first secret signs. */
export function newHandoffToken(secrets: string, productId: string, handoffId: HandoffId, expiresAt: number): string {
  const bytes = new Uint8Array(LENGTH);
  bytes.set(hex.decode(handoffId.replaceAll('-', '')));
  new DataView(bytes.buffer).setUint32(ID_BYTES, unixSeconds(expiresAt));
  bytes.set(macOf(keysOf(secrets)[0]!, productId, bytes.subarray(0, ID_BYTES + EXPIRY_BYTES)), ID_BYTES + EXPIRY_BYTES);
  return PREFIX + base64url.encode(bytes);
}

/** The row a token names, and the end it was given, in milliseconds. */
export interface NamedHandoff {
  handoffId: HandoffId;
  expiresAt: number;
}

/** What a token names, if we made it for this product. Every secret is tried, in constant time, whichever signed. */
export function parseHandoffToken(secrets: string, productId: string, token: string): Result<NamedHandoff, 'forged'> {
  if (!/^ho_[\w-]{48}$/.test(token)) return err('forged');
  const bytes = base64url.decode(token.slice(PREFIX.length));
  const [named, mac] = [bytes.subarray(0, ID_BYTES + EXPIRY_BYTES), bytes.subarray(ID_BYTES + EXPIRY_BYTES)];
  const isOurs = keysOf(secrets)
    .map((key) => equalBytes(macOf(key, productId, named), mac))
    .includes(true);
  if (!isOurs) return err('forged');
  const id = hex.encode(bytes.subarray(0, ID_BYTES));
  const handoffId = [id.slice(0, 8), id.slice(8, 12), id.slice(12, 16), id.slice(16, 20), id.slice(20)].join('-') as HandoffId;
  return ok({ handoffId, expiresAt: new DataView(bytes.buffer, bytes.byteOffset).getUint32(ID_BYTES) * SECOND });
}
