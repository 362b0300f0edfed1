import { sha256 } from './crypto.ts';
import { base58, base58Bytes, base62, base62Value, canonicalJson, hex, utf8 } from './encoding.ts';
import { assert } from './errors.ts';

declare const brand: unique symbol;
export type Id<Name extends string = string> = string & { readonly [brand]: Name };

export type AccountId = Id<'account'>;
export type KeyId = Id<'key'>;
export type ProductId = Id<'product'>;
export type PaymentId = Id<'payment'>;
export type MembershipId = Id<'membership'>;
export type ReceiptId = Id<'receipt'>;
export type EndpointId = Id<'endpoint'>;
export type UnmatchedId = Id<'unmatched'>;
export type HandoffId = Id<'handoff'>;
export type IdentitySessionId = Id<'identity session'>;
export type EntitlementId = Id<'entitlement'>;
export type CustomerId = Id<'customer'>;
export type AppId = Id<'app'>;
export type PaymentSessionId = Id<'paymentSession'>;
export type SandboxSessionId = Id<'sandboxSession'>;
export type SetupIntentId = Id<'setupIntent'>;
export type AnswerId = Id<'answer'>;
export type MeteredSessionId = Id<'meteredSession'>;
export type AuthorizationId = Id<'authorization'>;
export type SignInId = Id<'signIn'>;
export type InvitationId = Id<'invitation'>;
export type PasskeyId = Id<'passkey'>;
export type SessionId = Id<'session'>;
export type TokenId = Id<'token'>;
export type PortalSessionId = Id<'portalSession'>;
export type MailId = Id<'mail'>;
export type CommunityId = Id<'community'>;
export type TicketId = Id<'ticket'>;
export type TicketMessageId = Id<'ticketMessage'>;
export type RefundId = Id<'refund'>;
export type ListingId = Id<'listing'>;
export type AuditEntryId = Id<'auditEntry'>;

/**
 * Part of a database, 0 to 4095: twelve of the random bits of every id. All ids of a merchant's rows have the merchant's partition, so an id
 * alone names the database.
 */
export type Partition = number & { readonly [brand]: 'partition' };
export const PARTITIONS = 4096;

/** Partition of what belongs to no merchant, and is stored with the directory. */
export const NO_PARTITION = 0 as Partition;

/** UUIDv7 (RFC 9562): 48 bits of `now` in ms, 62 random bits from the CSPRNG, and the partition of `owner`, null: a row of no merchant. */
export const newId = <T extends Id<string>>(now: number, owner: string | null): T => newIdIn<T>(now, partitionNear(owner));

/** The same in a partition, for an account or a row of no merchant. */
export function newIdIn<T extends Id<string>>(now: number, partition: Partition): T {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const view = new DataView(bytes.buffer);
  view.setUint16(0, Math.floor(now / 2 ** 32));
  view.setUint32(2, now % 2 ** 32);
  view.setUint16(8, ((bytes[8]! & 0xf0) << 8) | partition);
  return uuid<T>(bytes, 7);
}

/**
 * Partition in an id: UUIDv7, `evt_`, `ms_` or `nsa_`. Null: no id of the service, or one derived from its content, which is used under a
 * merchant's credentials only.
 */
export function partitionOf(id: string): Partition | null {
  if (UUID_V7.test(id)) return Number.parseInt(id.slice(20, 23), 16) as Partition;
  const [, digits] = ULID_ID.exec(id) ?? [];
  if (digits === undefined) return null;
  const [first, second, third] = [...digits.slice(10, 13)].map((digit) => CROCKFORD.indexOf(digit)) as [number, number, number];
  return ((first << 7) | (second << 2) | (third >> 3)) as Partition;
}

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const ULID_ID = /^(?:evt|ms|nsa)_([0-7][0-9A-HJKMNP-TV-Z]{25})$/;

const partitionNear = (owner: string | null): Partition => (owner === null ? NO_PARTITION : (partitionOf(owner) ?? NO_PARTITION));

/** Random bytes that begin with the partition of `owner`. */
const randomIn = (owner: string | null, length: number): Uint8Array =>
  withPartition(crypto.getRandomValues(new Uint8Array(length)), partitionNear(owner));

function withPartition(bytes: Uint8Array, partition: Partition): Uint8Array {
  bytes[0] = partition >> 4;
  bytes[1] = ((partition & 15) << 4) | (bytes[1]! & 15);
  return bytes;
}

const partitionAt = (bytes: Uint8Array): Partition => ((bytes[0]! << 4) | (bytes[1]! >> 4)) as Partition;

