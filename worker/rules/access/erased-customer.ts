/**
 * Erasure of a customer in stored JSON: a reference without a meaning remains, and no address, identity, invitation or metadata.
 * @module
 */

import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';

const ERASED_REF = /(?:^|:)erased:[0-9a-f]{8}$/;
/** Reference of a sandbox session begins with the session's id, which the replacement retains: it selects the clock. */
const SESSION = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}:/;

export const ERASED_REF_LENGTH = 'erased:01234567'.length;

export const isErasedRef = (ref: string): boolean => ERASED_REF.test(ref);

/** Reference that replaces that of an erased customer. A further attempt gives another one. */
export function erasedRefOf(ref: string, customerId: string, attempt = 0): string {
  const digits = attempt === 0 ? customerId.slice(0, 8) : sha256Hex(utf8(`${customerId} ${attempt}`)).slice(0, 8);
  return `${SESSION.exec(ref)?.[0] ?? ''}erased:${digits}`;
}

/** Time of what an event reports. The event of an entitlement may be stored later. */
export function happenedAt({ subjectType, createdAt, data }: { subjectType: string; createdAt: number; data: object }): number {
  if (subjectType !== 'entitlement') return createdAt;
  const { updated_at: changedAt } = (data as { object: { updated_at?: string } }).object;
  return changedAt === undefined ? createdAt : Math.min(createdAt, Date.parse(changedAt));
}

export interface ErasedCustomer {
  /** Customer and those that were merged into it. */
  ids: ReadonlySet<string>;
  /** Replacements by reference. */
  refs: ReadonlyMap<string, string>;
  /** Wallets that are keys. */
  wallets: ReadonlySet<string>;
  emails: ReadonlySet<string>;
}

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

/** True if JSON names the customer: by the reference, id or key. */
export function namesCustomer(value: unknown, customer: ErasedCustomer): boolean {
  if (Array.isArray(value)) return value.some((entry) => namesCustomer(entry, customer));
  if (!isFields(value)) return false;
  const { customer_ref: ref, customer_id: id, customer_ids: ids, customer: key, payer_wallet: payer } = value;
  if (isText(ref) && (customer.refs.has(ref) || [...customer.refs.values()].includes(ref))) return true;
  if (isText(id) && customer.ids.has(id)) return true;
  if (Array.isArray(ids) && ids.some((one) => customer.ids.has(one))) return true;
  if (isFields(key) && key.customer_ref === undefined && customer.wallets.has(String(key.wallet_address))) return true;
  if (isText(payer) && ref === undefined && customer.wallets.has(payer)) return true;
  return Object.values(value).some((field) => namesCustomer(field, customer));
}

const BLANKED = new Set(['provider_user_id', 'username', 'invite_url']);
const IN_RECORDS = new Set(['name', 'company']);

/** Erases a field. Undefined: the field is no personal data itself. */
function erasedField(name: string, value: unknown, customer: ErasedCustomer, isRecord: boolean): unknown {
  if (name === 'customer_ref' && isText(value)) return customer.refs.get(value) ?? value;
  if (name === 'email' && isText(value)) return value.includes('@') ? '' : value;
  if (BLANKED.has(name) && isText(value)) return '';
  if (name === 'emails' && Array.isArray(value)) return [];
  if ((name === 'metadata' || name === 'bill_to') && isFields(value)) return {};
  if (isRecord && IN_RECORDS.has(name)) return name === 'company' ? {} : '';
  return isText(value) && customer.emails.has(value.toLowerCase()) ? '' : undefined;
}

/** Erases what names the customer in JSON that is about the customer. `isRecord`: the JSON shows the customer itself. */
export function eraseCustomerIn(value: unknown, customer: ErasedCustomer, isRecord = false): unknown {
  if (Array.isArray(value)) return value.map((entry) => eraseCustomerIn(entry, customer, isRecord));
  if (!isFields(value)) return isText(value) && customer.emails.has(value.toLowerCase()) ? '' : value;
  const isShown = isRecord || 'merged_from' in value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => {
      if (name === 'proof' && isFields(field)) return [name, { ...field, ...blanked(field, ['email', 'name', 'message']) }];
      const erased = erasedField(name, field, customer, isShown);
      return [name, erased === undefined ? eraseCustomerIn(field, customer, isRecord) : erased];
    }),
  );
}

const blanked = (fields: Fields, names: readonly string[]): Fields =>
  Object.fromEntries(names.flatMap((name) => (isText(fields[name]) ? [[name, '']] : [])));

interface StoredNames {
  customerRef: string | null;
  customerWallet: string | null;
  payerWallet: string | null;
  email: string | null;
  terms: { metadata?: unknown; isErased?: true; identity?: { providerUserId: string; username?: string | null } };
}

/** Erases the customer in the stored row of a payment. Returns false if the payment is not the customer's. */
export function erasePaymentRow(payment: StoredNames, { refs, wallets }: ErasedCustomer): boolean {
  const { customerRef, customerWallet, payerWallet, terms } = payment;
  const isTheirs =
    customerRef === null
      ? wallets.has(customerWallet ?? payerWallet ?? '')
      : refs.has(customerRef) || [...refs.values()].includes(customerRef);
  if (!isTheirs) return false;
  payment.customerRef = customerRef && (refs.get(customerRef) ?? customerRef);
  payment.email = null;
  delete terms.metadata;
  terms.isErased = true;
  if (terms.identity) terms.identity = { ...terms.identity, providerUserId: '', username: '' };
  return true;
}
