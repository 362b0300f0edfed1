import type Stripe from 'stripe';
import { canonicalJson } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { HOUR, SECOND } from '#core/time.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import { planEndingEmail } from '#features/email-delivery/due-plans.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { forEach, type Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { findNamed } from '#platform/db/names/names.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import {
  customerName,
  findByCustomerId,
  findCustomer,
  insertProcessorEvent,
  isTakenIn,
  listDueReads,
  postponeRead,
  updateCustomer,
} from './store.ts';
import { CustomerGone, planOfPrice, readProcessor } from './stripe.ts';
import { foldSubscriptions, HANDLED_EVENTS, type PastDueSign, type ShownSubscription, unpaidThrough } from './subscriptions.ts';

const SUBSCRIPTIONS_MAX = 100;

/** Reads a customer's current subscriptions. Excludes those that name another account. */
async function listSubscriptions(ctx: Ctx, { customerId, accountId }: BillingCustomer): Promise<ShownSubscription[]> {
  const { data } = await readProcessor(ctx, ({ subscriptions }) =>
    subscriptions.list({ customer: customerId, status: 'all', limit: SUBSCRIPTIONS_MAX }),
  ).catch((error: unknown) => {
    if (error instanceof CustomerGone) return { data: [] };
    throw error;
  });
  return data.filter(({ metadata }) => (metadata.account_id ?? accountId) === accountId).map((shown) => toShown(ctx, shown));
}

function toShown({ config }: Ctx, { id, status, items, created, cancel_at_period_end, cancel_at }: Stripe.Subscription): ShownSubscription {
  const item = items.data.find(({ price }) => planOfPrice(config, price) !== null) ?? items.data[0];
  const periodEnd = (item?.current_period_end ?? 0) * SECOND;
  return {
    id,
    status,
    priceId: item?.price.id ?? '',
    plan: item ? planOfPrice(config, item.price) : null,
    periodStart: (item?.current_period_start ?? 0) * SECOND,
    periodEnd,
    cancelsAtPeriodEnd: cancel_at_period_end || (cancel_at !== null && cancel_at * SECOND <= periodEnd),
    createdAt: created * SECOND,
  };
}

interface SyncEvent {
  id: string;
  type: string;
  createdAt: number;
  sign: PastDueSign | null;
}

/**
 * Reads the account's subscriptions and stores the result with the event that caused the read. The row is read before the processor and
 * must be unchanged at the write, so that an older reading never replaces a newer one. Returns false if the event was handled before.
 * Throws 503 temporarily_unavailable and stores nothing if the processor does not answer.
 */
export async function syncAccount(ctx: Shard, accountId: AccountId, event: SyncEvent | null): Promise<boolean> {
  let isNew = true;
  await changeAccount(ctx, accountId, async (account, attempt) => {
    const customer = await findCustomer(ctx.db, accountId);
    if (!customer) return null;
    if (event && (await isTakenIn(ctx.db, event.id))) {
      // At a later try this very call may have stored the event with its answer lost.
      isNew = attempt > 1;
      return null;
    }
    const subscriptions = await listSubscriptions(ctx, customer);
    const folded = foldSubscriptions(subscriptions, customer, { now: ctx.wallNow, sign: event?.sign ?? null });
    const { processorPlans, ...state } = folded;
    const isChanged = account.status !== 'deleted' && canonicalJson(processorPlans) !== canonicalJson(account.processorPlans);
    if (event === null && !isChanged && canonicalJson({ ...customer, ...state }) === canonicalJson(customer)) return null;
    const after = { ...customer, ...state, updatedAt: ctx.wallNow };
    const stored = { ...after, version: customer.version + 1 };
    const taken = event && { id: event.id, accountId, type: event.type, createdAt: event.createdAt, receivedAt: ctx.wallNow };
    return {
      ...(isChanged ? { values: { processorPlans } } : {}),
      writes: [
        ...updateCustomer(ctx, customer, after),
        ...emailUnpaid(ctx, account, customer, folded),
        ...(taken ? [insertProcessorEvent(ctx.db, taken)] : []),
      ],
      // A concurrent sync that stored the same content counts as this one. Different content means another reading, so the read is
      // repeated.
      wasStored: async () => event === null && canonicalJson(await findCustomer(ctx.db, accountId)) === canonicalJson(stored),
    };
  });
  return isNew;
}

const READS = { pageMax: 20, pagesMax: 10 };

/**
 * Reads the processor for plans that end within a day, so that a renewal counts without its event. A customer that could not be read is due
 * again within the hour, after all others.
 */
export async function sweepCardPlans(ctx: Shard): Promise<Swept> {
  if (ctx.config.PROCESSOR_API_KEY === undefined) return { taken: 0, end: 'empty' };
  const read = async ({ accountId }: BillingCustomer) => {
    await syncAccount(ctx, accountId, null).catch(async (error: unknown) => {
      await postponeRead(ctx.db, accountId, ctx.wallNow + HOUR);
      throw error;
    });
  };
  return sweepPages<BillingCustomer>(
    ctx,
    READS,
    (last) => listDueReads(ctx.db, ctx.wallNow, last, READS.pageMax),
    (due) => forEach(ctx, due, read),
  );
}

/** Emails the owner at once if a card could not be charged, because the remaining time is shorter than the notice for other ends. */
function emailUnpaid(ctx: Shard, account: Account, before: BillingCustomer, after: ReturnType<typeof foldSubscriptions>): Write[] {
  const endsAt = after.subscriptionId === null ? undefined : unpaidThrough(after.pastDueSince, after.subscriptionId);
  const isNew = after.subscriptionStatus === 'past_due' && before.subscriptionStatus !== 'past_due';
  if (!isNew || endsAt === undefined) return [];
  return planEndingEmail(ctx, { ...account, processorPlans: after.processorPlans, endsAt, goesOn: 'free' });
}

const isHandled = (type: string): boolean => HANDLED_EVENTS.some((handled) => handled === type);

function customerOf({ data }: Stripe.Event): string | null {
  const { customer } = data.object as { customer?: string | { id: string } | null };
  return typeof customer === 'string' ? customer : (customer?.id ?? null);
}

function signOf(event: Stripe.Event): PastDueSign | null {
  const at = event.created * SECOND;
  if (event.type === 'customer.subscription.updated')
    return event.data.object.status === 'past_due' ? { subscriptionId: event.data.object.id, at } : null;
  if (event.type !== 'invoice.payment_failed') return null;
  const named = event.data.object.parent?.subscription_details?.subscription;
  const subscriptionId = typeof named === 'string' ? named : named?.id;
  return subscriptionId === undefined ? null : { subscriptionId, at };
}

/**
 * Handles a signed processor event: it only triggers a read of the processor. The account is found by the customer id, and an unknown
 * customer changes nothing. `isDuplicate` is true if the event was handled before.
 */
export async function takeEvent(ctx: Ctx, event: Stripe.Event): Promise<{ isDuplicate: boolean }> {
  const customerId = customerOf(event);
  if (!isHandled(event.type) || customerId === null) return { isDuplicate: false };
  const customer = await findNamed(ctx, customerName(customerId), ({ db }) => findByCustomerId(db, customerId));
  if (!customer) return { isDuplicate: false };
  const { id, type, created } = event;
  const isNew = await syncAccount(homeOf(ctx, customer.accountId), customer.accountId, {
    id,
    type,
    createdAt: created * SECOND,
    sign: signOf(event),
  });
  return { isDuplicate: !isNew };
}
