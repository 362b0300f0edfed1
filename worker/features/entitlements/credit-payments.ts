import { storyOf } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { inTime } from '#platform/deadline.ts';
import type { Customer, EntitlementKey } from '#rules/balance.ts';
import type { Credit, CreditAnswer, PaymentCall } from '#rules/entitlement-rpc.ts';
import { callEntitlement, calledBy, entitlementKeyOf } from './entitlement.ts';
import { listPaid, type Paid } from './store.ts';

/** The reference a purchase gave, else the wallet it named, else the wallet that paid. */
const buyerOf = ({ customerRef, customerWallet, payerWallet }: Paid): Customer =>
  customerRef === null ? { walletAddress: customerWallet ?? payerWallet! } : { customerRef };

/** Whose entitlement a payment adds to. */
export const entitlementKeyOfPaid = (paid: Paid): EntitlementKey => entitlementKeyOf(paid, paid.productId, buyerOf(paid));

/** Adds what a payment bought to its buyer's entitlement. Keyed by the payment, so that once more is harmless. */
export async function creditPayment(ctx: Ctx, paid: Paid, consume: Credit['consume'] = null): Promise<CreditAnswer> {
  const identity = entitlementKeyOfPaid(paid);
  const { usageUnits: units, accessPeriodDays: days, periodEndsAt: through } = paid.terms;
  const addition = { units, days, ...(through === undefined ? {} : { through }) };
  const credit = { identity, paymentId: paid.id, addition, consume, ...calledBy(ctx) };
  return callEntitlement(ctx, identity, identity.entitlementId, (object) => object.credit(credit));
}

/** Follows payment.confirmed: credits what each payment bought to its buyer's entitlement. Answers the events whose payment could not be brought. */
export const creditConfirmed = async (ctx: Shard, confirmed: StoredEvent[]): Promise<StoredEvent[]> =>
  bringEach(ctx, confirmed, await loadPaid(ctx, confirmed), creditPayment);

/** Takes back what a payment bought that the chain dropped. Events may come late, so what counts is what the payment says by now. */
export async function revokeOrphaned(ctx: Shard, orphaned: StoredEvent[]): Promise<StoredEvent[]> {
  const dropped = (await loadPaid(ctx, orphaned)).filter(({ orphanedAt }) => orphanedAt !== null);
  return bringEach(ctx, orphaned, dropped, revokePayment);
}

/** Gives back what a payment bought that was taken for dropped and is there after all; of the others it only says that they are final. */
export async function followFinalized(ctx: Shard, finalized: StoredEvent[]): Promise<StoredEvent[]> {
  const paid = (await loadPaid(ctx, finalized)).filter(({ orphanedAt }) => orphanedAt === null);
  const [returned = [], final = []] = [true, false].map((isReturned) => finalized.filter((event) => wasOrphaned(event) === isReturned));
  const standing = paid.filter(({ accessRevokedAt }) => accessRevokedAt === null);
  const failed = await bringEach(ctx, returned, standing, reinstatePayment);
  await hintFinal(
    ctx,
    paid.filter(({ id }) => final.some(({ paymentId }) => paymentId === id)),
  );
  return failed;
}

/** Takes back what a payment bought whose refund said so, and gives it back where the chain dropped that refund. */
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

/** The payments of these events that buy access. */
async function loadPaid({ db }: Shard, events: StoredEvent[]): Promise<Read[]> {
  const paid = await listPaid(
    db,
    events.map(({ paymentId }) => paymentId as PaymentId),
  );
  return paid.filter(({ terms }) => terms.isMetered !== true);
}

/** How long one buyer's object is waited for, so that enough of the invocation's time is left for the events of others. */
const OBJECT_MS = 5 * SECOND;
const withinMoment = <T>(ctx: Ctx, call: () => Promise<T>): Promise<T> => inTime({ leftMs: () => Math.min(OBJECT_MS, ctx.leftMs()) }, call);

/** Brings the payments of these events each on its own, so that one whose object does not answer delays no other. */
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
          ctx.note(`payment ${payment.id}: ${storyOf(error)}`);
          failed.add(payment.id);
        }),
      ),
  );
  return events.filter(({ paymentId }) => failed.has(paymentId));
}

/** Tells each buyer's object which payments can no longer be dropped. A hint that shortens what it reads, so a failure is only noted. */
async function hintFinal(ctx: Ctx, payments: Paid[]): Promise<void> {
  const byObject = Map.groupBy(payments, (payment) => entitlementKeyOfPaid(payment).entitlementId);
  await Promise.all(
    Array.from(byObject, ([entitlementId, [first, ...more]]) => {
      const paymentIds = [first!, ...more].map(({ id }) => id);
      const finalize = () => callEntitlement(ctx, first!, entitlementId, (object) => object.finalize({ paymentIds, ...calledBy(ctx) }));
      return withinMoment(ctx, finalize).catch((error: unknown) => ctx.note(`finalize: ${storyOf(error)}`));
    }),
  );
}

/** Tells its buyer's object of a confirmed payment once more, as it stands by now: harmless where the object knows it. */
export const retellPayment = (ctx: Ctx, payment: Read): Promise<unknown> =>
  payment.orphanedAt === null && payment.accessRevokedAt === null ? creditPayment(ctx, payment) : revokePayment(ctx, payment);

/** A payment as it was read: a call that is held up is told from a later one by its version. */
type Read = Paid & { version: number; orphanedAt: number | null; accessRevokedAt: number | null };

/** What is said of a payment to the object of its buyer. */
const callOf = (ctx: Ctx, payment: Read): PaymentCall => ({
  identity: entitlementKeyOfPaid(payment),
  paymentId: payment.id,
  paymentVersion: payment.version,
  ...calledBy(ctx),
});

function revokePayment(ctx: Ctx, payment: Read): Promise<void> {
  const call = callOf(ctx, payment);
  return callEntitlement(ctx, payment, call.identity.entitlementId, (object) => object.revoke(call));
}

/** Also credits it, where it was taken back before it ever was. */
async function reinstatePayment(ctx: Ctx, payment: Read): Promise<void> {
  const call = callOf(ctx, payment);
  await callEntitlement(ctx, payment, call.identity.entitlementId, (object) => object.reinstate(call));
  await creditPayment(ctx, payment);
}
