import { type SQL, sql } from 'drizzle-orm';
import { check, customType, integer, text } from 'drizzle-orm/sqlite-core';
import { sha256 } from '#core/crypto.ts';
import { base58, base58Bytes, hex, utf8 } from '#core/encoding.ts';
import { squeeze, unsqueeze } from './squeezed/squeeze.ts';

/** Atomic units as decimal TEXT, because SQLite integers silently lose precision beyond 2^53 in JavaScript. */
export const amount = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => value.toString(),
  fromDriver: (value) => BigInt(value),
});

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Value of an id column: 16 bytes for a canonical UUID. Other text stays text, which equals no bytes. */
export const encodeId = (id: string): ArrayLike<number> | string => (UUID.test(id) ? hex.decode(id.replaceAll('-', '')) : id);

export const decodeId = (value: ArrayLike<number> | string): string =>
  typeof value === 'string' ? value : hex.encode(Uint8Array.from(value)).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** UUID as 16 bytes instead of 36 characters. Every column that refers to another must have the same type. */
export const uuidBytes = customType<{ data: string; driverData: ArrayLike<number> | string }>({
  dataType: () => 'blob',
  toDriver: encodeId,
  fromDriver: decodeId,
});

/** Text of `length` bytes as these bytes. Text that is not in the canonical form of such bytes stays text, which equals no bytes. */
const textOfBytes = (length: number, codec: { encode(bytes: Uint8Array): string; decode(text: string): Uint8Array | null }) =>
  customType<{ data: string; driverData: ArrayLike<number> | string }>({
    dataType: () => 'blob',
    toDriver: (text) => {
      const decoded = codec.decode(text);
      return decoded?.length === length && codec.encode(decoded) === text ? decoded : text;
    },
    fromDriver: (value) => (typeof value === 'string' ? value : codec.encode(Uint8Array.from(value))),
  });

/** SHA-256 in hex as 32 bytes instead of 64 characters. */
export const hashBytes = textOfBytes(32, { encode: hex.encode, decode: (text) => (/^[0-9a-f]{64}$/.test(text) ? hex.decode(text) : null) });

const base58OfBytes = (length: number) => textOfBytes(length, { encode: base58.encode, decode: (text) => base58Bytes(text, length) });

/** Signature in base58 as 64 bytes instead of 88 characters. */
export const signatureBytes = base58OfBytes(64);

/** Address in base58 as 32 bytes instead of 44 characters. */
export const addressBytes = base58OfBytes(32);

/** First bytes of an address, for comparison alone: no other address with the same 80 bits can be made. */
const ADDRESS_START = 10;
export const addressStart = customType<{ data: string; driverData: ArrayLike<number> | string }>({
  dataType: () => 'blob',
  toDriver: (address) => base58Bytes(address, 32)?.slice(0, ADDRESS_START) ?? address,
  fromDriver: (value) => (typeof value === 'string' ? value : base58.encode(Uint8Array.from(value))),
});
/** SQL of these bytes, for a column of addresses. */
export const startOfAddress = (address: SQL): SQL => sql`substr(${address}, 1, ${sql.raw(String(ADDRESS_START))})`;

const NONCE_HASH_BYTES = 9;
/** First bytes of the SHA-256 of a memo's nonce, by which a row is found that does not show it. */
export const nonceHash = customType<{ data: string; driverData: ArrayLike<number> }>({
  dataType: () => 'blob',
  toDriver: (nonce) => sha256(utf8(nonce)).slice(0, NONCE_HASH_BYTES),
});

export const bytes = customType<{ data: Uint8Array; driverData: ArrayLike<number> }>({
  dataType: () => 'blob',
  toDriver: (value) => value,
  fromDriver: (value) => Uint8Array.from(value),
});

/** Squeezed text, or text that SQL wrote. SQL cannot read it. */
export const squeezed = customType<{ data: string; driverData: string | ArrayLike<number> }>({
  dataType: () => 'blob',
  toDriver: squeeze,
  fromDriver: (value) => (typeof value === 'string' ? value : unsqueeze(Uint8Array.from(value))),
});

/** Milliseconds since the epoch. */
export const instant = (name: string) => integer(name, { mode: 'number' });

export const flag = (name: string) => integer(name, { mode: 'boolean' });

export const json = <T>(name: string) => text(name, { mode: 'json' }).$type<T>();

/** CHECK constraint of a state column: a row can hold only states of states.ts. */
export const oneOf = (name: string, column: string, states: readonly string[]) =>
  check(name, sql.raw(`${column} IN (${states.map((state) => `'${state}'`).join(', ')})`));

export const outcomeColumns = () => ({
  finalAt: instant('final_at'),
  /** First proof that the finalized chain lacks the transaction. A second, later proof is required. */
  doubtedAt: instant('doubted_at'),
  /** Time at which the transaction was considered dropped. Watched a while longer, and null again if it returns. */
  droppedAt: instant('dropped_at'),
  nextCheckAt: instant('next_check_at').default(0),
});
