import { sql } from 'drizzle-orm';
import { check, customType, integer, text } from 'drizzle-orm/sqlite-core';
import { hex, utf8 } from '#core/encoding.ts';

/** Atomic units as decimal TEXT: SQLite integers lose precision beyond 2^53 on their way to JavaScript, without a word. */
export const amount = customType<{ data: bigint; driverData: string }>({
  dataType: () => 'text',
  toDriver: (value) => value.toString(),
  fromDriver: (value) => BigInt(value),
});

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** A UUID as its 16 bytes instead of its 36 characters: where there are many rows and indexes of them. */
export const uuidBytes = customType<{ data: string; driverData: ArrayLike<number> }>({
  dataType: () => 'blob',
  // What is no id in its one spelling is none here either.
  toDriver: (value) => (UUID.test(value) ? hex.decode(value.replaceAll('-', '')) : utf8(value)),
  fromDriver: (value) => hex.encode(Uint8Array.from(value)).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-'),
});

/** Bytes as they are. */
export const bytes = customType<{ data: Uint8Array; driverData: ArrayLike<number> }>({
  dataType: () => 'blob',
  toDriver: (value) => value,
  fromDriver: (value) => Uint8Array.from(value),
});

/** Milliseconds since the epoch. */
export const instant = (name: string) => integer(name, { mode: 'number' });

export const flag = (name: string) => integer(name, { mode: 'boolean' });

export const json = <T>(name: string) => text(name, { mode: 'json' }).$type<T>();

/** The states of a machine as a CHECK list: a row can hold no state that states.ts does not know. */
export const oneOf = (name: string, column: string, states: readonly string[]) =>
  check(name, sql.raw(`${column} IN (${states.map((state) => `'${state}'`).join(', ')})`));

/** What became of a transaction after it was confirmed, and when it is looked for next. */
export const fateColumns = () => ({
  /** The cluster made it final. */
  finalAt: instant('final_at'),
  /** First proof that the finalized chain is without it; a second one, later, is believed. */
  doubtedAt: instant('doubted_at'),
  /** Taken for dropped since then. Looked for a while longer, and null again where it is there after all. */
  droppedAt: instant('dropped_at'),
  /** null: there is nothing more to look for. */
  nextLookAt: instant('next_look_at').default(0),
});
