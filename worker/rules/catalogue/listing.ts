/**
 * Rules of the catalogue: why a resource is not listed, and for how long it is. Pure.
 * @module
 */

import { DAY } from '#core/time.ts';

/** What a look at a URL can find, other than a good challenge. */
export const LOOK_REASONS = [
  'no_origin',
  'mcp_not_looked_at',
  'example_missing',
  'unreachable',
  'redirected',
  'status_not_402',
  'challenge_unreadable',
  'challenge_not_yours',
  'payee_differs',
  'schema_invalid',
] as const;
export type LookReason = (typeof LOOK_REASONS)[number];

/** Reasons in the order in which they are reported. */
export const LISTING_REASONS = [
  'sandbox',
  'not_opted_in',
  'product_archived',
  'no_route',
  'not_ready',
  ...LOOK_REASONS,
  'look_pending',
  'stale',
] as const;
export type ListingReason = (typeof LISTING_REASONS)[number];

/** Another's challenge or payee ends a listing at once. Any other failure may be one bad minute. */
const FOREIGN: readonly LookReason[] = ['no_origin', 'challenge_not_yours', 'payee_differs'];
export const isForeign = (reason: LookReason): boolean => FOREIGN.includes(reason);

/** A look is due again after this time, good or not. */
const LOOK_EVERY_MS = DAY;

/** A listing is public for this long after a good look. */
export const LISTED_MS = 3 * DAY;
/** A resource of the facilitator ends after this time without a settled payment. */
export const UNPAID_MS = 30 * DAY;
/** Resources of one merchant that the facilitator may add. */
export const FACILITATED_MAX = 200;

/** Due time of the next look. Null: only a change of the row helps. */
export const nextLookAt = (reason: LookReason | null, now: number): number | null =>
  reason === 'no_origin' || reason === 'mcp_not_looked_at' || reason === 'example_missing' ? null : now + LOOK_EVERY_MS;

/** Request that finds out what a URL answers. */
export interface LookRequest {
  method: string;
  url: string;
  body?: string;
  contentType?: string;
}

/** What the catalogue shows of a resource besides its URL and price. */
export interface Shown {
  description?: string;
  mimeType?: string;
  serviceName?: string;
  tags?: string[];
  iconUrl?: string;
  bazaar: object;
  /** Requirements that were seen. Only of the facilitator: those of a product follow from its price. */
  accepts?: SeenRequirements[];
}

export interface SeenRequirements {
  scheme: string;
  network: string;
  asset: string;
  amount: string;
  payTo: string;
  maxTimeoutSeconds: number;
  extra?: Record<string, unknown>;
}
