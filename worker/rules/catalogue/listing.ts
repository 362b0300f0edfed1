/**
 * Rules of the catalogue: why a resource is not listed, and for how long it is. Pure.
 * @module
 */

import { DAY } from '#core/time.ts';

/** Results of a probe other than a good challenge. */
export const PROBE_REASONS = [
  'not_ready',
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
export type ProbeReason = (typeof PROBE_REASONS)[number];

/** Reasons in the order in which they are reported. */
export const LISTING_REASONS = [
  'sandbox',
  'not_opted_in',
  'product_archived',
  'no_route',
  ...PROBE_REASONS,
  'look_pending',
  'stale',
] as const;
export type ListingReason = (typeof LISTING_REASONS)[number];

/** Reasons that end a listing at once, such as another's challenge or payee. Any other failure may be one bad minute. */
const FOREIGN: readonly ProbeReason[] = ['not_ready', 'no_origin', 'challenge_not_yours', 'payee_differs'];
export const isForeign = (reason: ProbeReason): boolean => FOREIGN.includes(reason);

/** A probe is due again after this time, good or not. */
const PROBE_EVERY_MS = DAY;

/** A listing is public for this long after a good probe. */
export const LISTED_MS = 3 * DAY;
/** A payment is noted at most once in this time, because most resources are paid for far more often. */
export const NOTED_MS = DAY;
/** A resource of the facilitator ends after this time without a settled payment. */
export const UNPAID_MS = 30 * DAY + NOTED_MS;
/** Resources of one merchant that the facilitator may add. */
export const FACILITATED_MAX = 200;

const ENDLESS: readonly ProbeReason[] = ['not_ready', 'no_origin', 'mcp_not_looked_at', 'example_missing'];

/** Due time of the next probe. Null: only a change of the row helps. */
export const nextProbeAt = (reason: ProbeReason | null, now: number): number | null =>
  reason !== null && ENDLESS.includes(reason) ? null : now + PROBE_EVERY_MS;

/** Request that finds out what a URL answers. */
export interface ProbeRequest {
  method: string;
  url: string;
  body?: string;
  contentType?: string;
}

/** Facts of a resource that the catalogue shows with its URL and price. */
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
