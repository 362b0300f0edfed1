import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, EndpointId } from '#core/ids.ts';
import { DELIVERY, type DeliveryStatus, ENDPOINT, type EndpointStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf } from './columns.ts';
import type { NewStoredEvent } from './events.ts';

export interface Maker {
  kind: 'key' | 'person';
  id: string;
}

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
    /** Secrets before the last rotations, newest first. Each signs in addition to the current one until its expiry. */
    previousSealed: json<{ sealed: string; until: number }[]>('previous_sealed'),
    previousUntil: instant('previous_until'),
    lastSuccessAt: instant('last_success_at'),
    lastFailureAt: instant('last_failure_at'),
    failureStreak: integer('failure_streak').notNull(),
    failingSince: instant('failing_since'),
    warningsSent: integer('warnings_sent').notNull().default(0),
    createdBy: json<Maker>('created_by').notNull(),
    /** Actor that set the current URL or secret, null: the creator. */
    changedBy: json<Maker>('changed_by'),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    version: integer('version').notNull(),
  },
  (table) => [
    oneOf('webhook_endpoints_status', 'status', ENDPOINT.states),
    // Must equal the expression in features/key-rotation/store.ts.
    index('webhook_endpoints_sealed').on(sql`substr(secret_sealed, 1, 8)`),
    index('webhook_endpoints_by_merchant').on(table.merchantId, table.livemode, table.createdAt),
    index('webhook_endpoints_by_status').on(table.merchantId, table.livemode, table.status),
  ],
);

/** Ended deliveries per endpoint and hour, so that endpoint health needs no counting. */
export const endpointHours = sqliteTable(
  'endpoint_hours',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    hour: instant('hour').notNull(),
    endpointId: text('endpoint_id').$type<EndpointId>().notNull(),
    succeeded: integer('succeeded').notNull(),
    ended: integer('ended').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.livemode, table.hour, table.endpointId] }),
    index('endpoint_hours_ending').on(table.hour),
  ],
);

/** Delivery of one event to one endpoint. No events of its own: it changes by compare-and-set on attempt and lease. */
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
    attempt: integer('attempt').notNull(),
    maxAttempts: integer('max_attempts').notNull(),
    /** null: ended, or held until the circuit breaker of the endpoint closes. */
    nextAttemptAt: instant('next_attempt_at'),
    leaseUntil: instant('lease_until').notNull(),
    responseStatus: integer('response_status'),
    responseMs: integer('response_ms'),
    responseExcerpt: text('response_excerpt'),
    error: text('error'),
    replayOf: integer('replay_of'),
    createdAt: instant('created_at').notNull(),
    completedAt: instant('completed_at'),
    /** Event of a test delivery, stored only here. Its outcome does not affect endpoint health. null: no test. */
    testEvent: json<NewStoredEvent>('test_event'),
  },
  (table) => [
    oneOf('webhook_deliveries_status', 'status', DELIVERY.states),
    // Finds the deliveries of an event too. One of an event and endpoint is no replay.
    uniqueIndex('webhook_deliveries_once').on(table.eventId, table.endpointId, sql`CASE WHEN replay_of IS NULL THEN 0 ELSE id END`),
    index('webhook_deliveries_due').on(table.nextAttemptAt).where(sql`status IN ('pending', 'retrying')`),
    index('webhook_deliveries_waiting').on(table.endpointId, table.nextAttemptAt).where(sql`status IN ('pending', 'retrying')`),
    // Every index ends in the rowid, which is `id`.
    index('webhook_deliveries_by_merchant').on(table.merchantId, table.livemode),
    // Nearly all deliveries end succeeded, so a list of those reads few others on its way.
    index('webhook_deliveries_unsucceeded').on(table.merchantId, table.livemode, table.status).where(sql`status <> 'succeeded'`),
    index('webhook_deliveries_by_endpoint').on(table.merchantId, table.livemode, table.endpointId),
    index('webhook_deliveries_ended').on(table.completedAt).where(sql`completed_at IS NOT NULL`),
  ],
);

export type Endpoint = typeof webhookEndpoints.$inferSelect;

export type Delivery = typeof webhookDeliveries.$inferSelect;
