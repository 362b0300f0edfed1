import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, EndpointId } from '#core/ids.ts';
import { DELIVERY, type DeliveryStatus, ENDPOINT, type EndpointStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf } from './columns.ts';
import type { NewStoredEvent } from './events.ts';

/** The maker of an endpoint: a key, or a signed-in person by the id of the account. */
export interface Maker {
  kind: 'key' | 'person';
  id: string;
}

/** Where a merchant, or an automation platform on their behalf, wants events. */
export const webhookEndpoints = sqliteTable(
  'webhook_endpoints',
  {
    id: text('id').$type<EndpointId>().primaryKey(),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    kind: text('kind').$type<'webhook' | 'automation'>().notNull(),
    url: text('url').notNull(),
    description: text('description'),
    eventTypes: json<string[]>('event_types').notNull(),
    /** Empty: events of all products. */
    productIds: json<string[]>('product_ids').notNull(),
    status: text('status').$type<EndpointStatus>().notNull(),
    disabledReason: text('disabled_reason'),
    signedPayload: text('signed_payload').$type<'timestamp.body' | 'body'>().notNull(),
    secretSealed: text('secret_sealed').notNull(),
    secretHint: text('secret_hint').notNull(),
    /** The secrets before the last rotations, newest first, each signing beside the new one until its time is over. */
    previousSealed: json<{ sealed: string; until: number }[]>('previous_sealed'),
    /** When the last of them is over. */
    previousUntil: instant('previous_until'),
    lastSuccessAt: instant('last_success_at'),
    lastFailureAt: instant('last_failure_at'),
    failureStreak: integer('failure_streak').notNull(),
    failingSince: instant('failing_since'),
    /** How many warnings of the present failure its merchant was sent. */
    warningsTold: integer('warnings_told').notNull().default(0),
    createdBy: json<Maker>('created_by').notNull(),
    /** The giver of its present URL or secret; null: its maker. */
    changedBy: json<Maker>('changed_by'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('webhook_endpoints_status', 'status', ENDPOINT.states),
    // Begins as features/seals/store.ts says.
    index('webhook_endpoints_sealed').on(sql`substr(secret_sealed, 1, 8)`),
    index('webhook_endpoints_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('webhook_endpoints_by_status').on(table.merchantId, table.livemode, table.status),
  ],
);

/** How many deliveries of an endpoint ended in an hour, so that its merchant's health is read and not counted. */
export const endpointHours = sqliteTable(
  'endpoint_hours',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** When it began. */
    hour: instant('hour').notNull(),
    endpointId: text('endpoint_id').$type<EndpointId>().notNull(),
    succeeded: integer('succeeded').notNull(),
    /** Succeeded or failed for good. */
    ended: integer('ended').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.livemode, table.hour, table.endpointId] }),
    index('endpoint_hours_ending').on(table.hour),
  ],
);

/** One event for one endpoint. It is about an event, so it has none: it moves by compare-and-set on attempt and lease. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    endpointId: text('endpoint_id').$type<EndpointId>().notNull(),
    eventId: text('event_id').notNull(),
    eventType: text('event_type').notNull(),
    status: text('status').$type<DeliveryStatus>().notNull(),
    /** Attempts made. */
    attempt: integer('attempt').notNull(),
    maxAttempts: integer('max_attempts').notNull(),
    /** null: over, or held back until its broken endpoint has answered. */
    nextAttemptAt: instant('next_attempt_at'),
    leaseUntil: instant('lease_until').notNull(),
    responseStatus: integer('response_status'),
    responseMs: integer('response_ms'),
    responseExcerpt: text('response_excerpt'),
    error: text('error'),
    replayOf: integer('replay_of'),
    createdAt: instant('created_at').notNull(),
    completedAt: instant('completed_at'),
    /** The event of a test, which is stored nowhere else; its outcome is no sign of the endpoint's health. null: no test. */
    testEvent: json<NewStoredEvent>('test_event'),
  },
  (table) => [
    oneOf('webhook_deliveries_status', 'status', DELIVERY.states),
    uniqueIndex('webhook_deliveries_once').on(table.eventId, table.endpointId).where(sql`replay_of IS NULL`),
    index('webhook_deliveries_due').on(table.nextAttemptAt).where(sql`status IN ('pending', 'retrying')`),
    index('webhook_deliveries_waiting').on(table.endpointId, table.nextAttemptAt).where(sql`status IN ('pending', 'retrying')`),
    // An index ends in the rowid, which `id` is.
    index('webhook_deliveries_by_merchant').on(table.merchantId, table.livemode),
    index('webhook_deliveries_by_status').on(table.merchantId, table.livemode, table.status),
    index('webhook_deliveries_by_endpoint').on(table.merchantId, table.livemode, table.endpointId),
    index('webhook_deliveries_by_event').on(table.eventId),
    index('webhook_deliveries_oldest').on(table.merchantId, table.livemode, table.createdAt).where(sql`status IN ('pending', 'retrying')`),
    index('webhook_deliveries_ended').on(table.completedAt).where(sql`completed_at IS NOT NULL`),
  ],
);

export type Endpoint = typeof webhookEndpoints.$inferSelect;

export type Delivery = typeof webhookDeliveries.$inferSelect;
