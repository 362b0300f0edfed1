import type Stripe from 'stripe';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { findCustomer, insertCustomer, renameCustomer } from './store.ts';
import { CustomerGone, fromProcessor } from './stripe.ts';

/**
 * Makes an account a customer at the processor, and answers its name there. One that was made before, with its name lost, is found by
 * the account it names: the processor forgets an idempotency key after a day. Of two calls at once the key makes one customer. Where the processor offers no
 * search (in some countries), one whose name was lost for longer than that is made a second time; the first has bought nothing.
 * `gone`: the customer that was deleted there, which a search may still show.
 */
async function makeCustomer(ctx: Scope, accountId: AccountId, gone: string | null): Promise<string> {
  const found = await searchCustomers(ctx, accountId);
  const known = found.find(({ id }) => id !== gone);
  if (known) return known.id;
  const idempotencyKey = gone === null ? `customer-${accountId}` : `customer-${accountId}-after-${gone}`;
  // Nothing that may change is said of it: the same key with other words would be refused.
  const { id } = await fromProcessor(ctx, ({ customers }) => customers.create({ metadata: { account_id: accountId } }, { idempotencyKey }));
  return id;
}

async function searchCustomers(ctx: Scope, accountId: AccountId): Promise<Stripe.Customer[]> {
  const query = `metadata['account_id']:'${accountId}'`;
  return fromProcessor(ctx, async ({ customers }) => (await customers.search({ query, limit: 10 })).data).catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'internal_error') return [];
    throw error;
  });
}

const newCustomer = (ctx: Scope, accountId: AccountId, customerId: string): BillingCustomer => ({
  accountId,
  customerId,
  subscriptionId: null,
  subscriptionStatus: 'none',
  subscriptionPlan: null,
  currentPeriodEnd: null,
  cancelsAtPeriodEnd: false,
  pastDueSince: {},
  soldPlans: {},
  trouble: null,
  nextReadAt: null,
  erasingSince: null,
  createdAt: ctx.wallNow,
  updatedAt: ctx.wallNow,
  version: 1,
});

/** The account at the processor, made there the first time. */
async function openCustomer(ctx: Scope, accountId: AccountId): Promise<BillingCustomer> {
  const known = await findCustomer(ctx.db, accountId);
  if (known) return known;
  const row = newCustomer(ctx, accountId, await makeCustomer(ctx, accountId, null));
  await insertCustomer(ctx.db, row);
  return (await findCustomer(ctx.db, accountId)) ?? row;
}

/** Makes anew a customer that was deleted at the processor. */
async function remakeCustomer(ctx: Scope, gone: BillingCustomer): Promise<BillingCustomer> {
  const row = newCustomer(ctx, gone.accountId, await makeCustomer(ctx, gone.accountId, gone.customerId));
  await renameCustomer(ctx.db, gone.customerId, row);
  // Where the account was deleted meanwhile, the row that names the new one is what has it deleted too.
  await insertCustomer(ctx.db, row);
  return (await findCustomer(ctx.db, gone.accountId)) ?? row;
}

/** Works with the account's customer at the processor; one that was deleted there is made anew, once. */
export async function withCustomer<T>(ctx: Scope, accountId: AccountId, work: (customer: BillingCustomer) => Promise<T>): Promise<T> {
  const customer = await openCustomer(ctx, accountId);
  try {
    return await work(customer);
  } catch (error) {
    if (!(error instanceof CustomerGone)) throw error;
    return work(await remakeCustomer(ctx, customer));
  }
}
