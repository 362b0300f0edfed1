/**
 * Purchase pages of the processor. A customer has at most one open page, because each paid page is a separate subscription.
 * @module
 */

import type Stripe from 'stripe';
import { ApiError } from '#core/errors.ts';
import type { Scope } from '#platform/context.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { fromProcessor, Outrun, processorAway, readProcessor } from './stripe.ts';

type Page = Stripe.Checkout.Session;

export interface ReturnUrls {
  success: string;
  cancel: string;
}

interface Sale {
  price: string;
  urls: ReturnUrls;
}

/** Newest first. A page expires within a day, so an open one is always among these. */
const PAGES_MAX = 100;

export const listPages = async (ctx: Scope, { customerId }: BillingCustomer): Promise<Page[]> =>
  (await readProcessor(ctx, ({ checkout }) => checkout.sessions.list({ customer: customerId, limit: PAGES_MAX }))).data;

const ATTEMPTS_MAX = 5;

/** Retries if a concurrent call opened, ended or paid a page. Throws 503 temporarily_unavailable after repeated conflicts. */
export async function openOnePage(ctx: Scope, open: () => Promise<string>): Promise<string> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    try {
      return await open();
    } catch (error) {
      if (!(error instanceof Outrun)) throw error;
    }
  }
  ctx.note('processor: open checkouts of one customer could not be closed');
  throw processorAway();
}

const isOpen = ({ metadata, status }: Page): boolean => metadata?.price !== undefined && status === 'open';

/** Expires open pages. Throws Outrun if one was paid or ended meanwhile. */
export async function endPages(ctx: Scope, pages: readonly Page[]): Promise<void> {
  for (const { id } of pages.filter(isOpen))
    await fromProcessor(ctx, ({ checkout }) => checkout.sessions.expire(id)).catch((error: unknown) => {
      throw error instanceof ApiError && error.code === 'internal_error' ? new Outrun() : error;
    });
}

/** Returns the open page for a price, or replaces all others with a new one. Throws Outrun. */
export async function buySubscription(ctx: Scope, customer: BillingCustomer, pages: readonly Page[], sale: Sale): Promise<string> {
  const same = pages.find((page) => isOpen(page) && sells(page, sale));
  await endPages(
    ctx,
    pages.filter((page) => page !== same),
  );
  return same?.url ?? (await newPage(ctx, customer, pages[0]?.id ?? 'none', sale));
}

const sells = ({ metadata, success_url, cancel_url }: Page, { price, urls }: Sale): boolean =>
  metadata?.price === price && success_url === urls.success && cancel_url === urls.cancel;

/**
 * The idempotency key names the previous page: of two calls that saw the same pages, one creates a page and the other gets the same page or
 * is refused.
 */
async function newPage(ctx: Scope, { accountId, customerId }: BillingCustomer, before: string, { price, urls }: Sale): Promise<string> {
  const metadata = { account_id: accountId };
  const { url } = await fromProcessor(ctx, ({ checkout }) =>
    checkout.sessions.create(
      {
        mode: 'subscription',
        customer: customerId,
        client_reference_id: accountId,
        line_items: [{ price, quantity: 1 }],
        metadata: { ...metadata, price },
        subscription_data: { metadata },
        success_url: urls.success,
        cancel_url: urls.cancel,
      },
      { idempotencyKey: `page-${customerId}-after-${before}` },
    ),
  );
  return url!;
}
