import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, AnswerId, AuthorizationId, MeteredSessionId, PaymentId, ProductId, SetupIntentId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { ChannelStage } from '#rules/metered/channel.ts';
import type { ProgramGeneration } from '#rules/metered/rpc.ts';
import type { PlanName } from '#rules/plans.ts';
import { METERED_SESSION, SETTLEMENT, type SettlementStatus } from '#rules/states.ts';
import type { PeriodTimes } from '#rules/subscriptions/schedule.ts';
import { amount, flag, instant, json, oneOf, uuidBytes } from './columns.ts';

/**
 * Purpose of the money: product access, a plan of ours, a merchant's sale with this service as facilitator, vouchers of a metered session,
 * or a period of a native subscription.
 */
export type SettlementPurpose = 'access' | 'activation' | 'facilitator' | 'metered' | 'subscription';

export interface SettlementTerms {
  productName: string;
  slug: string;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  merchantName: string;
  plan?: PlanName;
  /** For a plan: the key that signs the receipt in its PAYMENT-RESPONSE, so that a repeated answer is equal after a rotation. */
  receiptKeyId?: string;
  /** Name that the client gave its payment. */
  paymentIdentifier?: string;
  isErased?: true;
  authorizationId?: AuthorizationId;
  period?: PeriodTimes;
}

/**
 * Transactions of the service that are not recorded as payments: under way, failed, or of a plan or a facilitated sale. `tx_claims` holds
 * message and signature from before the broadcast on. The batch that inserts a payment deletes its settlement. WITHOUT ROWID.
 */
