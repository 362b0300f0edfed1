import { ApiError } from '#core/errors.ts';
import type { CustomerId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { readCustomer } from '#features/customers/customer.ts';
import { abortIfRunning, findRunning } from '#features/customers/merge.ts';
import { NO_ACCESS, type ShownCustomer } from '#features/customers/resource.ts';
import { loadHoldings } from '#features/customers/state.store.ts';
import { entitlementKeyOf, readEntitlement } from '#features/entitlements/entitlement.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Scope } from '#platform/context.ts';
import { type Change, transact } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import { customerKeyOf } from '#platform/db/search/customer.ts';
import type { CustomerRow, ErasedKey, ErasureProgress } from '#platform/db/tables/entitlements.ts';
import { sendSweep } from '#platform/queues/send-jobs.ts';
import { erasedRefOf } from '#rules/access/erased-customer.ts';
import type { Customer } from '#rules/balance.ts';
import { CUSTOMER } from '#rules/states.ts';
import { abortIfMember, listMemberEmails, listRunning, rekeyMemberships } from './access.store.ts';
import { hasPaidSinceErasure, isErasedRefTaken, isPreviousErasing, planBegin } from './customer.store.ts';
import { planEndedAccess } from './end-access.ts';
import { abortIfDecided, abortIfPending, findPending, listDecided, planEndedCheckouts } from './pending.store.ts';

/** Running memberships that an erasure ends in its batch. A sweep ends the others. */
const MEMBERSHIPS_MAX = 25;

/** Time for the platforms to take away access, before the recipient is erased. */
const TAKEN_WITHIN_MS = 2 * MINUTE;
/** Longer than any call that began before the request. */
const CALLS_END_MS = MINUTE;
/** A confirmation that is stored now has read a time after this one. */
const DECIDED_WITHIN_MS = 2 * CALLS_END_MS;
/** Payments of one customer in that time. */
const DECIDED_MAX = 2_000;

const conflict = (reason: string, detail: string): ApiError => new ApiError('state_conflict', { detail, meta: { reason } });

/**
 * Begins the erasure of a customer, which a sweep completes. Throws 404, and 409 state_conflict for a native subscription, an open metered
 * session, money under way, and access that runs unless the call ends it.
 */
export async function eraseCustomer(
  asked: Scope,
  customerId: CustomerId,
  endsAccess: boolean,
  storeAnswer: StoreAnswer<ShownCustomer>,
): Promise<ShownCustomer> {
  const ctx = await withOwnClock(asked, customerId);
  const erasing = await transact(ctx, { reload: () => readCustomer(ctx, customerId) }, async (before) => {
    const isActive = before.row.status === 'active' || (await hasPaidSinceErasure(ctx, before.row));
    if (!isActive) return unchangedWithAnswer(before, storeAnswer);
    const change = await planErasure(ctx, before, endsAccess);
    return withAnswer(change, storeAnswer(change.result));
  });
  if (erasing.row.status === 'erasing') ctx.defer(sendSweep(ctx, 'erasedCustomers'));
  return erasing;
}

/** A customer of a sandbox session has the clock of the session. */
async function withOwnClock(ctx: Scope, customerId: CustomerId): Promise<Scope> {
  if (ctx.livemode) return ctx;
  const { row } = await readCustomer(ctx, customerId);
  return { ...ctx, now: (await loadScope(ctx, row)).now };
}

async function planErasure(ctx: Scope, before: ShownCustomer, endsAccess: boolean): Promise<Change<ShownCustomer>> {
  const rows = [before.row, ...before.merged];
  const keys = rows.map(customerKeyOf);
  for (const key of keys) {
    const running = await findRunning(ctx, key, false);
    if (running) throw conflict(running, 'End the native subscription or metered session of the customer first.');
    if (await findPending(ctx, key)) throw conflict('payment_pending', 'A payment of the customer is under way. Repeat in some minutes.');
  }
  if (before.row.erasure !== null) throw conflict('erasing', 'The archive is not yet free of the customer’s last erasure. Repeat later.');
  if (await isPreviousErasing(ctx, rows))
    throw conflict('erasing', 'An earlier customer of the reference is erased just now. Repeat in some minutes.');
  const held = await listRunning(ctx, keys, MEMBERSHIPS_MAX);
  if (!endsAccess && (held.length > 0 || (await hasAccess(ctx, keys))))
    throw conflict('active_access', 'The customer has access. Send end_access: true to end it with the erasure.');
  const ended = held.map((membership) => planEndedAccess(ctx, membership));
  const since = ctx.now - DECIDED_WITHIN_MS;
  const decided = await listDecided(ctx, keys, since, DECIDED_MAX);
  if (decided.length === DECIDED_MAX) throw conflict('payment_pending', 'The customer pays just now. Repeat in some minutes.');
  const chosen = { keys: await chooseKeys(ctx, rows), emails: await listMemberEmails(ctx, keys), decided, decidedSince: since };
  const progress = newProgress(ctx, rows, chosen);
  const active = before.row.status === 'erased' ? CUSTOMER.next(before.row.status, 'return') : before.row.status;
  const status = CUSTOMER.next(active, 'beginErasure');
  const shown = { email: null, name: null, company: null, metadata: {}, emails: [] };
  const customerRef = refOf(progress.keys[0]!.erased);
  const row: CustomerRow = { ...before.row, ...shown, customerRef, status, updatedAt: ctx.now, version: before.row.version + 1 };
  return {
    events: ended.flatMap(({ events }) => events),
    writes: [
      ...(endsAccess ? [] : abortIfMember(ctx, keys)),
      ...abortIfDecided(ctx, keys, since, decided),
      ...keys.flatMap((key) => [...abortIfRunning(ctx, key, false), ...abortIfPending(ctx, key)]),
      ...planBegin(ctx, rows, progress),
      ...ended.flatMap(({ writes }) => writes),
      ...progress.keys.flatMap((key) => [...rekeyMemberships(ctx, key), ...planEndedCheckouts(ctx, key)]),
    ],
    result: { ...before, row, access: NO_ACCESS },
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

const refOf = (key: Customer): string | null => ('customerRef' in key ? key.customerRef : null);

/** Chooses the references of erased customers: of those that follow from the id, the first that no other customer has. */
async function chooseKeys(ctx: Scope, rows: readonly CustomerRow[]): Promise<ErasedKey[]> {
  const chosen: ErasedKey[] = [];
  for (const row of rows) {
    const key = customerKeyOf(row);
    if (!('customerRef' in key)) {
      chosen.push({ id: row.id, key, erased: key });
      continue;
    }
    for (let attempt = 0; ; attempt++) {
      const customerRef = erasedRefOf(key.customerRef, row.id, attempt);
      if (chosen.some(({ erased }) => refOf(erased) === customerRef) || (await isErasedRefTaken(ctx, customerRef))) continue;
      chosen.push({ id: row.id, key, erased: { customerRef } });
      break;
    }
  }
  return chosen;
}

type Chosen = Pick<ErasureProgress, 'keys' | 'emails' | 'decided' | 'decidedSince'>;

function newProgress(ctx: Scope, rows: readonly CustomerRow[], chosen: Chosen): ErasureProgress {
  const noted = rows.flatMap(({ email, company, emails }) => [email ?? [], company?.email ?? [], ...emails].flat());
  const emails = [...new Set([...noted, ...chosen.emails].map((email) => email.toLowerCase()))];
  const { now: until, wallNow: requestedAt } = ctx;
  const times = { requestedAt, takenAt: requestedAt + TAKEN_WITHIN_MS, callsEndAt: requestedAt + CALLS_END_MS, until };
  const begin = { step: 0, after: null, isLast: false, hasPassed: false, hasEnded: false, forgotten: {}, actSeq: 0, entrySeq: 0 };
  return { ...begin, ...times, ...chosen, emails };
}
