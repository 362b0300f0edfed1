import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, EndpointId } from '#core/ids.ts';
import { DELIVERY, type DeliveryStatus, ENDPOINT, type EndpointStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf, uuidBytes } from './columns.ts';
import type { NewStoredEvent } from './events.ts';

export interface Maker {
  kind: 'key' | 'person';
  id: string;
}

export const webhookEndpoints = sqliteTable(
  'webhook_endpoints',
  {
    id: uuidBytes('id').$type<EndpointId>().primaryKey(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
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
    changedAt: instant('changed_at'),
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

/** Ended deliveries of sandbox sessions per endpoint and hour. The analytics, which count all others, leave sessions out. */
export const endpointHours = sqliteTable(
  'endpoint_hours',
  {
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    hour: instant('hour').notNull(),
    endpointId: uuidBytes('endpoint_id').$type<EndpointId>().notNull(),
    succeeded: integer('succeeded').notNull(),
    ended: integer('ended').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.merchantId, table.livemode, table.hour, table.endpointId] }),
    index('endpoint_hours_ending').on(table.hour),
  ],
);

export interface FailedAttempt {
  at: number;
  status: number | null;
  ms: number;
  error: string | null;
}

/** Delivery of one event to one endpoint. No events of its own: it changes by compare-and-set on attempt and lease. */
export const webhookDeliveries = sqliteTable(
  'webhook_deliveries',
  {
    eventId: text('event_id').notNull(),
    endpointId: uuidBytes('endpoint_id').$type<EndpointId>().notNull(),
    /** 0, or the id of this delivery if it repeats another. */
    copy: integer('copy').notNull(),
    /** Unique per merchant and mode. At least the wall time in units of 1/64 ms, so a number is never used twice. */
    id: integer('id').notNull(),
    merchantId: uuidBytes('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
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
    /** Failed attempts in order. null: none. */
    failures: json<FailedAttempt[]>('failures'),
  },
  (table) => [
    oneOf('webhook_deliveries_status', 'status', DELIVERY.states),
    // WITHOUT ROWID. Of an event and endpoint one delivery is no copy. Event ids begin with their time.
    primaryKey({ columns: [table.eventId, table.endpointId, table.copy] }),
    uniqueIndex('webhook_deliveries_by_endpoint').on(table.merchantId, table.livemode, table.endpointId, table.id),
    // The due time of held deliveries is null: those of an endpoint are found by it.
    index('webhook_deliveries_due').on(table.nextAttemptAt, table.endpointId, table.id).where(sql`status IN ('pending', 'retrying')`),
    // Only a failed attempt writes an entry.
    index('webhook_deliveries_failed')
      .on(table.merchantId, table.livemode, table.status, table.id)
      .where(sql`status IN ('retrying', 'failed', 'cancelled')`),
  ],
);

export type Endpoint = typeof webhookEndpoints.$inferSelect;

export type Delivery = typeof webhookDeliveries.$inferSelect;
