import { PEPPER_BYTES, secretRing } from '#core/crypto.ts';
import { QUARTER } from '#core/days.ts';
import { newEventId } from '#core/ids.ts';
import { DAY, iso, MINUTE, SECOND } from '#core/time.ts';
import { CLAIM_GRACE_MS } from '#features/agent-setup/expire.ts';
import { EMAILED_BEFORE_MS } from '#features/email-delivery/due-plans.ts';
import { UNSIGNED_RETENTION_MS } from '#features/payments/refunds/expire-refunds.ts';
import { SWEEP_PATIENCE_MS } from '#features/payments/watch/candidates.ts';
import { UNPAID_RETENTION_MS } from '#features/payments/watch/ended-sessions.ts';
import { EXPIRY_PATIENCE_MS } from '#features/payments/watch/expire.ts';
import { ARCHIVED_AFTER_MS, DRAFT_MS, GATHER_MS, PASSED_ACT } from '#features/retention/archive.ts';
import { retentionMsOf, SETUP_RETENTION_MS } from '#features/retention/retention.ts';
import { AGAIN_MS, SANDBOX_PATIENCE_MS, SESSION_RETENTION_MS, STALLED_AFTER_MS } from '#features/sandbox/sweep.ts';
import { SILENT_MS } from '#features/support/close-silent.ts';
import { QUEUE_PATIENCE_MS } from '#features/webhooks/deliveries/fan-out.ts';
import { type Ctx, hasSubscriptions, hasX402 } from '#platform/context.ts';
import type { DueWork } from '#platform/db/due/due-work.ts';
import { hasDirectory } from '#platform/db/names/names.ts';
import { ACT_EVENTS_MAX } from '#platform/db/tables/events.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { missingForDelivery } from '#platform/providers/messaging/platforms.ts';
import { PARKED_RETENTION_MS } from '#platform/queues/parked-messages.store.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';

/** Earliest value of an indexed column, plus a delay. Reads one row, the first of the index that the sweep itself reads. */
const first = (rows: string, column: string, delayMs = 0): string => `SELECT min(${column}) + ${delayMs} FROM ${rows}`;

const EVENT_DUE_AT = 'CASE WHEN next_try_at IS NULL THEN created_at ELSE next_try_at END';
/** Interval of the scan for payments without an open checkout: late money, and second payments. */
const IDLE_SCAN_MS = 10 * MINUTE;
/** Must not exceed the overlap of readings in fee-payer-readings.store.ts. */
const IDLE_READING_MS = 5 * MINUTE;

const candidatesDue = (origin: string, patienceMs: number): string =>
  first(`payment_candidates WHERE origin = '${origin}' AND livemode = 1`, 'next_check_at', patienceMs);
const candidates = (...work: string[]): DueWork => ({ work, gate: 'SELECT 1 FROM payment_candidates' });
const channelsDue = (is: string, index: string): string =>
  first(`metered_sessions INDEXED BY ${index} WHERE ${is} AND next_check_at IS NOT NULL AND livemode = 1`, 'next_check_at');
const CLOSING = channelsDue("status = 'closing'", 'metered_sessions_closing');
const ACTIVE = channelsDue("status = 'open'", 'metered_sessions_active');
const channels = (...work: string[]): DueWork => ({
  work,
  gate: 'SELECT 1 FROM metered_sessions INDEXED BY metered_sessions_operators WHERE next_check_at IS NOT NULL AND livemode = 1',
});
const authorizations = (column: string, is = '') => `subscription_authorizations WHERE ${column} IS NOT NULL AND livemode = 1${is}`;
const UNPAID = "payments WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION') AND livemode = 1";
const IS_UNPAID = `SELECT 1 FROM ${UNPAID}`;
const UNSETTLED = first("settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL AND livemode = 1", 'next_check_at');

