import { formatErrorChain } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { inTime } from '#platform/deadline.ts';
import { isErasedRef } from '#rules/access/erased-customer.ts';
import type { Customer, EntitlementKey } from '#rules/balance.ts';
import type { Credit, CreditAnswer, PaymentCall } from '#rules/entitlement-rpc.ts';
import { callEntitlement, calledBy, callMerged, entitlementKeyOf } from './entitlement.ts';
import { listPaid, type Paid } from './store.ts';

/** Customer of a purchase: the reference, else the named wallet, else the paying wallet. */
const buyerOf = ({ customerRef, customerWallet, payerWallet }: Paid): Customer =>
  customerRef === null ? { walletAddress: customerWallet ?? payerWallet! } : { customerRef };

export const entitlementKeyOfPaid = (paid: Paid): EntitlementKey => entitlementKeyOf(paid, paid.productId, buyerOf(paid));

const NOTHING: CreditAnswer = { grantedUnits: 0, consumption: { by: 'none' }, remaining: 0, paidThrough: null };
/** True for a payment of an erased customer, who has nothing any more. */
const isErased = ({ customerRef, terms }: Paid): boolean => terms.isErased === true || isErasedRef(customerRef ?? '');

/** Credits a payment to its buyer's entitlement. Idempotent by payment. */
export async function creditPayment(ctx: Ctx, paid: Paid, consume: Credit['consume'] = null): Promise<CreditAnswer> {
  if (isErased(paid)) return NOTHING;
  const identity = entitlementKeyOfPaid(paid);
  const { usageUnits: units, accessPeriodDays: days, periodEndsAt: through } = paid.terms;
  const addition = { units, days, ...(through === undefined ? {} : { through }) };
  const credit = { paymentId: paid.id, addition, consume, ...calledBy(ctx) };
  return callMerged<CreditAnswer>(ctx, identity, (object, identity) => object.credit({ ...credit, identity }));
}

export const creditConfirmed = async (ctx: Shard, confirmed: StoredEvent[]): Promise<StoredEvent[]> =>
  bringEach(ctx, confirmed, await loadPaid(ctx, confirmed), creditPayment);

/** Handles payment.orphaned: revokes what dropped payments bought. Events may come late, so the payment's current row decides. */
export async function revokeOrphaned(ctx: Shard, orphaned: StoredEvent[]): Promise<StoredEvent[]> {
  const dropped = (await loadPaid(ctx, orphaned)).filter(({ orphanedAt }) => orphanedAt !== null);
  return bringEach(ctx, orphaned, dropped, revokePayment);
}

/** Handles payment.finalized: reinstates payments that were dropped and are on the chain after all. */
export async function followFinalized(ctx: Shard, finalized: StoredEvent[]): Promise<StoredEvent[]> {
  const returned = finalized.filter(wasOrphaned);
  if (returned.length === 0) return [];
  const given = (await loadPaid(ctx, returned)).filter(
    ({ orphanedAt, accessRevokedAt }) => orphanedAt === null && accessRevokedAt === null,
  );
  return bringEach(ctx, returned, given, reinstatePayment);
}

/** Handles refunds: revokes what a refunded payment bought if the refund says so, and reinstates it if the chain dropped the refund. */
export async function followRefunded(ctx: Shard, refunded: StoredEvent[]): Promise<StoredEvent[]> {
  const paid = await loadPaid(ctx, refunded);
  const revoked = paid.filter(({ accessRevokedAt }) => accessRevokedAt !== null);
  const wasRevoked = ({ data }: StoredEvent): boolean => 'access_revoked_at' in (data.previous ?? {});
  const given = paid.filter(({ accessRevokedAt, orphanedAt }) => accessRevokedAt === null && orphanedAt === null);
  const [taken, returned] = await Promise.all([
    bringEach(ctx, refunded, revoked, revokePayment),
    bringEach(ctx, refunded.filter(wasRevoked), given, reinstatePayment),
  ]);
  return [...taken, ...returned];
}