export const settlements = sqliteTable(
  'settlements',
  {
    paymentId: uuidBytes('payment_id').$type<PaymentId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    purpose: text('purpose').$type<SettlementPurpose>().notNull(),
    productId: uuidBytes('product_id').$type<ProductId>(),
    /** For `activation`: the agent's setup, which supplies the spend limits. */
    setupIntentId: uuidBytes('setup_intent_id').$type<SetupIntentId>(),
    /** Wallet named as the customer, null: the payer. */
    customerWallet: text('customer_wallet'),
    customerRef: text('customer_ref'),
    txSignature: text('tx_signature').notNull(),
    /** Co-signed transaction, base64. May be rebroadcast while it can still land. Empty once the outcome is known. */
    wire: text('wire').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    mint: text('mint').notNull(),
    amount: amount('amount').notNull(),
    payerWallet: text('payer_wallet').notNull(),
    feePayer: text('fee_payer').notNull(),
    recipientWallet: text('recipient_wallet').notNull(),
    recipientAta: text('recipient_ata').notNull(),
    nonce: text('nonce').notNull(),
    terms: json<SettlementTerms>('terms').notNull(),
    lastValidBlockHeight: integer('last_valid_block_height').notNull(),
    status: text('status').$type<SettlementStatus>().notNull(),
    failureReason: text('failure_reason'),
    /** Time at which the chain, past the blockhash's life, first lacked the transaction. A second check is required before giving up. */
    doubtedAt: instant('doubted_at'),
    nextCheckAt: instant('next_check_at'),
    /** For `facilitator`, a copy of the claim's column: the call that received the success first. */
    answeredBy: text('answered_by').$type<AnswerId>(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    oneOf('settlements_status', 'status', SETTLEMENT.states),
    index('settlements_failed').on(table.createdAt).where(sql`status = 'failed' AND next_check_at IS NULL`),
    index('settlements_due').on(table.nextCheckAt).where(sql`status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('sandbox_settlements_due').on(table.nextCheckAt).where(sql`status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 0`),
    // A sandbox session that ends reads no live row.
    index('sandbox_settlements_by_ref').on(table.merchantId, table.customerRef).where(sql`livemode = 0`),
    index('settlements_by_payer').on(table.payerWallet, table.livemode, table.createdAt).where(sql`status <> 'settled'`),
    index('settlements_paid').on(table.merchantId, table.livemode, table.payerWallet).where(sql`status = 'settled'`),
    index('settlements_by_intent').on(table.setupIntentId, table.createdAt).where(sql`setup_intent_id IS NOT NULL`),
  ],
);

export type Settlement = typeof settlements.$inferSelect;

/**
 * Metered sessions: the agreed terms, which only this row holds, and a copy of the session object's counts, written only by the object's
 * projection, newer over older.
 */
export const meteredSessions = sqliteTable(
  'metered_sessions',
  {
    id: text('id').$type<MeteredSessionId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>().notNull(),
    customerRef: text('customer_ref'),
    customerWallet: text('customer_wallet'),
    capAmount: amount('cap_amount').notNull(),
    minVoucherDelta: amount('min_voucher_delta').notNull(),
    unitPriceAmount: amount('unit_price_amount'),
    idleSeconds: integer('idle_seconds').notNull(),
    gracePeriodSeconds: integer('grace_period_seconds').notNull(),
    generation: text('generation').$type<ProgramGeneration>().notNull(),
    operator: text('operator').notNull(),
    merchantWallet: text('merchant_wallet').notNull(),
    mint: text('mint').notNull(),
    expiresAt: instant('expires_at').notNull(),
    createdAt: instant('created_at').notNull(),
    status: text('status').$type<ChannelStage>().notNull(),
    /** Channel that we were asked to open, or that was opened. One per session, and one session per channel and mode, permanently. */
    channelId: text('channel_id'),
    payerWallet: text('payer_wallet'),
    authorizedSigner: text('authorized_signer'),
    deposit: amount('deposit').notNull(),
    cumulative: amount('cumulative').notNull(),
    reserved: amount('reserved').notNull(),
    settled: amount('settled').notNull(),
    voucherEndsAt: instant('voucher_ends_at'),
    usedAt: instant('used_at').notNull(),
    endedAt: instant('ended_at'),
    settledAt: instant('settled_at'),
    settlingPaymentId: uuidBytes('settling_payment_id').$type<PaymentId>(),
    settlingCumulative: amount('settling_cumulative'),
    /** Part of the channel's payouts that was read from the chain, and the last transaction read. */
    payoutSeen: amount('payout_seen').notNull().default(sql`'0'`),
    payoutSeenTx: text('payout_seen_tx'),
    /** After the channel's end all its transactions are read once more, newest first: the last one read. */
    payoutReadTx: text('payout_read_tx'),
    /** Due time of the seal. No lease changes it. Postponed if a sealed channel waits for an account. */
    sealDueAt: instant('seal_due_at'),
    /** Next sweep check, postponed by each check of the object's own alarm. null: never again. */
    nextCheckAt: instant('next_check_at'),
    version: integer('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('metered_sessions_by_channel').on(table.livemode, table.channelId).where(sql`channel_id IS NOT NULL`),
    oneOf('metered_sessions_status', 'status', METERED_SESSION.states),
    index('metered_sessions_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    // Separate indexes per class of work, so that none delays another.
    index('metered_sessions_closing').on(table.nextCheckAt).where(sql`status = 'closing' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_sealing').on(table.sealDueAt).where(sql`status = 'closing' AND seal_due_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_expiring')
      .on(table.voucherEndsAt)
      .where(sql`status = 'open' AND voucher_ends_at IS NOT NULL AND cumulative <> settled AND livemode = 1`),
    index('metered_sessions_active').on(table.nextCheckAt).where(sql`status = 'open' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_opening')
      .on(table.nextCheckAt)
      .where(sql`status = 'created' AND channel_id IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_ended').on(table.nextCheckAt).where(sql`ended_at IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1`),
    // Due index by merchant, so that no merchant's backlog delays others.
    index('metered_sessions_closing_by_merchant')
      .on(table.merchantId, table.nextCheckAt)
      .where(sql`status = 'closing' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_active_by_merchant')
      .on(table.merchantId, table.nextCheckAt)
      .where(sql`status = 'open' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_opening_by_merchant')
      .on(table.merchantId, table.nextCheckAt)
      .where(sql`status = 'created' AND channel_id IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_ended_by_merchant')
      .on(table.merchantId, table.nextCheckAt)
      .where(sql`ended_at IS NOT NULL AND next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_unopened')
      .on(table.livemode, table.nextCheckAt)
      .where(sql`status = 'created' AND channel_id IS NULL AND next_check_at IS NOT NULL`),
    index('metered_sessions_unopened_by_product')
      .on(table.productId, table.createdAt)
      .where(sql`status = 'created' AND channel_id IS NULL`),
    index('sandbox_metered_sessions_due').on(table.nextCheckAt).where(sql`next_check_at IS NOT NULL AND livemode = 0`),
    index('metered_sessions_operators').on(table.operator).where(sql`next_check_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_over').on(table.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

export type MeteredSessionRow = typeof meteredSessions.$inferSelect;

/**
 * Transactions by which other parties had channels pay out, with the payment that sums those of their minute. Inserted once the transaction
 * is final and retained permanently, as claims are, so that none is booked twice.
 */
export const channelPayouts = sqliteTable(
  'channel_payouts',
  {
    paymentId: uuidBytes('payment_id').$type<PaymentId>().notNull(),
    livemode: flag('livemode').notNull(),
    txSignature: text('tx_signature').notNull(),
    channelId: text('channel_id').notNull(),
    amount: amount('amount').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.paymentId, table.txSignature] }),
    // Unique per channel, because one transaction may pay out several channels.
    uniqueIndex('channel_payouts_by_transaction')
      .on(table.livemode, table.txSignature, table.channelId)
      .where(sql`tx_signature IS NOT NULL`),
  ],
);
