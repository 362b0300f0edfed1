import { ApiError, raise } from '#core/errors.ts';
import type { IdentitySessionId, PaymentId, PaymentSessionId } from '#core/ids.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { connectInSession, planPaymentSession } from '#features/checkout/sessions/session.ts';
import { getMembershipBy } from '#features/memberships/store.ts';
import { confirmPayment } from '#features/payments/confirm/confirm.ts';
import { getPayment } from '#features/payments/store.ts';
import { certainAt } from '#features/payments/watch/expire.ts';
import { findListing, type Listing } from '#features/products/product.ts';
import { commit } from '#platform/db/commit.ts';
import type { EventType } from '#rules/events.ts';
import { type Paying, planCheckoutPayment, send, type TestWallet, testWallet } from '../wallet.ts';
import { done, later, type ScriptStage, type Step, type StepResult } from './script.ts';

/** Customer of a session. The reference starts with the session's id, which assigns it to the session's clock. */
export const customerIn = ({ id }: ScriptStage['session']): { customerRef: string } => ({ customerRef: `${id}:buyer` });

/** Returns the call's result, or its error code: some scenarios expect a refusal. Waits while a crashed run still holds the call's key. */
export async function readAnswer(call: () => Promise<string | undefined>): Promise<StepResult> {
  try {
    return done(await call());
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return error.code === 'idempotency_in_progress' || error.code === 'idempotency_race' ? later : done(error.code);
  }
}

export const buyerOf = ({ scope, session }: ScriptStage): TestWallet => testWallet(scope, `buyer:${session.seed}`);

export async function loadListing({ scope, session }: ScriptStage): Promise<Listing> {
  return (await findListing(scope, { productId: session.productId! })) ?? raise('not_found');
}

export const paymentIn = ({ scope, notes }: ScriptStage, noteKey = 'payment') => getPayment(scope, notes[noteKey] as PaymentId);

/** Opens a payment session and stores the payment's id in the note `noteKey`. */
const open = (noteKey: string): Step => ({
  action: 'open_payment_session',
  run: async (stage) => {
    const { scope, notes } = stage;
    const asked = { railId: null, ...customerIn(stage.session), successUrl: null, metadata: {} };
    notes[`${noteKey}_session`] ??= (await commit(scope, await planPaymentSession(scope, await loadListing(stage), asked))).id;
    return done('open');
  },
});

/** Connects the buyer's wallet. A repeated call returns the same payment. */
export const connectSteps = (noteKey = 'payment'): Step[] => [
  open(noteKey),
  {
    action: 'connect',
    run: async (stage) => {
      const { scope, notes } = stage;
      const { product } = await loadListing(stage);
      const identitySessionId = notes.identity as IdentitySessionId | undefined;
      const input = { slug: product.slug, walletAddress: buyerOf(stage).address, ...(identitySessionId ? { identitySessionId } : {}) };
      const begun = await connectInSession(scope, input, notes[`${noteKey}_session`] as PaymentSessionId);
      if ('provider' in begun) throw new ApiError('identity_verification_required');
      notes[noteKey] = begun.payment.id;
      return done();
    },
    until: ['payment.created'],
  },
];

export const paySteps = (paying: Paying, { hasFailed = false, noteKey = 'payment' } = {}): Step[] => [
  { action: 'advance', advanceMs: async ({ session }) => session.options.delaySeconds * SECOND },
  {
    action: 'pay',
    run: async (stage) => {
      const payment = await paymentIn(stage, noteKey);
      const wallet = buyerOf(stage);
      const how = { wallet, paying, chainOutcome: { landsAfterMs: 0, hasFailed } };
      stage.notes[`${noteKey}_signature`] ??= await send(stage.scope, await planCheckoutPayment(stage.scope, payment, how));
      return done(hasFailed ? 'failed' : paying);
    },
  },
];

/** Confirms the payment from the chain. `signedAs`: the note with the transaction's signature. */
export const confirmStep = (until: EventType[], { noteKey = 'payment', signedAs = 'payment' } = {}): Step => ({
  action: 'confirm',
  run: ({ scope, notes }) =>
    readAnswer(async () => {
      const txSignature = notes[`${signedAs}_signature`]!;
      const { payment } = await confirmPayment(scope, { paymentId: notes[noteKey] as PaymentId, txSignature, viewer: null });
      return payment.status;
    }),
  until,
});

export const GRANTED: EventType[] = ['payment.confirmed', 'entitlement.granted'];

export const buySteps = (noteKey = 'payment'): Step[] => [
  ...connectSteps(noteKey),
  ...paySteps('paid', { noteKey }),
  confirmStep(GRANTED, { noteKey, signedAs: noteKey }),
];

export const advanceStep = (ms: number): Step => ({ action: 'advance', advanceMs: async () => ms });

export const untilFinal = advanceStep(2 * MINUTE);

export const untilExpired = (noteKey = 'payment'): Step => ({
  action: 'advance',
  advanceMs: async (stage) => certainAt(await paymentIn(stage, noteKey)) + SECOND - stage.scope.now,
});

/** Advances to the end of the paid time or its grace period. No-op if there is none. */
export const untilLapsed = (which: 'paidThrough' | 'graceUntil'): Step => ({
  action: 'advance',
  advanceMs: async ({ scope, session }) => {
    const { [which]: end } = await getMembershipBy(scope, customerIn(session));
    return end === null ? 0 : end + SECOND - scope.now;
  },
});
