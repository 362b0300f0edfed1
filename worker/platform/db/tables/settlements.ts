import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, AnswerId, AuthorizationId, MeteredSessionId, PaymentId, ProductId, SetupIntentId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import type { ChannelStage } from '#rules/metered/channel.ts';
import type { ProgramGeneration } from '#rules/metered/rpc.ts';
import type { PlanName } from '#rules/plans.ts';
import { METERED_SESSION, SETTLEMENT, type SettlementStatus } from '#rules/states.ts';
import type { PeriodTimes } from '#rules/subscriptions/schedule.ts';
import { amount, flag, instant, json, oneOf } from './columns.ts';

/**
 * What the money is for: units of a product, a plan of ours, what a merchant sells with this service as facilitator, what a metered
 * session's vouchers promised, or a period of a native subscription.
 */
export type SettlementPurpose = 'access' | 'activation' | 'facilitator' | 'metered' | 'subscription';

/** What an x402 payment was for, as it was when it was claimed. */
export interface SettlementTerms {
  productName: string;
  slug: string;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  merchantName: string;
  /** Of `activation`. */
  plan?: PlanName;
  /** Of `subscription`: the period that it collects, by the chain. */
  authorizationId?: AuthorizationId;
  period?: PeriodTimes;
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
    /** Of `access`, `metered` and `subscription`. */
    productId: text('product_id').$type<ProductId>(),
    /** Of `activation`: the agent's setup it was paid for, whose spend limits bind it. */
    setupIntentId: text('setup_intent_id').$type<SetupIntentId>(),
    /** Of the customer who was named; null: the payer. */
    customerWallet: text('customer_wallet'),
    customerRef: text('customer_ref'),
    /** SHA-256 of the transaction's message, hex: it does not depend on the signatures. */
    messageHash: text('message_hash').notNull(),
    txSignature: text('tx_signature').notNull(),
    /** The co-signed transaction, base64: may be broadcast again as long as it can still land; empty once its end is known. */
    wire: text('wire').notNull(),
    asset: text('asset').$type<Asset>().notNull(),
    mint: text('mint').notNull(),
    amount: amount('amount').notNull(),
    payerWallet: text('payer_wallet').notNull(),
    /** Address of the key that pays the network for it. */
    feePayer: text('fee_payer').notNull(),
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
    /** Of `facilitator`, a copy of what its claim says: the call that its success was answered to first. */
    answeredBy: text('answered_by').$type<AnswerId>(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    oneOf('settlements_status', 'status', SETTLEMENT.states),
    index('settlements_failed').on(table.createdAt).where(sql`status = 'failed' AND next_check_at IS NULL`),
    uniqueIndex('settlements_by_message').on(table.livemode, table.messageHash).where(sql`message_hash IS NOT NULL`),
    uniqueIndex('settlements_by_signature').on(table.livemode, table.txSignature).where(sql`tx_signature IS NOT NULL`),
    index('settlements_due').on(table.nextCheckAt).where(sql`status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('sandbox_settlements_due').on(table.nextCheckAt).where(sql`status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 0`),
    index('settlements_fee_payers').on(table.feePayer).where(sql`status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1`),
    index('settlements_by_payer').on(table.payerWallet, table.livemode, table.createdAt).where(sql`status <> 'settled'`),
    index('settlements_paid').on(table.merchantId, table.livemode, table.payerWallet).where(sql`status = 'settled'`),
    index('settlements_by_intent').on(table.setupIntentId, table.createdAt).where(sql`setup_intent_id IS NOT NULL`),
  ],
);

export type Settlement = typeof settlements.$inferSelect;

/**
 * Metered sessions: what was agreed, which is this row's alone, and a copy of what the session's object counts, which only its projection
 * writes, newer over older.
 */
export const meteredSessions = sqliteTable(
  'metered_sessions',
  {
    id: text('id').$type<MeteredSessionId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    productId: text('product_id').$type<ProductId>().notNull(),
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
    /** The channel whose opening we were asked to send, or that was opened: one a session, one session each in its mode, for ever. */
    channelId: text('channel_id'),
    payerWallet: text('payer_wallet'),
    authorizedSigner: text('authorized_signer'),
    deposit: amount('deposit').notNull(),
    cumulative: amount('cumulative').notNull(),
    reserved: amount('reserved').notNull(),
    settled: amount('settled').notNull(),
    /** The end of the highest voucher; null: it has none. */
    voucherEndsAt: instant('voucher_ends_at'),
    usedAt: instant('used_at').notNull(),
    endedAt: instant('ended_at'),
    /** When the chain was last seen to have settled more. */
    settledAt: instant('settled_at'),
    /** The settlement that was begun last: one at a time. */
    settlingPaymentId: text('settling_payment_id').$type<PaymentId>(),
    /** What vouchers promised in all, as far as it goes. */
    settlingCumulative: amount('settling_cumulative'),
    /** How much of what its channel has paid out was looked up on the chain, and the transaction it was looked up to. */
    payoutSeen: amount('payout_seen').notNull().default(sql`'0'`),
    payoutSeenTx: text('payout_seen_tx'),
    /** After its end all of its transactions are looked up once more, newest first: the last one that was. */
    payoutReadTx: text('payout_read_tx'),
    /** Since when it should be sealed. No lease moves it. Later where a sealed channel waits for an account. */
    sealDueAt: instant('seal_due_at'),
    /** When a sweep takes it, which its object's own alarm puts off with each look; null: never again. */
    nextLookAt: instant('next_look_at'),
    version: integer('version').notNull(),
    updatedAt: instant('updated_at').notNull(),
  },
  (table) => [
    uniqueIndex('metered_sessions_by_channel').on(table.livemode, table.channelId).where(sql`channel_id IS NOT NULL`),
    oneOf('metered_sessions_status', 'status', METERED_SESSION.states),
    index('metered_sessions_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    // A class of work each, so that none waits behind another.
    index('metered_sessions_closing').on(table.nextLookAt).where(sql`status = 'closing' AND next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_sealing').on(table.sealDueAt).where(sql`status = 'closing' AND seal_due_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_expiring')
      .on(table.voucherEndsAt)
      .where(sql`status = 'open' AND voucher_ends_at IS NOT NULL AND cumulative <> settled AND livemode = 1`),
    index('metered_sessions_standing').on(table.nextLookAt).where(sql`status = 'open' AND next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_opening')
      .on(table.nextLookAt)
      .where(sql`status = 'created' AND channel_id IS NOT NULL AND next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_ended').on(table.nextLookAt).where(sql`ended_at IS NOT NULL AND next_look_at IS NOT NULL AND livemode = 1`),
    // The same by merchant, so that none waits behind the flood of another.
    index('metered_sessions_closing_by_merchant')
      .on(table.merchantId, table.nextLookAt)
      .where(sql`status = 'closing' AND next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_standing_by_merchant')
      .on(table.merchantId, table.nextLookAt)
      .where(sql`status = 'open' AND next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_opening_by_merchant')
      .on(table.merchantId, table.nextLookAt)
      .where(sql`status = 'created' AND channel_id IS NOT NULL AND next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_ended_by_merchant')
      .on(table.merchantId, table.nextLookAt)
      .where(sql`ended_at IS NOT NULL AND next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_unopened')
      .on(table.livemode, table.nextLookAt)
      .where(sql`status = 'created' AND channel_id IS NULL AND next_look_at IS NOT NULL`),
    index('metered_sessions_unopened_by_product')
      .on(table.productId, table.createdAt)
      .where(sql`status = 'created' AND channel_id IS NULL`),
    index('sandbox_metered_sessions_due').on(table.nextLookAt).where(sql`next_look_at IS NOT NULL AND livemode = 0`),
    index('metered_sessions_operators').on(table.operator).where(sql`next_look_at IS NOT NULL AND livemode = 1`),
    index('metered_sessions_over').on(table.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

export type MeteredSessionRow = typeof meteredSessions.$inferSelect;

/**
 * Transactions by which other parties had channels pay out, each with the payment that sums those of its minute. Written once a transaction
 * is final, and kept for ever as claims are: it is never booked twice.
 */
export const channelPayouts = sqliteTable(
  'channel_payouts',
  {
    paymentId: text('payment_id').$type<PaymentId>().notNull(),
    livemode: flag('livemode').notNull(),
    txSignature: text('tx_signature').notNull(),
    channelId: text('channel_id').notNull(),
    /** Paid to the merchant by this transaction. */
    amount: amount('amount').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.paymentId, table.txSignature] }),
    // One transaction may pay out several channels.
    uniqueIndex('channel_payouts_by_transaction')
      .on(table.livemode, table.txSignature, table.channelId)
      .where(sql`tx_signature IS NOT NULL`),
  ],
);
