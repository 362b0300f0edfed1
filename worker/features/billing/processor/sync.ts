import type Stripe from 'stripe';
import { canonicalJson } from '#core/encoding.ts';
import type { AccountId } from '#core/ids.ts';
import { HOUR, SECOND } from '#core/time.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import { planEndingLetter } from '#features/mail-delivery/due-plans.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { forEach, type Write } from '#platform/db/commit.ts';
import { findAnywhere, homeOf } from '#platform/db/directory.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { findByCustomerId, findCustomer, insertProcessorEvent, isTakenIn, listDueReads, postponeRead, updateCustomer } from './store.ts';
import { CustomerGone, planOfPrice, readProcessor } from './stripe.ts';
import { foldSubscriptions, HANDLED_EVENTS, type PastDueSign, type ShownSubscription, unpaidThrough } from './subscriptions.ts';

/** What is read of a customer, newest first: more subscriptions than this have long ended. */
const SUBSCRIPTIONS_MAX = 100;

/** The subscriptions of a customer as they are now. One that says it is of another account is none of this one's. */
async function listSubscriptions(ctx: Ctx, { customerId, accountId }: BillingCustomer): Promise<ShownSubscription[]> {
  const { data } = await readProcessor(ctx, ({ subscriptions }) =>
    subscriptions.list({ customer: customerId, status: 'all', limit: SUBSCRIPTIONS_MAX }),
  ).catch((error: unknown) => {
    // Deleted there, and its subscriptions with it.
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
 * Reads the account's subscriptions afresh and stores what they amount to, with the event that caused it. The row is read before the processor is
 * asked and must be the same when it is stored, so that what was read earlier never replaces what was read later. False where the
 * event was taken in before. 503 temporarily_unavailable where the processor does not answer: then nothing is stored.
 */
export async function syncAccount(ctx: Shard, accountId: AccountId, event: SyncEvent | null): Promise<boolean> {
  let isNew = true;
  await changeAccount(ctx, accountId, async (account, attempt) => {
    const customer = await findCustomer(ctx.db, accountId);
    if (!customer) return null;
    if (event && (await isTakenIn(ctx.db, event.id))) {
      // At a later try it may be this very call that stored it, with its answer lost.
      isNew = attempt > 1;
      return null;
    }
    const subscriptions = await listSubscriptions(ctx, customer);
    const folded = foldSubscriptions(subscriptions, customer, { now: ctx.wallNow, sign: event?.sign ?? null });
    const { processorPlans, ...standing } = folded;
    const isChanged = account.status !== 'deleted' && canonicalJson(processorPlans) !== canonicalJson(account.processorPlans);
    if (event === null && !isChanged && canonicalJson({ ...customer, ...standing }) === canonicalJson(customer)) return null;
    const after = { ...customer, ...standing, updatedAt: ctx.wallNow };
    const stored = { ...after, version: customer.version + 1 };
    const taken = event && { id: event.id, accountId, type: event.type, createdAt: event.createdAt, receivedAt: ctx.wallNow };
    return {
      ...(isChanged ? { values: { processorPlans } } : {}),
      writes: [
        ...updateCustomer(ctx, customer, after),
        ...tellUnpaid(ctx, account, customer, folded),
        ...(taken ? [insertProcessorEvent(ctx.db, taken)] : []),
      ],
      // A rival that stored the very same has stored this one too; any other was read at another moment, and is read again.
      wasStored: async () => event === null && canonicalJson(await findCustomer(ctx.db, accountId)) === canonicalJson(stored),
    };
  });
  return isNew;
}

const READS = { pageMax: 20, pagesMax: 10 };

/**
 * Reads the processor again for plans that end within a day, so that a renewal counts though no event of it came. A customer that could not
 * be read is due again within the hour, behind all others.
 */
export async function sweepCardPlans(ctx: Shard): Promise<Swept> {
  if (ctx.config.PROCESSOR_API_KEY === undefined) return { taken: 0, isFinished: true };
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

/** A card that could not be charged is told when it shows: what is left of the plan is less than the notice of other ends. */
function tellUnpaid(ctx: Shard, account: Account, before: BillingCustomer, after: ReturnType<typeof foldSubscriptions>): Write[] {
  const endsAt = after.subscriptionId === null ? undefined : unpaidThrough(after.pastDueSince, after.subscriptionId);
  const isNew = after.subscriptionStatus === 'past_due' && before.subscriptionStatus !== 'past_due';
  if (!isNew || endsAt === undefined) return [];
  return planEndingLetter(ctx, { ...account, processorPlans: after.processorPlans, endsAt, goesOn: 'free' });
}

const isHandled = (type: string): boolean => HANDLED_EVENTS.some((handled) => handled === type);

/** The customer that an event is about. */
function customerOf({ data }: Stripe.Event): string | null {
  const { customer } = data.object as { customer?: string | { id: string } | null };
  return typeof customer === 'string' ? customer : (customer?.id ?? null);
}

/** Whether an event shows a subscription unpaid. */
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
 * Takes in an event that the processor signed: it says that something changed, and what that is, is read from the processor. Who is meant
 * is known by the customer that we made; an unknown one changes nothing. True where it was taken in before.
 */
export async function takeEvent(ctx: Ctx, event: Stripe.Event): Promise<{ isDuplicate: boolean }> {
  const customerId = customerOf(event);
  if (!isHandled(event.type) || customerId === null) return { isDuplicate: false };
  const customer = await findAnywhere(ctx, ({ db }) => findByCustomerId(db, customerId));
  if (!customer) return { isDuplicate: false };
  const { id, type, created } = event;
  const isNew = await syncAccount(await homeOf(ctx, customer.accountId), customer.accountId, {
    id,
    type,
    createdAt: created * SECOND,
    sign: signOf(event),
  });
  return { isDuplicate: !isNew };
}
