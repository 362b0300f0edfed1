import { ApiError } from '#core/errors.ts';
import type { CustomerId } from '#core/ids.ts';
import { readCustomer } from '#features/customers/customer.ts';
import { abortIfRunning, findRunning } from '#features/customers/merge.ts';
import type { ShownCustomer } from '#features/customers/resource.ts';
import { loadHoldings } from '#features/customers/state.store.ts';
import { entitlementKeyOf, readEntitlement } from '#features/entitlements/entitlement.ts';
import type { Scope } from '#platform/context.ts';
import { type Change, transact } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import { customerKeyOf } from '#platform/db/search/customer.ts';
import type { CustomerRow, ErasureProgress } from '#platform/db/tables/entitlements.ts';
import { sendSweep } from '#platform/queues/send-jobs.ts';
import type { Customer } from '#rules/balance.ts';
import { CUSTOMER } from '#rules/states.ts';
import { abortIfMember, listRunning } from './access.store.ts';
import { listEmails, planBegin } from './customer.store.ts';
import { planEndedAccess } from './end-access.ts';

/** Running memberships that an erasure ends in its batch. */
const MEMBERSHIPS_MAX = 25;

const conflict = (reason: string, detail: string): ApiError => new ApiError('state_conflict', { detail, meta: { reason } });

/**
 * Begins the erasure of a customer, which a sweep completes. Throws 404, and 409 state_conflict for a native subscription, an open metered
 * session, and access that runs unless the call ends it.
 */
export async function eraseCustomer(
  ctx: Scope,
  customerId: CustomerId,
  endsAccess: boolean,
  storeAnswer: StoreAnswer<ShownCustomer>,
): Promise<ShownCustomer> {
  const erasing = await transact(ctx, { reload: () => readCustomer(ctx, customerId) }, async (before) => {
    if (before.row.status !== 'active') return unchangedWithAnswer(before, storeAnswer);
    const change = await planErasure(ctx, before, endsAccess);
    return withAnswer(change, storeAnswer(change.result));
  });
  if (erasing.row.status === 'erasing') ctx.defer(sendSweep(ctx, 'erasedCustomers'));
  return erasing;
}

async function planErasure(ctx: Scope, before: ShownCustomer, endsAccess: boolean): Promise<Change<ShownCustomer>> {
  const rows = [before.row, ...before.merged];
  const keys = rows.map(customerKeyOf);
  for (const key of keys) {
    const running = await findRunning(ctx, key);
    if (running) throw conflict(running, 'End the native subscription or metered session of the customer first.');
  }
  const held = await listRunning(ctx, keys, MEMBERSHIPS_MAX + 1);
  if (!endsAccess && (held.length > 0 || (await hasAccess(ctx, keys))))
    throw conflict('active_access', 'The customer has access. Send end_access: true to end it with the erasure.');
  if (held.length > MEMBERSHIPS_MAX) throw conflict('too_many', `The customer has more than ${MEMBERSHIPS_MAX} running memberships.`);
  const ended = held.map((membership) => planEndedAccess(ctx, membership));
  const progress = await loadProgress(ctx, rows, keys);
  const status = CUSTOMER.next(before.row.status, 'beginErasure');
  const row: CustomerRow = { ...before.row, status, updatedAt: ctx.now, version: before.row.version + 1 };
  return {
    events: ended.flatMap(({ events }) => events),
    writes: [
      ...planBegin(ctx, before.row, progress),
      ...ended.flatMap(({ writes }) => writes),
      ...abortIfMember(ctx, keys),
      ...keys.flatMap((key) => abortIfRunning(ctx, key)),
    ],
    result: { ...before, row },
  };
}

/** True if an entitlement's object serves the customer. */
async function hasAccess(ctx: Scope, keys: readonly Customer[]): Promise<boolean> {
  for (const key of keys) {
    const { products } = await loadHoldings(ctx, key);
    const read = [...products.keys()].map((id) => readEntitlement(ctx, ctx, entitlementKeyOf(ctx, id, key).entitlementId));
    if ((await Promise.all(read)).some((balance) => balance?.status === 'active')) return true;
  }
  return false;
}

async function loadProgress(ctx: Scope, rows: readonly CustomerRow[], keys: readonly Customer[]): Promise<ErasureProgress> {
  const noted = rows.flatMap(({ email, company, emails }) => [email ?? [], company?.email ?? [], ...emails].flat());
  const emails = [...new Set([...noted, ...(await listEmails(ctx, keys))].map((email) => email.toLowerCase()))];
  return { step: 0, after: null, requestedAt: ctx.now, changedAt: ctx.wallNow, sealedAt: null, actSeq: 0, emails };
}
