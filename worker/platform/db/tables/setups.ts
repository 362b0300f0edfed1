import { sql } from 'drizzle-orm';
import { index, integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId, KeyId, SetupIntentId } from '#core/ids.ts';
import type { PlanName } from '#rules/plans.ts';
import { SETUP, type SetupStatus } from '#rules/states.ts';
import { amount, flag, instant, json, oneOf, uuidBytes } from './columns.ts';

export const setupIntents = sqliteTable(
  'setup_intents',
  {
    id: uuidBytes('id').$type<SetupIntentId>().primaryKey(),
    accountId: uuidBytes('account_id').$type<AccountId>().notNull().unique(),
    secretHash: text('secret_hash').notNull(),
    status: text('status').$type<SetupStatus>().notNull(),
    agentName: text('agent_name').notNull(),
    operatorContact: text('operator_contact'),
    intendedUse: text('intended_use'),
    plan: text('plan').$type<PlanName>(),
    manifest: json<object>('manifest'),
    evaluation: json<object>('evaluation'),
    spendPerPayment: amount('spend_per_payment'),
    spendPerDay: amount('spend_per_day'),
    sandboxKeyId: uuidBytes('sandbox_key_id').$type<KeyId>().notNull(),
    liveKeyId: uuidBytes('live_key_id').$type<KeyId>(),
    approvedAt: instant('approved_at'),
    /** null once a plan was activated, which makes the setup permanent. */
    expiresAt: instant('expires_at'),
    /** Ended, but retained because its account has financial records. */
    isRetained: flag('is_retained').notNull().default(false),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('setup_intents_status', 'status', SETUP.states),
    index('setup_intents_ended').on(table.expiresAt).where(sql`status = 'expired' AND is_retained = 0`),
    index('setup_intents_expiring').on(table.expiresAt).where(sql`status <> 'expired' AND expires_at IS NOT NULL`),
  ],
);

export type SetupIntent = typeof setupIntents.$inferSelect;
