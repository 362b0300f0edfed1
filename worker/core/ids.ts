import { base62, hex } from './encoding.ts';

declare const brand: unique symbol;
type Id<Name extends string> = string & { readonly [brand]: Name };

export type AccountId = Id<'account'>;
export type KeyId = Id<'key'>;
export type ProductId = Id<'product'>;
export type PaymentId = Id<'payment'>;
export type MembershipId = Id<'membership'>;
export type ReceiptId = Id<'receipt'>;
export type EndpointId = Id<'endpoint'>;
export type UnmatchedId = Id<'unmatched'>;

/** UUIDv7 (RFC 9562): 48 bits of `now` in milliseconds, then 74 random bits, every one from the CSPRNG. */
export function newId<T extends Id<string>>(now: number): T {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint16(0, Math.floor(now / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, now % 2 ** 32);
  bytes[6] = 0x70 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const text = hex.encode(bytes);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}` as T;
}

/**
 * The last 64 bits of an account id, as 11 base62 digits. A key carries them and a token's `sub` contains them, so both
 * name the account's admission object without any lookup. (contract section 2, architecture 6b)
 */
export const admissionIdOf = (accountId: string): string => base62(BigInt(`0x${accountId.replaceAll('-', '').slice(16)}`), 11);

/** `evt_` + 26 Crockford base32 digits (a ULID): 48 bits of time, 80 random bits. */
export function newEventId(now: number): string {
  const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
  let text = '';
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = digits[rest % 32] + text;
  for (const byte of crypto.getRandomValues(new Uint8Array(16))) text += digits[byte % 32];
  return `evt_${text}`;
}
