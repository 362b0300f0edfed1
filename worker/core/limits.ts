/**
 * Figures that every caller meets, whatever the plan: each is written here alone. The document, the error texts and the code take
 * them from here; those of plans and rates are in plans.ts.
 * @module
 */

/** Rows of a page, of any list but those that say otherwise. */
export const PER_PAGE = { max: 100, default: 20 };
/** Rows of a page of support tickets. */
export const TICKETS_PER_PAGE = { max: 50, default: 20 };
/** Messages to support that one account may write in an hour, on all its tickets together. */
export const SUPPORT_MESSAGES_MAX = 50;
/** Entries of a timeline. */
/** Messages of a thread that are shown at once, and characters of them all; one is always shown. */
export const THREAD_MAX = { messages: 50, characters: 60_000 };
export const TIMELINE = { max: 120, default: 40 };
/** Counting stops here, and no page begins behind it: a longer list says so instead of scanning itself. */
export const COUNTED_ROWS_MAX = 10_000;
/** Rows that a list counts under a filter that is not a merchant, a product or a customer alone. */
export const COUNTED_FILTERED_MAX = 2_000;

/** Characters of an Idempotency-Key. */
export const IDEMPOTENCY_KEY = { min: 8, max: 255 };
/** Characters of the name a merchant gives to a product or a customer. */
export const OWN_NAME_MAX = 180;
/** Keys of an object's metadata, and characters of a key and of a value. */
export const METADATA = { keysMax: 50, keyMax: 40, valueMax: 500 };
/** Kilobytes of a body: a manifest or invoice metadata is long, and what a provider sends is read before anything proves who sent it. */
export const BODY_KB = { usual: 64, provider: 256, long: 1024 };

/** Hours that delivered access outlives paid time where a product does not say. */
export const GRACE_HOURS = 72;

/** How long a payment session, a hand-off or a setup waits for its buyer or its owner. */
export const LIFE = {
  paymentSessionMinutes: 30,
  handoffMinutes: 10,
  identityMinutes: 10,
  setupHours: 24,
  refundHours: 24,
  claimMinutes: 10,
  channelOpenMinutes: 60,
};
/** Chats and guilds that one account may have claimed, with the codes that wait for an administrator. */
export const COMMUNITIES_MAX = 200;
/** How many days an endpoint may fail without one success before it is disabled. */
export const ENDPOINT_FAILING_DAYS = 5;
/** Sessions of one product that strangers may hold open. */
export const OPEN_SESSIONS_MAX = 1000;
