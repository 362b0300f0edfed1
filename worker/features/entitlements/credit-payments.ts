import { storyOf } from '#core/errors.ts';
import type { PaymentId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Customer, EntitlementIdentity } from '#rules/balance.ts';
import type { Credit, CreditAnswer, PaymentCall } from '#rules/entitlement-rpc.ts';
import { callEntitlement, calledBy, identityOf } from './entitlement.ts';
import { listPaid, type Paid } from './store.ts';

/** The reference a purchase gave, else the wallet it named, else the wallet that paid. (contract section 3 "Customer") */
const buyerOf = ({ customerRef, customerWallet, payerWallet }: Paid): Customer =>
  customerRef === null ? { walletAddress: customerWallet ?? payerWallet! } : { customerRef };

/** Whose entitlement a payment adds to. */
export const identityOfPaid = (paid: Paid): EntitlementIdentity =>
  identityOf({ accountId: paid.merchantId, livemode: paid.livemode }, paid.productId, buyerOf(paid));

/** Adds what a payment bought to its buyer's entitlement. Keyed by the payment, so that once more is harmless. */
export async function creditPayment(ctx: Ctx, paid: Paid, consume: Credit['consume'] = null): Promise<CreditAnswer> {
  const identity = identityOfPaid(paid);
  const { usageUnits: units, accessPeriodDays: days } = paid.terms;
  const credit = { identity, paymentId: paid.id, addition: { units, days }, consume, ...calledBy(ctx) };
  return callEntitlement(ctx, identity, identity.entitlementId, (object) => object.credit(credit));
}

/** Payments by what happened to them: `returned` were taken for dropped, and are there after all; `final` never were. */
export interface Followed {
  confirmed: PaymentId[];
  orphaned: PaymentId[];
  returned: PaymentId[];
  final: PaymentId[];
}

/**
 * The other half of a confirmation, and of a payment the chain dropped or brought back: brought here at least once, by the events' job.
 * Events may come late and in any order, so what is taken and given back is what the payment says by now. Each on its own; answers
 * those that could not be brought, so that their events come again and hold up nobody else's.
 */
export async function followPayments(ctx: Shard, { confirmed, orphaned, returned, final }: Followed): Promise<Set<PaymentId>> {
  const named = [...confirmed, ...orphaned, ...returned, ...final];
  const paid = named.length > 0 ? await listPaid(ctx.db, named) : [];
  const failed = new Set<PaymentId>();
  const follow = (among: typeof paid, bring: (payment: (typeof paid)[number]) => Promise<unknown>) =>
    Promise.all(
      among.map((payment) =>
        bring(payment).catch((error: unknown) => {
          ctx.note(`payment ${payment.id}: ${storyOf(error)}`);
          failed.add(payment.id);
        }),
      ),
    );
  await follow(
    paid.filter(({ id }) => confirmed.includes(id)),
    (payment) => creditPayment(ctx, payment),
  );
  await follow(
    paid.filter(({ id, orphanedAt }) => orphaned.includes(id) && orphanedAt !== null),
    (payment) => revokePayment(ctx, payment),
  );
  await follow(
    paid.filter(({ id, orphanedAt }) => returned.includes(id) && orphanedAt === null),
    (payment) => reinstatePayment(ctx, payment),
  );
  await hintFinal(
    ctx,
    paid.filter(({ id, orphanedAt }) => final.includes(id) && orphanedAt === null),
  );
  return failed;
}

/** Tells each buyer's object which payments can no longer be dropped. A hint that shortens what it reads, so a failure is only noted. */
async function hintFinal(ctx: Ctx, payments: Paid[]): Promise<void> {
  const byObject = Map.groupBy(payments, (payment) => identityOfPaid(payment).entitlementId);
  await Promise.all(
    Array.from(byObject, ([entitlementId, [first, ...more]]) => {
      const paymentIds = [first!, ...more].map(({ id }) => id);
      return callEntitlement(ctx, first!, entitlementId, (object) => object.finalize({ paymentIds, ...calledBy(ctx) })).catch(
        (error: unknown) => ctx.note(`finalize: ${storyOf(error)}`),
      );
    }),
  );
}

/** A payment as it was read: a call that is held up is told from a later one by its version. */
type Read = Paid & { version: number };

/** What is said of a payment to the object of its buyer. */
const callOf = (ctx: Ctx, payment: Read): PaymentCall => ({
  identity: identityOfPaid(payment),
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