const wasOrphaned = ({ data }: StoredEvent): boolean => 'orphaned_at' in (data.previous ?? {});

const loadPaid = (ctx: Shard, events: StoredEvent[]): Promise<Read[]> =>
  loadGiven(
    ctx,
    events.map(({ paymentId }) => paymentId as PaymentId),
  );

const loadGiven = async ({ db }: Shard, paymentIds: PaymentId[]): Promise<Read[]> =>
  (await listPaid(db, paymentIds)).filter(({ terms }) => terms.isMetered !== true);

/** Timeout of one buyer's object, so that enough of the invocation's time is left for other events. */
const OBJECT_MS = 5 * SECOND;
const withinMoment = <T>(ctx: Ctx, call: () => Promise<T>): Promise<T> => inTime({ leftMs: () => Math.min(OBJECT_MS, ctx.leftMs()) }, call);

/** Runs each payment separately, so that a silent object delays no other payment. */
async function bringEach(
  ctx: Ctx,
  events: StoredEvent[],
  paid: Read[],
  bring: (ctx: Ctx, payment: Read) => Promise<unknown>,
): Promise<StoredEvent[]> {
  const failed = new Set<string | null>();
  await Promise.all(
    paid
      .filter(({ id }) => events.some(({ paymentId }) => paymentId === id))
      .map((payment) =>
        withinMoment(ctx, () => bring(ctx, payment)).catch((error: unknown) => {
          ctx.note(`payment ${payment.id}: ${formatErrorChain(error)}`);
          failed.add(payment.id);
        }),
      ),
  );
  return events.filter(({ paymentId }) => failed.has(paymentId));
}

/** Reports final payments to each buyer's object. The hint only shortens its reads, so a failure is only noted. */
export async function hintFinal(ctx: Shard, paymentIds: PaymentId[]): Promise<void> {
  const payments = (await loadGiven(ctx, paymentIds)).filter(({ orphanedAt }) => orphanedAt === null);
  const byObject = Map.groupBy(payments, (payment) => entitlementKeyOfPaid(payment).entitlementId);
  await Promise.all(
    Array.from(byObject, ([entitlementId, [first, ...more]]) => {
      const paymentIds = [first!, ...more].map(({ id }) => id);
      const finalize = () => callEntitlement(ctx, first!, entitlementId, (object) => object.finalize({ paymentIds, ...calledBy(ctx) }));
      return withinMoment(ctx, finalize).catch((error: unknown) => ctx.note(`finalize: ${formatErrorChain(error)}`));
    }),
  );
}

/** Sends a confirmed payment's current state to its buyer's object again. Idempotent. */
export const retellPayment = (ctx: Ctx, payment: Read): Promise<unknown> =>
  payment.orphanedAt === null && payment.accessRevokedAt === null ? creditPayment(ctx, payment) : revokePayment(ctx, payment);

/** Payment as read. The version orders a delayed call against later ones. */
type Read = Paid & { version: number; orphanedAt: number | null; accessRevokedAt: number | null };

const callOf = (ctx: Ctx, payment: Read): PaymentCall => ({
  identity: entitlementKeyOfPaid(payment),
  paymentId: payment.id,
  paymentVersion: payment.version,
  ...calledBy(ctx),
});

async function revokePayment(ctx: Ctx, payment: Read): Promise<void> {
  if (isErased(payment)) return;
  const call = callOf(ctx, payment);
  await callMerged<null>(ctx, call.identity, (object, identity) => object.revoke({ ...call, identity }));
}

async function reinstatePayment(ctx: Ctx, payment: Read): Promise<void> {
  if (isErased(payment)) return;
  const call = callOf(ctx, payment);
  await callMerged<null>(ctx, call.identity, (object, identity) => object.reinstate({ ...call, identity }));
  await creditPayment(ctx, payment);
}
