/**
 * Figures that every caller meets, whatever the plan: each is written here alone. The document, the error texts and the code take
 * them from here; those of plans and rates are in plans.ts.
 * @module
 */

/** Rows of a page, of any list but those that say otherwise. */
export const PER_PAGE = { max: 100, default: 20 };
/** Entries of a timeline. */
export const TIMELINE = { max: 120, default: 40 };
/** Counting stops here, and no page begins behind it: a longer list says so instead of scanning itself. */
export const COUNTED_ROWS_MAX = 10_000;

/** Characters of an Idempotency-Key. */
export const IDEMPOTENCY_KEY = { min: 8, max: 255 };
/** Characters of the name a merchant gives to a product or a customer. */
export const OWN_NAME_MAX = 180;
/** Kilobytes of a body; the longer ones are manifests and what providers send. */
export const BODY_KB = { usual: 64, long: 1024 };

/** How long a payment session, a hand-off or a setup waits for its buyer or its owner. */
export const LIFE = { paymentSessionMinutes: 30, handoffMinutes: 10, identityMinutes: 10, setupHours: 24, refundHours: 24 };
/** How many days an endpoint may fail without one success before it is disabled. */
export const ENDPOINT_FAILING_DAYS = 5;
/** Sessions of one product that strangers may hold open. */
export const OPEN_SESSIONS_MAX = 1000;
