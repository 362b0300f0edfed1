import { sha256 } from './crypto.ts';
import { base62, canonicalJson, hex, utf8 } from './encoding.ts';

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
export type AppId = Id<'app'>;
export type PaymentSessionId = Id<'paymentSession'>;
export type SandboxSessionId = Id<'sandboxSession'>;
export type SetupIntentId = Id<'setupIntent'>;
export type AnswerId = Id<'answer'>;
export type MeteredSessionId = Id<'meteredSession'>;
export type AuthorizationId = Id<'authorization'>;
export type SignInId = Id<'signIn'>;
export type MailId = Id<'mail'>;
export type CommunityId = Id<'community'>;
export type TicketId = Id<'ticket'>;
export type TicketMessageId = Id<'ticketMessage'>;
export type RefundId = Id<'refund'>;

/** UUIDv7 (RFC 9562): 48 bits of `now` in ms, then 74 random bits from the CSPRNG. */
export function newId<T extends Id<string>>(now: number): T {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  new DataView(bytes.buffer).setUint16(0, Math.floor(now / 2 ** 32));
  new DataView(bytes.buffer).setUint32(2, now % 2 ** 32);
  return uuid<T>(bytes, 7);
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
 * admission object without a lookup.
 */
export const admissionIdOf = (accountId: string): string => base62(BigInt(`0x${accountId.replaceAll('-', '').slice(16)}`), 11);

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

const newUlid = (now: number): string => ulid(now, crypto.getRandomValues(new Uint8Array(10)));

/** `ms_` + a ULID with 80 random bits. The id is a capability: a caller who knows it may submit vouchers for the session's buyer. */
export const newMeteredSessionId = (now: number): MeteredSessionId => `ms_${newUlid(now)}` as MeteredSessionId;
export const isMeteredSessionId = (text: string): text is MeteredSessionId => /^ms_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text);

export const newAuthorizationId = (now: number): AuthorizationId => `nsa_${newUlid(now)}` as AuthorizationId;
export const isAuthorizationId = (text: string): text is AuthorizationId => /^nsa_[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(text);

/** Id of an event that is stored nowhere but with its delivery. */
export const newEventId = (now: number): string => `evt_${newUlid(now)}`;

/** `evt_` + the first 25 characters of a ULID: the time, and 75 bits of a hash of the subject's version. */
export const actIdOf = (now: number, subjectId: string, version: number): string =>
  `evt_${ulid(now, sha256(utf8(`${subjectId}:${version}`)).slice(0, 10)).slice(0, -1)}`;

/** Part of an act's id without the time. */
export const actKeyOf = (subjectId: string, version: number): string => actIdOf(0, subjectId, version).slice(14);

export const eventIdOf = (actId: string, position: number): string => actId + CROCKFORD[position]!;

/** Act of an event: the id without the position. */
export const actOfEvent = (eventId: string): string => eventId.slice(0, -1);

const ADDRESS_BYTES = 10;

/**
 * Entitlement id, derived from its owner and product, so that no lookup is needed: 80 bits of a hash, spread over a UUIDv8 with redundant
 * other bits.
 */
export function entitlementIdOf(merchantId: string, livemode: boolean, productId: string, customer: object): EntitlementId {
  return idOfAddress(sha256(utf8(canonicalJson([merchantId, livemode, productId, customer]))).slice(0, ADDRESS_BYTES));
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
