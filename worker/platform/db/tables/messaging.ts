import { sql } from 'drizzle-orm';
import { index, integer, primaryKey, sqliteTable, text, uniqueIndex } from 'drizzle-orm/sqlite-core';
import type { AccountId, EndpointId } from '#core/ids.ts';
import type { EventType, SubjectType } from '#rules/events.ts';
import { DELIVERY, type DeliveryStatus, ENDPOINT, type EndpointStatus } from '#rules/states.ts';
import { flag, instant, json, oneOf } from './columns.ts';

/** When the sweep may look for an event that is not fanned out. The index is made of it, so a query that reads the index says the same. */
export const EVENT_DUE_AT = sql`CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END`;

/** Lock, audit, timeline and outbox of every named state change. */
export const events = sqliteTable(
  'events',
  {
    /** Lists page by it: insertion order, stable while new events arrive. */
    seq: integer('seq').primaryKey({ autoIncrement: true }),
    id: text('id').notNull().unique(),
    merchantId: text('merchant_id').notNull(),
    livemode: flag('livemode').notNull(),
    subjectType: text('subject_type').$type<SubjectType>().notNull(),
    subjectId: text('subject_id').notNull(),
    subjectVersion: integer('subject_version').notNull(),
    type: text('type').$type<EventType>().notNull(),
    data: json<{ object: object; previous?: object }>('data').notNull(),
    productId: text('product_id'),
    paymentId: text('payment_id'),
    membershipId: text('membership_id'),
    requestId: text('request_id').notNull(),
    createdAt: instant('created_at').notNull(),
    /** When its deliveries were written; until then the sweep may find it. */
    fannedOutAt: instant('fanned_out_at'),
    /** When the sweep tries again what it could not fan out; null: it did not try yet. */
    nextTryAt: instant('next_try_at'),
  },
  (table) => [
    index('events_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 1`),
    index('sandbox_events_due').on(EVENT_DUE_AT).where(sql`fanned_out_at IS NULL AND livemode = 0`),
    // What a sandbox session brought about, in its order.
    index('sandbox_events_by_session').on(table.requestId).where(sql`livemode = 0`),
    uniqueIndex('events_once').on(table.subjectId, table.subjectVersion),
    // An index ends in the rowid, which `seq` is.
    index('events_by_merchant').on(table.merchantId, table.livemode),
    // For what a merchant missed since a moment.
    index('events_by_time').on(table.merchantId, table.livemode, table.createdAt),
    index('events_by_type').on(table.merchantId, table.livemode, table.type),
    index('events_by_payment').on(table.paymentId, table.createdAt).where(sql`payment_id IS NOT NULL`),
    index('events_by_membership').on(table.membershipId, table.createdAt).where(sql`membership_id IS NOT NULL`),
  ],
);

/** Where a merchant, or an automation platform in his name, wants events. */
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

/** Idempotency records: the finished answer, written in the batch of its effect, or a lease while an external call runs. */
export const claims = sqliteTable(
  'claims',
  {
    scope: text('scope').notNull(),
    key: text('key').notNull(),
    fingerprint: text('fingerprint').notNull(),
    status: integer('status'),
    body: text('body'),
    /** Where the answer holds a secret: it stands here, sealed, instead of in `body`. */
    sealedBody: text('sealed_body'),
    /** Names one taking of a lease and never another; only its holder may finish. */
    fence: integer('fence').notNull(),
    leaseUntil: instant('lease_until'),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.scope, table.key] }),
    index('claims_expiring').on(table.expiresAt),
    // Begins as features/seals/store.ts says.
    index('claims_sealed').on(sql`substr(sealed_body, 1, 8)`).where(sql`sealed_body IS NOT NULL`),
  ],
);

/** Never holds a row: inserting NULL fails the batch, which is how a statement can veto its neighbours. */
export const guard = sqliteTable('guard', { veto: integer('veto').notNull() });

export type Endpoint = typeof webhookEndpoints.$inferSelect;

export type Delivery = typeof webhookDeliveries.$inferSelect;

export type StoredEvent = typeof events.$inferSelect;
