import { DAY } from '#core/time.ts';
import { getRenewalCount } from '#features/memberships/store.ts';
import { getActiveProductCount } from '#features/products/product.ts';
import { getOpenTicketCount } from '#features/support/store.ts';
import type { Scope } from '#platform/context.ts';
import type { Counts } from '#rules/analytics/metrics.ts';
import { readMetrics } from './read.ts';

export const RENEWAL_WINDOW_DAYS = 7;

export interface Summary {
  activeTemplates: number;
  renewalsDue: number;
  openSupportThreads: number;
  totals: Counts;
  asOf: number;
}

export async function readSummary(ctx: Scope): Promise<Summary> {
  const [{ totals, asOf }, activeTemplates, renewalsDue, openSupportThreads] = await Promise.all([
    readMetrics(ctx, 0, 0),
    getActiveProductCount(ctx),
    getRenewalCount(ctx, ctx.now, ctx.now + RENEWAL_WINDOW_DAYS * DAY),
    getOpenTicketCount(ctx),
  ]);
  return { activeTemplates, renewalsDue, openSupportThreads, totals, asOf };
}