const NONCE_BYTES = 16;

/** Nonce of a memo: base58 of 116 random bits, after the partition of the merchant. */
export const newNonce = (merchantId: string): string => base58.encode(randomIn(merchantId, NONCE_BYTES));

/** Partition in the nonce of a memo. Null: no nonce of the service. */
export function partitionOfNonce(nonce: string): Partition | null {
  const bytes = base58Bytes(nonce, NONCE_BYTES);
  return bytes && partitionAt(bytes);
}

/** A fence must never repeat, even after its record was deleted, or a suspended holder could finish another request's work. */
export function newFence(): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2)) as unknown as [number, number];
  // 53 bits: the largest integer that JavaScript and the column hold exactly.
  return (high >>> 11) * 2 ** 32 + low;
}

export const madeAt = (id: Id): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

function uuid<T extends Id<string>>(bytes: Uint8Array, version: number): T {
  bytes[6] = (version << 4) | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  const text = hex.encode(bytes);
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-${text.slice(12, 16)}-${text.slice(16, 20)}-${text.slice(20)}` as T;
}

/**
 * Last 64 bits of an account id as 11 base62 digits. API keys carry them and a token's `sub` contains them, so both address the account's
 * admission object, and its partition, without a lookup.
 */
export const admissionIdOf = (accountId: string): string => base62(BigInt(`0x${accountId.replaceAll('-', '').slice(16)}`), 11);

/** Partition in the digits of `admissionIdOf`. */
export const partitionOfAdmission = (admissionId: string): Partition => Number((base62Value(admissionId) >> 48n) & 0xfffn) as Partition;

/** Seller id of the service itself in documents: a valid UUID without an account. */
export const SERVICE_ACCOUNT_ID = '00000000-0000-8000-8000-000000000000';

const productIdOfName = (name: string): ProductId => uuid<ProductId>(sha256(utf8(name)).slice(0, 16), 8);

/** Product id of a service plan on receipts, derived from the plan's name and therefore stable. */
export const planProductIdOf = (plan: string): ProductId => productIdOfName(`plan:${plan}`);

/** Product id of sales on a merchant's own server that use the service as facilitator only. */
export const FACILITATED_PRODUCT_ID = productIdOfName('facilitated');

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function ulid(at: number, bytes: Uint8Array): string {
  let bits = BigInt(at);
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  let text = '';
  for (let i = 0; i < 26; i++, bits >>= 5n) text = CROCKFORD[Number(bits & 31n)] + text;
  return text;
}

const newUlid = (now: number, owner: string | null): string => ulid(now, randomIn(owner, ULID_BYTES));
const ULID_BYTES = 10;

/** `ms_` + a ULID with 68 random bits. The id is a capability: a caller who knows it may submit vouchers for the session's buyer. */
export const newMeteredSessionId = (now: number, merchantId: string): MeteredSessionId =>
  `ms_${newUlid(now, merchantId)}` as MeteredSessionId;
export const isMeteredSessionId = (text: string): text is MeteredSessionId => /^ms_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text);

export const newAuthorizationId = (now: number, merchantId: string): AuthorizationId =>
  `nsa_${newUlid(now, merchantId)}` as AuthorizationId;
export const isAuthorizationId = (text: string): text is AuthorizationId => /^nsa_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text);

/** Id of an event that is stored nowhere but with its delivery. */
export const newEventId = (now: number, merchantId: string | null): string => `evt_${newUlid(now, merchantId)}`;

/** `evt_` + the first 25 characters of a ULID: the time, the merchant's partition, and 63 bits of a hash of the subject's version. */
export function actIdOf(now: number, merchantId: string, subjectId: string, version: number): string {
  const hash = sha256(utf8(`${subjectId}:${version}`)).slice(0, ULID_BYTES);
  return `evt_${ulid(now, withPartition(hash, partitionNear(merchantId))).slice(0, -1)}`;
}

/** Part of an act's id without the time. `owner`: its merchant, or the subject itself if that is of UUID version 7. */
export const actKeyOf = (subjectId: string, version: number, owner = subjectId): string => actIdOf(0, owner, subjectId, version).slice(14);

export const eventIdOf = (actId: string, position: number): string => actId + CROCKFORD[position]!;

/** Act of an event: the id without the position. */
export const actOfEvent = (eventId: string): string => eventId.slice(0, -1);

/** `aud_` + a ULID: the time, the number of the entry in 40 bits, and 40 bits of a hash of both and the account. */
export function auditEntryIdOf(accountId: string, at: number, seq: number): AuditEntryId {
  const bytes = sha256(utf8(`${accountId}:${at}:${seq}`)).slice(0, ULID_BYTES);
  new DataView(bytes.buffer).setUint32(1, seq);
  bytes[0] = Math.floor(seq / 2 ** 32);
  return `aud_${ulid(at, bytes)}` as AuditEntryId;
}

/** Number in the id of an entry, which may be another's. Null: no such id. */
export function auditSeqOf(entryId: string): number | null {
  const [, digits] = /^aud_.{10}(.{8})/.exec(entryId) ?? [];
  return digits === undefined ? null : [...digits].reduce((seq, digit) => seq * 32 + CROCKFORD.indexOf(digit), 0);
}

const SLUG_DIGITS = 8;
const SLUG_CHECK_DIGITS = 2;

/** Slug of a product: `words`, then ten digits of the merchant's partition, 28 random bits and a check. */
export function generatedSlug(words: string, merchantId: string): string {
  const digits = crockford(randomIn(merchantId, 5));
  return `${words}-${digits}${checkOf(digits)}`.toLowerCase();
}

/** Partition in a generated slug. Null: chosen by a merchant. */
export function partitionOfSlug(slug: string): Partition | null {
  const [, digits = '', check] = SLUG.exec(slug.toUpperCase()) ?? [];
  return check !== undefined && check === checkOf(digits) ? partitionAt(bytesOf(digits)) : null;
}

const SLUG = new RegExp(`-([0-9A-HJKMNP-TV-Z]{${SLUG_DIGITS}})([0-9A-HJKMNP-TV-Z]{${SLUG_CHECK_DIGITS}})$`);
const checkOf = (digits: string): string => crockford(sha256(utf8(`slug:${digits}`)).slice(0, 5)).slice(0, SLUG_CHECK_DIGITS);

/** Five bytes as eight digits. */
const crockford = (bytes: Uint8Array): string => {
  let bits = bytes.reduce((value, byte) => value * 256 + byte, 0);
  let text = '';
  for (let i = 0; i < SLUG_DIGITS; i++, bits = Math.floor(bits / 32)) text = CROCKFORD[bits % 32] + text;
  return text;
};

function bytesOf(digits: string): Uint8Array {
  let value = [...digits].reduce((bits, digit) => bits * 32 + CROCKFORD.indexOf(digit), 0);
  const bytes = new Uint8Array(5);
  for (let i = 4; i >= 0; i--, value = Math.floor(value / 256)) bytes[i] = value % 256;
  return bytes;
}

const ADDRESS_BYTES = 10;

/**
 * Entitlement id, derived from its owner and product, so that no lookup is needed: 80 bits of a hash, spread over a UUIDv8 with redundant
 * other bits.
 */
export function entitlementIdOf(merchantId: string, livemode: boolean, productId: string, customer: object): EntitlementId {
  return idOfAddress(sha256(utf8(canonicalJson([merchantId, livemode, productId, customer]))).slice(0, ADDRESS_BYTES));
}

/** Customer id, derived from its owner and key, so that no lookup is needed: a hash, and the partition of the merchant. */
export function customerIdOf(merchantId: string, livemode: boolean, customer: object): CustomerId {
  const bytes = sha256(utf8(canonicalJson(['customer', merchantId, livemode, customer]))).slice(0, 16);
  new DataView(bytes.buffer).setUint16(8, ((bytes[8]! & 0xf0) << 8) | partitionNear(merchantId));
  return uuid<CustomerId>(bytes, 8);
}

function idOfAddress(address: Uint8Array): EntitlementId {
  const bytes = new Uint8Array(16);
  bytes.set(address.subarray(0, 6), 0);
  bytes.set(sha256(address).subarray(0, 6), 6);
  bytes.set(address.subarray(6), 12);
  return uuid<EntitlementId>(bytes, 8);
}

const addressOf = (entitlementId: string): Uint8Array => {
  const bytes = hex.decode(entitlementId.replaceAll('-', ''));
  return new Uint8Array([...bytes.subarray(0, 6), ...bytes.subarray(12)]);
};

/**
 * `con_` + a ULID with the entitlement in its 80 bits: the id alone names the object that stores the consumption. `tick` is unique in that
 * object.
 */
export const consumptionIdOf = (entitlementId: string, tick: number): string => `con_${ulid(tick, addressOf(entitlementId))}`;

export function parseConsumptionId(text: string): { entitlementId: EntitlementId; tick: number } | null {
  if (!/^con_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text)) return null;
  let bits = 0n;
  for (const digit of text.slice(4)) bits = (bits << 5n) | BigInt(CROCKFORD.indexOf(digit));
  const address = new Uint8Array(ADDRESS_BYTES);
  for (let i = ADDRESS_BYTES - 1; i >= 0; i--, bits >>= 8n) address[i] = Number(bits & 255n);
  return { entitlementId: idOfAddress(address), tick: Number(bits) };
}

/** Partitions of each database without `PARTITIONS`. A database is moved and restored by the partition, so it begins with some. */
const DEFAULT_COUNT = 8;

export type Range = readonly [first: number, last: number, database: string];

/** Which database holds which partitions of the ids. */
export class PartitionMap {
  readonly #ranges: readonly Range[];
  readonly #moved: Pick<Map<Partition, string>, 'get'>;

  /** `moved`: partitions that are, or are about to be, in another database than that of their range. */
  constructor(ranges: readonly Range[], moved: Pick<Map<Partition, string>, 'get'> = new Map()) {
    this.#ranges = ranges;
    this.#moved = moved;
  }

  /** Name of the partition's database. Null: an id of a partition that no database holds is no id of the service. */
  databaseAt(partition: Partition): string | null {
    return this.#moved.get(partition) ?? this.#ranges.find(([first, last]) => first <= partition && partition <= last)?.[2] ?? null;
  }

  /** Random partition of a database, for a new row of no merchant. Not one that moves, because nothing fences such rows. */
  drawOf(database: string): Partition {
    const all = this.#listOf([database]);
    const staying = all.filter((partition) => this.#moved.get(partition) === undefined);
    return drawAt(staying.length > 0 ? staying : all, crypto.getRandomValues(new Uint32Array(1))[0]!);
  }

  /** True if the partition moves, or has moved since the deployment. */
  isMoving(partition: Partition): boolean {
    return this.#moved.get(partition) !== undefined;
  }

  /** Partition among those of the databases, the same for the same seed: a repeated request meets what the first one stored. */
  drawBy(seed: string, databases: readonly string[]): Partition {
    return drawAt(this.#listOf(databases), new DataView(sha256(utf8(seed)).buffer).getUint32(0));
  }

  #listOf(databases: readonly string[]): Partition[] {
    const all = this.#ranges.flatMap(([first, last, name]) =>
      databases.includes(name) ? Array.from({ length: last - first + 1 }, (_, i) => (first + i) as Partition) : [],
    );
    assert(all.length > 0, `PARTITIONS names partitions of ${databases.join(', ')}`);
    return all;
  }
}

const drawAt = (all: readonly Partition[], number: number): Partition => all[number % all.length]!;

/** Parses `000-007:DB 008-00f:DB_2`, sorted by partition. Null if the text has another form. */
export function parsePartitions(text: string): Range[] | null {
  const ranges: Range[] = [];
  for (const part of text.trim().split(/\s+/)) {
    const [, first = '', last = first, database] = /^([0-9a-f]{3})(?:-([0-9a-f]{3}))?:(DB(?:_\d+)?)$/.exec(part) ?? [];
    if (database === undefined || first > last) return null;
    ranges.push([Number.parseInt(first, 16), Number.parseInt(last, 16), database]);
  }
  return ranges.sort(([a], [b]) => a - b);
}

/** Eight partitions for each bound database, by its number, so that the partitions of one do not depend on the others. */
export const defaultPartitions = (databases: readonly string[]): Range[] =>
  databases.map((name) => {
    const first = (name === 'DB' ? 0 : Number(name.slice(3)) - 1) * DEFAULT_COUNT;
    return [first, Math.min(first + DEFAULT_COUNT, PARTITIONS) - 1, name];
  });

const hexOf = (partition: number): string => partition.toString(16).padStart(3, '0');

/** Ranges of the partitions of a database as `PARTITIONS` writes them: `000-007 010`. */
export function partitionRanges(map: Pick<PartitionMap, 'databaseAt'>, database: string): string {
  const ranges: [number, number][] = [];
  for (let partition = 0; partition < PARTITIONS; partition++) {
    if (map.databaseAt(partition as Partition) !== database) continue;
    const [, end] = ranges.at(-1) ?? [];
    if (end === partition - 1) ranges.at(-1)![1] = partition;
    else ranges.push([partition, partition]);
  }
  return ranges.map(([first, end]) => (first === end ? hexOf(first) : `${hexOf(first)}-${hexOf(end)}`)).join(' ');
}