/** Work on payments. */
const paymentWork = ({ config, now }: Ctx) => {
  const subscriptions = (...work: string[]): DueWork => ({ work: hasSubscriptions(config) ? work : [] });
  const scan = (index: number): DueWork =>
    config.SERVICE_REFERENCE[index] === undefined
      ? { work: [] }
      : { work: [`SELECT created_at FROM ${UNPAID} ORDER BY expires_at LIMIT 1`], gate: IS_UNPAID, idleMs: IDLE_SCAN_MS };
  return {
    reference: scan(0),
    reference2: scan(1),
    reference3: scan(2),
    reference4: scan(3),
    candidates: candidates(candidatesDue('found', SWEEP_PATIENCE_MS), candidatesDue('judged', 0)),
    expired: { work: [first(UNPAID, 'expires_at', EXPIRY_PATIENCE_MS + config.LATE_GRACE_SECONDS * SECOND)], gate: IS_UNPAID },
    sentCandidates: candidates(candidatesDue('sent', SWEEP_PATIENCE_MS)),
    namedCandidates: candidates(candidatesDue('named', SWEEP_PATIENCE_MS)),
    finality: {
      work: ['tx_claims', 'unmatched_payments'].map((table) =>
        first(`${table} WHERE next_check_at IS NOT NULL AND livemode = 1`, 'next_check_at'),
      ),
    },
    // A voucher of an open channel may end soon, so its checks are work of both.
    closingChannels: channels(CLOSING, ACTIVE),
    activeChannels: channels(ACTIVE),
    channelOpenings: channels(channelsDue("status = 'created' AND channel_id IS NOT NULL", 'metered_sessions_opening')),
    endedChannels: channels(channelsDue('ended_at IS NOT NULL', 'metered_sessions_ended')),
    unopenedSessions: channels(channelsDue("status = 'created' AND channel_id IS NULL", 'metered_sessions_unopened')),
    collections: subscriptions(first(authorizations('collect_at'), 'collect_at')),
    subscriptionCheckouts: subscriptions(first(authorizations('next_check_at', " AND status = 'pending'"), 'next_check_at')),
    subscriptions: subscriptions(first(authorizations('next_check_at', " AND status <> 'pending'"), 'next_check_at')),
    settlements: { work: [UNSETTLED] },
    // Settlements under way spend fees, and an act may have been paid for just before.
    feePayer: {
      work: [
        UNSETTLED,
        `SELECT created_at FROM (SELECT created_at FROM acts ORDER BY seq DESC LIMIT 1) WHERE created_at > ${now - IDLE_READING_MS}`,
      ],
      aheadMs: DAY,
      idleMs: IDLE_READING_MS,
    },
  } satisfies Record<string, DueWork>;
};

const customerWork = (ctx: Ctx) => ({
  memberships: {
    work: [
      first("memberships WHERE status = 'active' AND livemode = 1", 'paid_through'),
      first("memberships WHERE status = 'grace' AND livemode = 1", 'grace_until'),
    ],
  },
  // The objects end entitlements by wall time, the sweep only where business time differs from that.
  entitlements: { work: [], ...(ctx.now === ctx.wallNow ? {} : { idleMs: 0 }) },
  plans: { work: [first('accounts WHERE plan_through IS NOT NULL', 'plan_through')] },
  erasures: { work: [first("accounts WHERE status = 'deleted' AND erased_at IS NULL", 'deleted_at')] },
  listings: {
    work: hasX402(ctx.config) ? [first('listings WHERE next_probe_at IS NOT NULL', 'next_probe_at')] : [],
    isOfWallTime: true,
  },
  fanOut: { work: [first('acts WHERE fanned_out_at IS NULL AND livemode = 1', EVENT_DUE_AT, QUEUE_PATIENCE_MS)] },
  deliveries: {
    work: [first("webhook_deliveries WHERE status IN ('pending', 'retrying')", 'next_attempt_at', QUEUE_PATIENCE_MS)],
    isOfWallTime: true,
  },
  mails: {
    work: hasMail(ctx)
      ? [
          first(
            'mails WHERE next_attempt_at IS NOT NULL',
            'CASE WHEN queued_until > next_attempt_at THEN queued_until ELSE next_attempt_at END',
          ),
        ]
      : [],
    isOfWallTime: true,
  },
  placements: {
    work: IDENTITY_PROVIDERS.filter((provider) => missingForDelivery(ctx.config, provider).length === 0).map((provider) =>
      first(`placements WHERE provider = '${provider}' AND next_attempt_at IS NOT NULL AND livemode = 1`, 'next_attempt_at'),
    ),
    gate: 'SELECT 1 FROM placements INDEXED BY placements_due WHERE next_attempt_at IS NOT NULL AND livemode = 1',
    isOfWallTime: true,
  },
  analytics: {
    work: [
      `SELECT created_at FROM acts WHERE seq >= (SELECT (coalesce(min(seq), 0) + 1) / ${ACT_EVENTS_MAX} FROM analytics_cursors) ORDER BY seq LIMIT 1`,
      `SELECT quarter + ${QUARTER} FROM ended_deliveries LIMIT 1`,
    ],
    aheadMs: QUARTER,
  },
});

const ofWallTime = (rows: string, column: string, delayMs: number): DueWork => ({
  work: [first(rows, column, delayMs)],
  isOfWallTime: true,
});

