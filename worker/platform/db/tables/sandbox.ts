import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, EndpointId, ProductId, SandboxSessionId } from '#core/ids.ts';
import { SANDBOX_SESSION, type SandboxSessionStatus } from '#rules/states.ts';
import type { RpcInstruction } from '#solana/transaction.ts';
import { instant, json, oneOf, uuidBytes } from './columns.ts';

export interface SandboxOptions {
  /** Decimal price of the product that the scenario creates, null: the scenario's default. */
  price: { asset: 'USDC' | 'SOL'; amount: string } | null;
  delaySeconds: number;
  failure: string | null;
}

export interface SandboxStep {
  at: number;
  action: string;
  object?: { type: string; id: string };
  state?: string;
  eventId?: string;
  eventType?: string;
}

/**
 * Run of a scenario on its own clock. Inserted by a merchant's test call, limited per day by the plan. A sweep deletes the session and
 * everything it created 30 days after its end.
 */
export const sandboxSessions = sqliteTable(
  'sandbox_sessions',
  {
    id: uuidBytes('id').$type<SandboxSessionId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    scenario: text('scenario').notNull(),
    seed: text('seed').notNull(),
    status: text('status').$type<SandboxSessionStatus>().notNull(),
    options: json<SandboxOptions>('options').notNull(),
    productId: uuidBytes('product_id').$type<ProductId>(),
    /** null: every sandbox endpoint of the merchant receives the events. */
    endpointId: uuidBytes('endpoint_id').$type<EndpointId>(),
    /** Offset of the session's business time from `createdAt`. */
    advancedMs: integer('advanced_ms').notNull(),
    /** Target offset of the clock, set as `advancedMs` once all earlier due work is done. */
    advancingToMs: integer('advancing_to_ms').notNull(),
    nextStep: integer('next_step').notNull(),
    /** Consecutive checks that found the current step unfinished. */
    waits: integer('waits').notNull(),
    notes: json<Record<string, string>>('notes').notNull(),
    steps: json<SandboxStep[]>('steps').notNull(),
    eventSeq: integer('event_seq').notNull(),
    /** Wall time of the last stored step. A long pause means a lost message. */
    movedAt: instant('moved_at').notNull(),
    endedAt: instant('ended_at'),
    createdAt: instant('created_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('sandbox_sessions_status', 'status', SANDBOX_SESSION.states),
    index('sandbox_sessions_by_merchant').on(table.merchantId, table.createdAt),
    index('sandbox_sessions_running').on(table.movedAt).where(sql`status = 'running'`),
    index('sandbox_sessions_ended').on(table.endedAt).where(sql`ended_at IS NOT NULL`),
  ],
);

export interface SandboxOutcome {
  landsAfterMs: number | null;
  hasFailed?: boolean;
  /** Offset of the block time after landing, so that a late block is visible at once. */
  blockAheadMs?: number;
  dropsAfterMs?: number;
}

export type InnerInstructions = { index: number; instructions: RpcInstruction[] }[];

/**
 * Simulated chain: transactions that test wallets signed over a sandbox's blockhashes. Inserted only for calls of a merchant's sandbox.
 * Deleted with the session or, without one, 90 days after insertion (features/retention).
 */
export const sandboxTransactions = sqliteTable(
  'sandbox_transactions',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    sessionId: uuidBytes('session_id').notNull(),
    messageHash: text('message_hash').notNull(),
    outcome: json<SandboxOutcome>('outcome').notNull(),
    txSignature: text('tx_signature'),
    /** Base64. */
    wire: text('wire'),
    sentAt: instant('sent_at'),
    /** Inner instructions of modelled programs, null if the transaction names none. */
    inner: json<InnerInstructions>('inner'),
    about: text('about'),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.messageHash] }),
    index('sandbox_transactions_by_signature').on(table.merchantId, table.txSignature),
    index('sandbox_transactions_by_session').on(table.sessionId, table.createdAt),
    index('sandbox_transactions_about').on(table.merchantId, table.about, table.sentAt).where(sql`about IS NOT NULL`),
  ],
);

/**
 * Accounts of a simulated chain: those of the subscriptions program, and the token accounts that the program transfers between. Changed in
 * the batch of their transaction. Deleted with their session or by a closing transaction. Without a session, deleted 90 days after the
 * wallet last owned a plan or an active subscription (features/retention).
 */
export const sandboxAccounts = sqliteTable(
  'sandbox_accounts',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    sessionId: uuidBytes('session_id').notNull(),
    address: text('address').notNull(),
    owner: text('owner').notNull(),
    /** Base64. */
    data: text('data').notNull(),
    /** Hash of the message of the last change. Of two concurrent changes one aborts and runs again. */
    changedBy: text('changed_by').notNull(),
    /** Time of the last change, or without a session of the last need, by the chain's own clock. */
    neededAt: instant('needed_at').notNull().default(0),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.sessionId, table.address] }),
    index('sandbox_accounts_by_session').on(table.sessionId).where(sql`session_id <> ''`),
    index('sandbox_accounts_unneeded').on(table.neededAt).where(sql`session_id = ''`),
  ],
);

export type SandboxSession = typeof sandboxSessions.$inferSelect;
export type SandboxTransaction = typeof sandboxTransactions.$inferSelect;
export type SandboxAccount = typeof sandboxAccounts.$inferSelect;
