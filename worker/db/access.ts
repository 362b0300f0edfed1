import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { EntitlementStatus } from '../balance.ts';
import type { AccountId, EntitlementId, PaymentId, ProductId } from '../core/ids.ts';
import type { Asset } from '../core/money.ts';
import { SETTLEMENT, type SettlementStatus } from '../states.ts';
import { amount, flag, instant, json, oneOf } from './columns.ts';

/** What a merchant set for a way of being paid. No row: the defaults of the rail. */
export const railSettings = sqliteTable(
  'rail_settings',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    railId: text('rail_id').notNull(),
    enabled: flag('enabled').notNull(),
    payoutWallet: text('payout_wallet'),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.railId] })],
);

/** Copies of what entitlement objects say of themselves, to be listed. Written by the projection alone, newer over older. */
export const entitlements = sqliteTable(
  'entitlements',
  {
    id: text('id').$type<EntitlementId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    walletAddress: text('wallet_address'),
    customerRef: text('customer_ref'),
    status: text('status').$type<EntitlementStatus>().notNull(),
    grantedUnits: integer('granted_units'),
    usedUnits: integer('used_units').notNull(),
    remaining: integer('remaining'),
    paidThrough: instant('paid_through'),
    version: integer('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    oneOf('entitlements_status', 'status', ['active', 'exhausted', 'expired', 'revoked'] satisfies EntitlementStatus[]),
    index('entitlements_by_merchant').on(table.merchantId, table.livemode, table.id),
    index('entitlements_by_wallet').on(table.merchantId, table.livemode, table.walletAddress),
    index('entitlements_by_ref').on(table.merchantId, table.livemode, table.customerRef),
  ],
);

/** What an x402 payment was for, as it was when it was claimed. */
export interface SettlementTerms {
  productName: string;
  slug: string;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  merchantName: string;
}

/**
 * An x402 payment, claimed by its message and its signature before it is broadcast, for ever. The payment row follows when
 * the chain has shown it; until then this is all there is, and enough to go on after any crash. (contract section 6 "settle")
 */
export const settlements = sqliteTable(
  'settlements',
  {
    /** The id the payment will have. */
    paymentId: text('payment_id').$type<PaymentId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** What the money is for: units of a product here, more to come. */
    purpose: text('purpose').$type<'access'>().notNull(),
    productId: text('product_id').$type<ProductId>(),
    /** Of the customer who was named; null: the payer. */
    customerWallet: text('customer_wallet'),
    customerRef: text('customer_ref'),
    /** SHA-256 of the transaction's message, hex: the same whoever signs it, in whatever order. */
    messageHash: text('message_hash').notNull().unique(),
    txSignature: text('tx_signature').notNull().unique(),
    /** The co-signed transaction, base64: may be broadcast again as long as it can still land. */
    wire: text('wire').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    mint: text('mint').notNull(),
    amount: amount('amount').notNull(),
    payerWallet: text('payer_wallet').notNull(),
    recipientWallet: text('recipient_wallet').notNull(),
    recipientAta: text('recipient_ata').notNull(),
    nonce: text('nonce').notNull(),
    terms: json<SettlementTerms>('terms').notNull(),
    /** Past this block height it can never land. */
    lastValidBlockHeight: integer('last_valid_block_height').notNull(),
    status: text('status').$type<SettlementStatus>().notNull(),
    failureReason: text('failure_reason'),
    /** When the chain, past the blockhash's life, was first seen without it; one look is not enough to give it up. */
    doubtedAt: instant('doubted_at'),
    /** null: there is nothing more to look for. */
    nextCheckAt: instant('next_check_at'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    oneOf('settlements_status', 'status', SETTLEMENT.states),
    index('settlements_due').on(table.nextCheckAt).where(sql`status <> 'settled' AND next_check_at IS NOT NULL`),
    index('settlements_by_payer').on(table.payerWallet, table.createdAt).where(sql`status <> 'settled'`),
  ],
);