/** Work of the sweep that begins with the oldest event. */
const deliveriesEnd = (before: number): DueWork => ({
  work: [
    `SELECT completed_at + ${retentionMsOf('deliveries')} FROM webhook_deliveries WHERE event_id <= '${newEventId(before, null)}'
      AND completed_at <= ${before} ORDER BY event_id LIMIT 1`,
  ],
  isOfWallTime: true,
});

const retentionWork = (ctx: Ctx) => {
  const dayStart = ctx.wallNow - (ctx.wallNow % DAY);
  return {
    loginNonces: ofWallTime('login_nonces', 'expires_at', retentionMsOf('loginNonces')),
    pendingTotp: ofWallTime('totp_secrets', 'expires_at', retentionMsOf('pendingTotp')),
    usedSignInStates: ofWallTime('used_sign_in_states', 'expires_at', retentionMsOf('usedSignInStates')),
    handoffs: { work: [first('handoffs', 'expires_at', retentionMsOf('handoffs'))] },
    identities: { work: [first('identity_sessions', 'expires_at', retentionMsOf('identitySessions'))] },
    paymentSessions: { work: [first('payment_sessions', 'expires_at', retentionMsOf('paymentSessions'))] },
    endedMeteredSessions: { work: [first('metered_sessions WHERE ended_at IS NOT NULL', 'ended_at', retentionMsOf('meteredSessions'))] },
    endedAuthorizations: {
      work: [first('subscription_authorizations WHERE ended_at IS NOT NULL', 'ended_at', retentionMsOf('authorizations'))],
    },
    failedSettlements: {
      work: [first("settlements WHERE status = 'failed' AND next_check_at IS NULL", 'created_at', retentionMsOf('failedSettlements'))],
    },
    refunds: { work: [first('refunds WHERE seen_at IS NULL', 'expires_at', UNSIGNED_RETENTION_MS)] },
    sandboxTransactions: {
      work: [first("sandbox_transactions WHERE session_id = ''", 'created_at', retentionMsOf('sandboxTransactions'))],
    },
    sandboxAccounts: { work: [first("sandbox_accounts WHERE session_id = ''", 'needed_at', retentionMsOf('sandboxAccounts'))] },
    processorEvents: ofWallTime('processor_events', 'received_at', retentionMsOf('processorEvents')),
    endedDeliveries: deliveriesEnd(ctx.wallNow - retentionMsOf('deliveries')),
    endpointHours: ofWallTime('endpoint_hours', 'hour', retentionMsOf('endpointHours')),
    communityCodes: ofWallTime('communities WHERE expires_at IS NOT NULL', 'expires_at', retentionMsOf('communityCodes')),
    endedMails: ofWallTime('mails WHERE ended_at IS NOT NULL', 'ended_at', retentionMsOf('mails')),
    endedSetups: { work: [first("setup_intents WHERE status = 'expired' AND is_retained = 0", 'expires_at', SETUP_RETENTION_MS)] },
    endedSessions: { work: [first("payments WHERE status = 'FAILED' AND is_retained = 0", 'expires_at', UNPAID_RETENTION_MS)] },
    endedSandboxes: ofWallTime('sandbox_sessions WHERE ended_at IS NOT NULL', 'ended_at', SESSION_RETENTION_MS),
    // The archive takes a day after its end, and days with few events of a merchant later.
    archive: {
      work: ctx.env.ARCHIVE
        ? [
            `SELECT created_at - created_at % ${DAY} + ${DAY + ARCHIVED_AFTER_MS} FROM acts WHERE seq > ${PASSED_ACT} ORDER BY seq LIMIT 1`,
            `SELECT created_at - created_at % ${DAY} + ${DAY + ARCHIVED_AFTER_MS + GATHER_MS} FROM acts ORDER BY seq LIMIT 1`,
            first('archive_drafts', 'begun_at', DRAFT_MS),
          ]
        : [],
    },
    parked: {
      work: [
        first("parked_messages WHERE reason = 'unknown_kind'", 'parked_at'),
        first('parked_messages', 'parked_at', PARKED_RETENTION_MS),
      ],
      isOfWallTime: true,
    },
    audit: {
      work: [
        `SELECT iif(a.day IS NULL, ${dayStart}, a.due_at) FROM (SELECT 1) LEFT JOIN audits a ON a.day = '${iso(dayStart).slice(0, 10)}'`,
      ],
      isOfWallTime: true,
    },
    // Deletes as it walks through all records, because these have no index by age.
    idempotency: { work: [], idleMs: 0 },
    // Reservations end in the directory, which has no tick of its own.
    names: { work: [], ...(hasDirectory(ctx) ? { idleMs: 0 } : {}) },
    seals: { work: [], idleMs: 0 },
    peppers: { work: [], ...(secretRing(ctx.config.PEPPER, PEPPER_BYTES).length > 1 ? { idleMs: 0 } : {}) },
  } satisfies Record<string, DueWork>;
};

