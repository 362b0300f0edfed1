import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, EndpointId, ProductId, SandboxSessionId } from '#core/ids.ts';
import { SANDBOX_SESSION, type SandboxSessionStatus } from '#rules/states.ts';
import type { RpcInstruction } from '#solana/transaction.ts';
import { instant, json, oneOf } from './columns.ts';

/** What a scenario was asked for beside its name. */
export interface SandboxOptions {
  /** What the product that the scenario makes costs, as a decimal; null: what the scenario says. */
  price: { asset: 'USDC' | 'SOL'; amount: string } | null;
  delaySeconds: number;
  failure: string | null;
}

/** What happened in a session: one for each event, and one for each call that was answered without an event. */
export interface SandboxStep {
  at: number;
  action: string;
  object?: { type: string; id: string };
  state?: string;
  eventId?: string;
  eventType?: string;
}

/**
 * A run of a scenario on a clock of its own. Made by a merchant's test call, so many a day as the plan has; its sweep erases it, and all
 * it made, 30 days after its end.
 */
export const sandboxSessions = sqliteTable(
  'sandbox_sessions',
  {
    id: text('id').$type<SandboxSessionId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    scenario: text('scenario').notNull(),
    seed: text('seed').notNull(),
    status: text('status').$type<SandboxSessionStatus>().notNull(),
    options: json<SandboxOptions>('options').notNull(),
    /** What was named, or what the session made for itself. */
    productId: text('product_id').$type<ProductId>(),
    /** null: every endpoint of the merchant's sandbox hears of it. */
    endpointId: text('endpoint_id').$type<EndpointId>(),
    /** Business time of everything in it: `createdAt` and this. */
    advancedMs: integer('advanced_ms').notNull(),
    /** Where its clock is going; it is there once everything due on the way was done. */
    advancingToMs: integer('advancing_to_ms').notNull(),
    /** The next step of its script. */
    nextStep: integer('next_step').notNull(),
    /** Looks in a row that found the present step unfinished. */
    waits: integer('waits').notNull(),
    /** What earlier steps left for later ones. */
    notes: json<Record<string, string>>('notes').notNull(),
    steps: json<SandboxStep[]>('steps').notNull(),
    /** Its newest event that is among the steps. */
    eventSeq: integer('event_seq').notNull(),
    /** When a step of it was last stored, by wall time: one that stands still for long has lost its message. */
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

/** What is to become of a transaction of a simulated chain. */
export interface SandboxFate {
  /** Until it is on the chain, in milliseconds of its clock; null: never. */
  landsAfterMs: number | null;
  hasFailed?: boolean;
  /** How far its block's time is ahead of when it landed: a block that is too late can be seen at once. */
  blockAheadMs?: number;
  /** Taken from the chain again so long after it landed. */
  dropsAfterMs?: number;
}

/** What the programs called that each instruction named, by its place. */
export type InnerInstructions = { index: number; instructions: RpcInstruction[] }[];

/**
 * The simulated chain: transactions that test wallets signed over blockhashes of a sandbox. Made by the service alone, for calls of a
 * merchant's sandbox; ended with their session, or, of no session, 90 days after they were made (features/retention).
 */
export const sandboxTransactions = sqliteTable(
  'sandbox_transactions',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    /** `''`: of no session. */
    sessionId: text('session_id').notNull(),
    /** SHA-256 of its message, hex. */
    messageHash: text('message_hash').notNull(),
    fate: json<SandboxFate>('fate').notNull(),
    /** null: its fate is decided, and it was not broadcast yet. */
    txSignature: text('tx_signature'),
    /** Base64. */
    wire: text('wire'),
    /** When it was broadcast, by its own clock. */
    sentAt: instant('sent_at'),
    /** What the programs that it names did; null where it names none whose accounts are kept. */
    inner: json<InnerInstructions>('inner'),
    /** The address of the subscription that it is about. */
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
 * What stands on a simulated chain: the accounts of the subscriptions program, and the token accounts that it moves money between. Changed
 * in the batch of the transaction that changes them; ended with their session, or by the transaction that closes them. Those of no session
 * end 90 days after their wallet was needed last: as the owner of a plan, or by a subscription that is not over (features/retention).
 */
export const sandboxAccounts = sqliteTable(
  'sandbox_accounts',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    /** `''`: of no session. */
    sessionId: text('session_id').notNull(),
    address: text('address').notNull(),
    /** The program that it belongs to. */
    owner: text('owner').notNull(),
    /** Base64. */
    data: text('data').notNull(),
    /** The hash of the message that changed it last: of two that change it at once, one is run anew. */
    changedBy: text('changed_by').notNull(),
    /** When it was changed last or, of no session, last found to be needed; by its own clock. */
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
