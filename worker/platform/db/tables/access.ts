import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type {
  AccountId,
  AnswerId,
  AppId,
  EntitlementId,
  KeyId,
  PaymentId,
  PaymentSessionId,
  ProductId,
  ReceiptId,
  SetupIntentId,
} from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { EntitlementStatus } from '#rules/balance.ts';
import type { PaidPlan, PlanName } from '#rules/plans.ts';
import { SETTLEMENT, SETUP, type SettlementStatus, type SetupStatus } from '#rules/states.ts';
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
    // Each ends in the rowid: the order of the list.
    index('entitlements_by_merchant').on(table.merchantId, table.livemode),
    index('entitlements_by_product').on(table.merchantId, table.livemode, table.productId),
    index('entitlements_by_status').on(table.merchantId, table.livemode, table.status),
    index('entitlements_by_wallet').on(table.merchantId, table.livemode, table.walletAddress).where(sql`wallet_address IS NOT NULL`),
    index('entitlements_by_ref').on(table.merchantId, table.livemode, table.customerRef).where(sql`customer_ref IS NOT NULL`),
  ],
);

/** What the money is for: units of a product, a plan of ours, or whatever a merchant sells through us as his facilitator. */
export type SettlementPurpose = 'access' | 'activation' | 'facilitator';

/** What an x402 payment was for, as it was when it was claimed. */
export interface SettlementTerms {
  productName: string;
  slug: string;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  merchantName: string;
  /** Of `activation`. */
  plan?: PlanName;
}

/**
 * An x402 payment, claimed by its message and its signature before it is broadcast, for ever. The payment row follows when
 * the chain has shown it; until then this is all there is, and enough to go on after any crash.
 */
export const settlements = sqliteTable(
  'settlements',
  {
    /** The id the payment will have. */
    paymentId: text('payment_id').$type<PaymentId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    purpose: text('purpose').$type<SettlementPurpose>().notNull(),
    /** Of `access` alone. */
    productId: text('product_id').$type<ProductId>(),
    /** Of `activation`: the agent's setup it was paid for, whose spend limits bind it. */
    setupIntentId: text('setup_intent_id').$type<SetupIntentId>(),
    /** Of the customer who was named; null: the payer. */
    customerWallet: text('customer_wallet'),
    customerRef: text('customer_ref'),
    /** SHA-256 of the transaction's message, hex: the same whoever signs it, in whatever order. */
    messageHash: text('message_hash').notNull(),
    txSignature: text('tx_signature').notNull(),
    /** The co-signed transaction, base64: may be broadcast again as long as it can still land; empty once its end is known. */
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
    /** Of `facilitator`, a copy of what its claim says: the one call that was told of its success. */
    answeredBy: text('answered_by').$type<AnswerId>(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    oneOf('settlements_status', 'status', SETTLEMENT.states),
    index('settlements_failed').on(table.createdAt).where(sql`status = 'failed' AND next_check_at IS NULL`),
    uniqueIndex('settlements_by_message').on(table.messageHash, table.livemode),
    uniqueIndex('settlements_by_signature').on(table.txSignature, table.livemode),
    index('settlements_due').on(table.nextCheckAt).where(sql`status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('sandbox_settlements_due').on(table.nextCheckAt).where(sql`status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 0`),
    index('settlements_by_payer').on(table.payerWallet, table.createdAt).where(sql`status <> 'settled'`),
    index('settlements_paid').on(table.merchantId, table.payerWallet).where(sql`status = 'settled'`),
    index('settlements_by_intent').on(table.setupIntentId, table.createdAt).where(sql`setup_intent_id IS NOT NULL`),
  ],
);

/** A merchant's application that products may be grouped under. */
export const accessApps = sqliteTable(
  'access_apps',
  {
    id: text('id').$type<AppId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    name: text('name').notNull(),
    homepageUrl: text('homepage_url'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('access_apps_by_merchant').on(table.merchantId, table.livemode, table.createdAt)],
);

/** A checkout that the merchant's server opened for one buyer: holds at most one payment that is not over. */
export const paymentSessions = sqliteTable(
  'payment_sessions',
  {
    id: text('id').$type<PaymentSessionId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
    /** The promised price; a later edit of the product does not change it. */
    asset: text('asset').$type<Asset>().notNull(),
    priceAmount: amount('price_amount').notNull(),
    /** The checkout rail it was opened for, and begins with; null: opened before it was kept. */
    railId: text('rail_id'),
    customerRef: text('customer_ref'),
    successUrl: text('success_url'),
    metadata: json<Record<string, string>>('metadata').notNull(),
    /** The last payment begun in it. */
    paymentId: text('payment_id').$type<PaymentId>(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [index('payment_sessions_ending').on(table.expiresAt)],
);

/** An agent that sets up an account by itself, from its first call to a live key. */
export const setupIntents = sqliteTable(
  'setup_intents',
  {
    id: text('id').$type<SetupIntentId>().primaryKey(),
    accountId: text('account_id').$type<AccountId>().notNull().unique(),
    /** Keyed hash of the setup secret. */
    secretHash: text('secret_hash').notNull(),
    status: text('status').$type<SetupStatus>().notNull(),
    agentName: text('agent_name').notNull(),
    operatorContact: text('operator_contact'),
    intendedUse: text('intended_use'),
    plan: text('plan').$type<PlanName>(),
    manifest: json<object>('manifest'),
    evaluation: json<object>('evaluation'),
    /** Base units of USDC; bind what is paid with this secret. */
    spendPerPayment: amount('spend_per_payment'),
    spendPerDay: amount('spend_per_day'),
    sandboxKeyId: text('sandbox_key_id').$type<KeyId>().notNull(),
    liveKeyId: text('live_key_id').$type<KeyId>(),
    approvedAt: instant('approved_at'),
    /** null once a plan was activated: then it stays. */
    expiresAt: instant('expires_at'),
    /** Ended, with something of money in its account, which therefore stays. */
    isKept: flag('is_kept').notNull().default(false),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('setup_intents_status', 'status', SETUP.states),
    index('setup_intents_ended').on(table.expiresAt).where(sql`status = 'expired' AND is_kept = 0`),
    index('setup_intents_expiring').on(table.expiresAt).where(sql`status <> 'expired' AND expires_at IS NOT NULL`),
  ],
);

/** Plans that were paid for: one row per payment, so that none counts twice. What an account holds follows from those that stand. */
export const activations = sqliteTable(
  'activations',
  {
    paymentId: text('payment_id').$type<PaymentId>().primaryKey(),
    accountId: text('account_id').$type<AccountId>().notNull(),
    plan: text('plan').$type<PaidPlan>().notNull(),
    /** What was paid; null: from before it was kept, so that only what was held afterwards tells what it bought. */
    amount: amount('amount'),
    /** The plan, its end (null: none) and what 30 days of it had cost, as they were right after it. */
    resultingPlan: text('resulting_plan').$type<PlanName>().notNull(),
    paidThrough: instant('paid_through'),
    resultingPrice: amount('resulting_price'),
    receiptId: text('receipt_id').$type<ReceiptId>().notNull(),
    /** From when it counts: later than any other of its account. */
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('activations_by_account').on(table.accountId, table.createdAt)],
);

export type Setting = typeof railSettings.$inferSelect;

export type Settlement = typeof settlements.$inferSelect;

export type AccessApp = typeof accessApps.$inferSelect;

export type SetupIntent = typeof setupIntents.$inferSelect;

export type Activation = typeof activations.$inferSelect;

export type PaymentSession = typeof paymentSessions.$inferSelect;