/** Work of a few rows a day, for which a delay of minutes does not matter. */
const seldomWork = (ctx: Ctx) => ({
  setups: { work: [first("setup_intents WHERE status <> 'expired' AND expires_at IS NOT NULL", 'expires_at', CLAIM_GRACE_MS)] },
  duePlans: {
    work: hasMail(ctx)
      ? [
          first(`accounts WHERE plan_through IS NOT NULL AND plan_through > ${ctx.now}`, 'plan_through', -EMAILED_BEFORE_MS),
          first(
            `billing_customers WHERE current_period_end IS NOT NULL AND current_period_end > ${ctx.wallNow}`,
            'current_period_end',
            -EMAILED_BEFORE_MS,
          ),
        ]
      : [],
  },
  tickets: { work: [first("support_tickets WHERE status = 'resolved' AND sandbox_session_id IS NULL", 'updated_at', SILENT_MS)] },
  domains: { work: [first('seller_domains', 'next_check_at')], isOfWallTime: true },
  // Driven by messages of its own. This finds a lost one.
  erasedCustomers: { work: [first('customers WHERE erase_at IS NOT NULL', 'erase_at')], isOfWallTime: true },
  auditChain: { work: [first('audit_entries WHERE hash IS NULL', 'at', QUEUE_PATIENCE_MS)], isOfWallTime: true },
  customers: {
    work: ctx.config.PROCESSOR_API_KEY === undefined ? [] : [first('billing_customers WHERE erasing_since IS NOT NULL', 'erasing_since')],
  },
  cardPlans: {
    work: ctx.config.PROCESSOR_API_KEY === undefined ? [] : [first('billing_customers WHERE next_read_at IS NOT NULL', 'next_read_at')],
    isOfWallTime: true,
  },
});

/** Sandbox rows that fell due since the last complete sweep, as in `listDueMerchants`, and those of sessions. */
function sandboxWork(): { sandboxes: DueWork } {
  const since = (rows: string, column: string, delayMs = 0) =>
    first(`${rows} AND livemode = 0 AND ${column} >= coalesce(sandbox_cursor.passed_at, 0) - ${AGAIN_MS}`, column, delayMs);
  const checks = (rows: string, delayMs = 0) => since(rows, 'next_check_at', delayMs);
  return {
    sandboxes: {
      work: [
        first("sandbox_sessions WHERE status = 'running'", 'moved_at', STALLED_AFTER_MS),
        since("payments WHERE status IN ('PENDING_SIGNATURE', 'PENDING_CONFIRMATION')", 'expires_at', MINUTE),
        since("memberships WHERE status = 'active'", 'paid_through'),
        since("memberships WHERE status = 'grace'", 'grace_until'),
        since('subscription_authorizations WHERE collect_at IS NOT NULL', 'collect_at'),
        since('acts WHERE fanned_out_at IS NULL', EVENT_DUE_AT, SANDBOX_PATIENCE_MS),
        since('placements WHERE next_attempt_at IS NOT NULL', 'next_attempt_at', SANDBOX_PATIENCE_MS),
        checks("settlements WHERE status <> 'settled' AND next_check_at IS NOT NULL"),
        `SELECT CASE WHEN EXISTS (SELECT 1 FROM payment_candidates WHERE livemode = 0) THEN (${checks(
          "payment_candidates WHERE origin IN ('found', 'sent', 'named')",
          SANDBOX_PATIENCE_MS,
        )}) END`,
        ...['metered_sessions', 'subscription_authorizations', 'tx_claims', 'unmatched_payments'].map((table) =>
          checks(`${table} WHERE next_check_at IS NOT NULL`),
        ),
      ],
    },
  };
}

const ASKED_EVERY_MS = 10 * MINUTE;
const askedSeldom = <Name extends string>(works: Record<Name, DueWork>): Record<Name, DueWork> =>
  Object.fromEntries(Object.entries<DueWork>(works).map(([name, work]) => [name, { ...work, askedEveryMs: ASKED_EVERY_MS }])) as Record<
    Name,
    DueWork
  >;

/** Work of each sweep. A tick asks for that of most sweeps each minute. */
export const dueWorkOf = (ctx: Ctx) => ({
  ...paymentWork(ctx),
  ...customerWork(ctx),
  ...sandboxWork(),
  ...askedSeldom({ ...seldomWork(ctx), ...retentionWork(ctx) }),
});
export type SweepName = keyof ReturnType<typeof dueWorkOf>;
