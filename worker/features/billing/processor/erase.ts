import type { Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { emptyOrBound, type Swept } from '#platform/db/sweeps.ts';
import type { BillingCustomer } from '#platform/db/tables/office/billing.ts';
import { deleteCustomer, listErasing, postponeErasing } from './store.ts';
import { openProcessor } from './stripe.ts';

const CUSTOMERS_MAX = 20;

/**
 * Deletes customers of deleted accounts at the processor, including subscriptions. A failed one is due again after all others, so that
 * failures do not block the rest.
 */
export async function sweepCustomers(ctx: Shard): Promise<Swept> {
  if (ctx.config.PROCESSOR_API_KEY === undefined) return { taken: 0, end: 'empty' };
  const erasing = await listErasing(ctx.db, ctx.now, CUSTOMERS_MAX);
  const taken = await forEach(ctx, erasing, (customer) => eraseCustomer(ctx, customer));
  return { taken, end: emptyOrBound(taken === erasing.length && erasing.length < CUSTOMERS_MAX) };
}

async function eraseCustomer(ctx: Shard, { customerId }: BillingCustomer): Promise<void> {
  const { customers } = await openProcessor(ctx);
  await customers.del(customerId).catch(async (error: { statusCode?: number }) => {
    // Deleted by an earlier try with a lost answer.
    if (error.statusCode === 404) return;
    await postponeErasing(ctx.db, customerId, ctx.now);
    throw error;
  });
  await deleteCustomer(ctx.db, customerId);
}
