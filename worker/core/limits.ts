/**
 * Limits that apply to every caller on every plan. The OpenAPI document, the error texts and the code read them here. Limits of plans and
 * rates are in plans.ts.
 * @module
 */

export const PER_PAGE = { max: 100, default: 20 };
export const TICKETS_PER_PAGE = { max: 50, default: 20 };
/** Support messages per account and hour, over all tickets. */
export const SUPPORT_MESSAGES_MAX = 50;
/** Messages shown of a thread, and their total characters. At least one message is always shown. */
export const THREAD_MAX = { messages: 50, characters: 60_000 };
export const TIMELINE = { max: 120, default: 40 };
/** Counting stops here, and no page begins after it. A longer list reports that instead of a scan. */
export const COUNTED_ROWS_MAX = 10_000;
/** Maximum rows counted under a filter other than merchant, product or customer alone. */
export const COUNTED_FILTERED_MAX = 2_000;

export const IDEMPOTENCY_KEY = { min: 8, max: 255 };
export const OWN_NAME_MAX = 180;
export const METADATA = { keysMax: 50, keyMax: 40, valueMax: 500 };
/** Request body limits in KB. Manifests and invoice metadata are long. A provider's body is read before its signature is verified. */
export const BODY_KB = { usual: 64, provider: 256, long: 1024 };

/** Default hours of grace for delivered access after paid time. */
export const GRACE_HOURS = 72;

export const LIFE = {
  paymentSessionMinutes: 30,
  handoffMinutes: 10,
  identityMinutes: 10,
  setupHours: 24,
  refundHours: 24,
  claimMinutes: 10,
  channelOpenMinutes: 60,
};
export const COMMUNITIES_MAX = 200;
export const ENDPOINT_FAILING_DAYS = 5;
/** Interval of attempts to a failing endpoint. */
export const PROBE_EVERY_MS = 5 * 60_000;
/** Metered sessions of one product without a channel. */
export const UNOPENED_SESSIONS_MAX = 1000;
