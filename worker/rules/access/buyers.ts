import { sha256 } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import type { AccountId, CustomerId } from '#core/ids.ts';

/** Proven buyer: a wallet, an email address, or one customer of one merchant in one mode. */
export type BuyerSubject =
  | { kind: 'wallet'; wallet_address: string }
  | { kind: 'email'; email: string }
  | { kind: 'customer'; account_id: AccountId; customer_id: CustomerId; livemode: boolean };

/** Subject that leads to several sellers. */
export type OpenSubject = Exclude<BuyerSubject, { kind: 'customer' }>;

/** Sellers of one buyer that are read. */
export const SELLERS_MAX = 50;

/** Spelling of an address that memberships and payments have, one per mailbox. */
export const buyersAddressOf = (email: string): string => email.trim().normalize('NFC').toLowerCase();

const textOf = (subject: BuyerSubject): string => {
  if (subject.kind === 'wallet') return `wallet:${subject.wallet_address}`;
  return subject.kind === 'email' ? `email:${subject.email}` : `customer:${subject.customer_id}`;
};

const half = (text: string): Uint8Array => sha256(utf8(text)).slice(0, 16);

/** Half of the SHA-256 of a subject, by which its sellers and details are found. */
export const buyerKeyOf = (subject: BuyerSubject): Uint8Array => half(textOf(subject));

/** Key of the merchants that gave a subject access without a payment. Anyone can give, so these never displace those that were paid. */
export const granteeKeyOf = (subject: OpenSubject): Uint8Array => half(`granted:${textOf(subject)}`);
