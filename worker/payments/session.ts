import type { Ctx } from '../context.ts';
import { ApiError, raise } from '../core/errors.ts';
import { newId, type PaymentSessionId } from '../core/ids.ts';
import { MINUTE } from '../core/time.ts';
import { type Change, transact, unchanged } from '../db/commit.ts';
import { getListing, type Sale } from '../products/product.ts';
import { notReady, type Obstacle, obstaclesOf, prospectOf } from '../products/sale.ts';
import type { RailId } from '../rails.ts';
import { PAYMENT } from '../states.ts';
import { type Checkout, type Connect, newPayment, prepareTransaction, requireBuyer, requireCheckout } from './checkout.ts';
import { planCreate } from './payment.ts';
import { findPaymentSession, holdPayment, insertPaymentSession, type PaymentSession } from './session.store.ts';
import type { Payment } from './store.ts';

export type { PaymentSession } from './session.store.ts';

/** A merchant's server keeps a price and a customer for one buyer so long. */
const SESSION_MS = 30 * MINUTE;
/** A buyer who comes in the last moment still has time to sign: the shortest life a checkout may have. */
const LEAST_MS = 5 * MINUTE;

export type PaymentSessionStatus = 'open' | 'pending_confirmation' | 'completed' | 'failed' | 'expired';

export function statusOf({ expiresAt }: PaymentSession, payment: Payment | null, now: number): PaymentSessionStatus {
  if (payment?.status === 'CONFIRMED') return 'completed';
  if (payment?.status === 'PENDING_CONFIRMATION') return 'pending_confirmation';
  if (now <= expiresAt) return 'open';
  return payment?.status === 'FAILED' ? 'failed' : 'expired';
}

export interface OpenPaymentSession {
  railId: RailId;
  customerRef: string | null;
  successUrl: string | null;
  metadata: Record<string, string>;
}

/** What stops a sandbox session, which nobody will ever pay on chain. */
const IN_SANDBOX: Obstacle[] = ['product_active', 'rail_enabled'];

/** A checkout opened by the merchant's server. 409 setup_not_ready where a buyer could not pay it. (contract section 6) */
export function planPaymentSession(ctx: Ctx, sale: Sale, input: OpenPaymentSession): Change<PaymentSession> {
  const { product } = sale;
  const prospect = prospectOf(sale);
  const [obstacle] = obstaclesOf(ctx.config, prospect, input.railId).filter((one) => product.livemode || IN_SANDBOX.includes(one));
  if (obstacle) throw notReady(obstacle, input.railId, prospect);
  const session: PaymentSession = {
    id: newId<PaymentSessionId>(ctx.now),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    asset: product.asset,
    priceAmount: product.priceAmount,
    customerRef: input.customerRef,
    successUrl: input.successUrl,
    metadata: input.metadata,
    paymentId: null,
    expiresAt: ctx.now + SESSION_MS,
    createdAt: ctx.now,
    version: 1,
  };
  return { events: [], writes: [insertPaymentSession(ctx.db, session)], result: session };
}

/**
 * Connect for a payment session: the payment that is under way in it, however often and from however many places it is asked
 * for; a new one only where there is none or the last one failed. 404 for a session of another product, 409 state_conflict
 * once it is paid, 410 session_expired once it is over. (contract section 6 "Payment session")
 */
export async function connectInSession(ctx: Ctx, input: Connect, paymentSessionId: PaymentSessionId): Promise<Checkout> {
  const sale = await getListing(ctx.db, input.slug);
  const payment = await transact(ctx, async () => {
    const found = await findPaymentSession(ctx.db, paymentSessionId);
    if (found?.session.productId !== sale.product.id) throw new ApiError('not_found');
    const running = runningIn(ctx, found.session, found.payment);
    return running ? unchanged(running) : planBegin(ctx, sale, found.session, input);
  });
  if (input.walletAddress === undefined || payment.status !== 'PENDING_SIGNATURE') return { payment, prepared: null };
  requireBuyer(input.walletAddress, payment.recipientWallet);
  // After the session holds the payment: whoever meets a node that is down gets this same payment when he asks again.
  return { payment, prepared: await prepareTransaction(ctx, payment, input.walletAddress) };
}

/** The payment a buyer is to go on with; null where a new one may begin. */
function runningIn({ now }: Ctx, session: PaymentSession, payment: Payment | null): Payment | null {
  const status = statusOf(session, payment, now);
  if (status === 'completed') {
    const meta = { reason: 'completed', payment_id: payment!.id };
    throw new ApiError('state_conflict', { detail: 'This payment session is already paid.', meta });
  }
  // Money may be on its way: whoever asks is told so, and never sent away to pay again.
  if (status === 'pending_confirmation') return payment;
  const isRunning = payment !== null && !PAYMENT.isTerminal(payment.status);
  if (isRunning && now <= payment.expiresAt) return payment;
  if (isRunning || status !== 'open') throw new ApiError('session_expired');
  return null;
}

async function planBegin(ctx: Ctx, sale: Sale, session: PaymentSession, input: Connect): Promise<Change<Payment>> {
  // Taken off sale: what is being paid finishes, nothing begins.
  if (sale.product.status !== 'active') raise('not_found');
  const recipient = requireCheckout(ctx, sale, input);
  const begun = planCreate(
    ctx,
    await newPayment(ctx, sale, recipient, {
      ...input,
      customerRef: session.customerRef ?? input.customerRef,
      successUrl: session.successUrl,
      priceAmount: session.priceAmount,
      paymentSessionId: session.id,
      expiresAt: Math.max(session.expiresAt, ctx.now + LEAST_MS),
    }),
  );
  return { ...begun, writes: [...begun.writes, ...holdPayment(ctx, session, begun.result.id)] };
}
