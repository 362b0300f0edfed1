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
import { done, type ScriptStage, type Step, type StepResult } from './script.ts';

/** The customer of a session: its reference begins with the session's id, so that it belongs to the session's clock. */
export const customerIn = ({ id }: ScriptStage['session']): { customerRef: string } => ({ customerRef: `${id}:buyer` });

/** What a verb answers, or the code it refuses with: a refusal is what some scenarios show. */
export async function answerOf(call: () => Promise<string | undefined>): Promise<StepResult> {
  try {
    return done(await call());
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error;
    return done(error.code);
  }
}

/** The wallet of the session's buyer, which its seed decides. */
export const buyerOf = ({ scope, session }: ScriptStage): TestWallet => testWallet(scope, `buyer:${session.seed}`);

export async function listingOf({ scope, session }: ScriptStage): Promise<Listing> {
  return (await findListing(scope, { productId: session.productId! })) ?? raise('not_found');
}

export const paymentIn = ({ scope, notes }: ScriptStage, place = 'payment') => getPayment(scope, notes[place] as PaymentId);

/** The merchant's server opens a payment session. `place`: where the payment of it will be noted. */
const open = (place: string): Step => ({
  action: 'open_payment_session',
  run: async (stage) => {
    const { scope, notes } = stage;
    const asked = { railId: null, ...customerIn(stage.session), successUrl: null, metadata: {} };
    notes[`${place}_session`] ??= (await commit(scope, await planPaymentSession(scope, await listingOf(stage), asked))).id;
    return done('open');
  },
});

/** Its buyer connects with a wallet: the same payment, however often. */
export const connectSteps = (place = 'payment'): Step[] => [
  open(place),
  {
    action: 'connect',
    run: async (stage) => {
      const { scope, notes } = stage;
      const { product } = await listingOf(stage);
      const identitySessionId = notes.identity as IdentitySessionId | undefined;
      const input = { slug: product.slug, walletAddress: buyerOf(stage).address, ...(identitySessionId ? { identitySessionId } : {}) };
      const begun = await connectInSession(scope, input, notes[`${place}_session`] as PaymentSessionId);
      if ('provider' in begun) throw new ApiError('identity_verification_required');
      notes[place] = begun.payment.id;
      return done();
    },
    until: ['payment.created'],
  },
];

/** The buyer's wallet pays, after as long as the session's options say. */
export const paySteps = (paying: Paying, { hasFailed = false, place = 'payment' } = {}): Step[] => [
  { action: 'advance', advanceMs: async ({ session }) => session.options.delaySeconds * SECOND },
  {
    action: 'pay',
    run: async (stage) => {
      const payment = await paymentIn(stage, place);
      const wallet = buyerOf(stage);
      const how = { wallet, paying, fate: { landsAfterMs: 0, hasFailed } };
      stage.notes[`${place}_signature`] ??= await send(stage.scope, await planCheckoutPayment(stage.scope, payment, how));
      return done(hasFailed ? 'failed' : paying);
    },
  },
];

/** Has the payment confirmed by what the chain shows. `signedAs`: the note whose transaction is named. */
export const confirmStep = (until: EventType[], { place = 'payment', signedAs = 'payment' } = {}): Step => ({
  action: 'confirm',
  run: ({ scope, notes }) =>
    answerOf(async () => {
      const txSignature = notes[`${signedAs}_signature`]!;
      const { payment } = await confirmPayment(scope, { paymentId: notes[place] as PaymentId, txSignature, viewer: null });
      return payment.status;
    }),
  until,
});

export const GRANTED: EventType[] = ['payment.confirmed', 'entitlement.granted'];

/** A purchase from connect to the access it brings. */
export const buySteps = (place = 'payment'): Step[] => [
  ...connectSteps(place),
  ...paySteps('paid', { place }),
  confirmStep(GRANTED, { place, signedAs: place }),
];

export const advanceStep = (ms: number): Step => ({ action: 'advance', advanceMs: async () => ms });

/** Until the cluster has made what was paid final. */
export const untilFinal = advanceStep(2 * MINUTE);

/** Until the payment can be paid no more, and the service has said so. */
export const untilExpired = (place = 'payment'): Step => ({
  action: 'advance',
  advanceMs: async (stage) => certainAt(await paymentIn(stage, place)) + SECOND - stage.scope.now,
});

/** Until the end of what was paid, or of the grace after it. Not at all where there is none. */
export const untilLapsed = (which: 'paidThrough' | 'graceUntil'): Step => ({
  action: 'advance',
  advanceMs: async ({ scope, session }) => {
    const { [which]: end } = await getMembershipBy(scope, customerIn(session));
    return end === null ? 0 : end + SECOND - scope.now;
  },
});
