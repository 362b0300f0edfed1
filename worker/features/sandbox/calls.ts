/**
 * Implementation of the sandbox routes, loaded on first use because a live deployment never needs it.
 * @module
 */

import type { IdentitySessionId, PaymentId, SandboxSessionId } from '#core/ids.ts';
import { completeIdentity, unknownIdentity } from '#features/checkout/buyer-identity/identity.ts';
import { findIdentitySession } from '#features/checkout/sessions/store.ts';
import { invalid } from '#features/products/terms.ts';
import type { Actor, Scope } from '#platform/context.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { signInAs } from '#protocols/x402/sign-in.ts';
import { parsePaymentRequired } from '#protocols/x402/wire.ts';
import type { TestOutcome, TestPayment } from './outcomes.ts';
import { loadPayable, payPayment, payRequired, signTransaction, walletOf } from './pay.ts';
import { toSandboxSessionResource } from './resource.ts';
import { SCENARIOS, type ScenarioName } from './scenarios/table.ts';
import { type BeginSession, beginSession } from './sessions/session.ts';
import { countDeliveries, getSandboxSession, listSandboxSessions } from './sessions/store.ts';

const OPTION_NAMES = { price: 'amount', delaySeconds: 'delay_seconds', failure: 'failure' } as const;

export const scenarios = () =>
  Object.entries(SCENARIOS).map(([scenario, { description, options, expected }]) => ({
    scenario,
    description,
    options: options.map((option) => OPTION_NAMES[option]),
    expected: [...expected],
  }));

export interface Asked extends Pick<BeginSession, 'seed' | 'productId' | 'endpointId' | 'advanceSeconds'> {
  scenario: string;
  options: {
    amount?: { asset: 'USDC' | 'SOL'; amount: string } | undefined;
    delay_seconds?: number | undefined;
    failure?: string | undefined;
  };
}

export async function begin(
  scope: Scope,
  actor: Actor,
  { scenario, options: given, ...rest }: Asked,
  storeAnswer: StoreAnswer<SandboxSession>,
): Promise<SandboxSession> {
  const known = SCENARIOS[scenario];
  if (!known || !Object.hasOwn(SCENARIOS, scenario))
    throw invalid('scenario', 'Expected a scenario of GET /v1/testing/scenarios', 'unknown_scenario');
  const { amount, delay_seconds: delaySeconds = 0, failure = null } = given;
  const taken: string[] = known.options.map((option) => OPTION_NAMES[option]);
  const foreign = Object.keys(given).find((name) => !taken.includes(name));
  if (foreign !== undefined) throw invalid(`options.${foreign}`, `Expected one of ${taken.join(', ')}`, 'not_taken');
  if (amount && rest.productId !== null)
    throw invalid('options.amount', 'Not allowed with product_id, which has its own price', 'not_both');
  const options = { price: amount ? { asset: amount.asset, amount: amount.amount } : null, delaySeconds, failure };
  return beginSession(scope, actor, { ...rest, scenario: scenario as ScenarioName, options }, storeAnswer);
}

export async function list(scope: Scope, limit: number) {
  const sessions = await listSandboxSessions(scope.db, scope.merchantId, limit);
  const deliveries = await countDeliveries(
    scope,
    sessions.map(({ id }) => id),
  );
  return sessions.map((session) => toSandboxSessionResource(session, deliveries.get(session.id)));
}

export async function present(scope: Scope, session: SandboxSession) {
  return toSandboxSessionResource(session, (await countDeliveries(scope, [session.id])).get(session.id));
}

export const get = async (scope: Scope, sessionId: SandboxSessionId) =>
  present(scope, await getSandboxSession(scope.db, scope.merchantId, sessionId));

interface Pay {
  paymentId: PaymentId | undefined;
  required: unknown;
  identifier?: string | undefined;
  transaction?: string | undefined;
  outcome: TestOutcome;
  label: string | null;
}

export async function payInSandbox(
  scope: Scope,
  { paymentId, required, identifier, transaction, outcome, label }: Pay,
  storeAnswer: StoreAnswer<TestPayment>,
): Promise<TestPayment> {
  const named = [paymentId, required, transaction].filter((one) => one !== undefined);
  if (named.length !== 1)
    throw invalid('payment_id', 'Expected exactly one of payment_id, payment_required and transaction', 'exactly_one');
  if (identifier !== undefined && required === undefined)
    throw invalid('payment_identifier', 'Expected payment_required, because only an x402 payment has an identifier', 'not_taken');
  if (transaction !== undefined) {
    if (outcome !== 'paid' && outcome !== 'declined')
      throw invalid('outcome', 'Expected paid or declined for a prepared transaction', 'not_taken');
    return signTransaction(scope, { transaction, outcome, wallet: label === null ? null : walletOf(scope, label) }, storeAnswer);
  }
  const wallet = walletOf(scope, label);
  if (paymentId !== undefined)
    return payPayment(await loadPayable(scope, paymentId), { outcome, wallet, isNamed: label !== null }, storeAnswer);
  if (outcome === 'late') throw invalid('outcome', 'Not allowed with payment_required, which has no session', 'not_taken');
  const challenge = parsePaymentRequired(required);
  if (!challenge) throw notAChallenge();
  return payRequired(scope, { required: challenge, outcome, wallet, identifier }, storeAnswer);
}

/** Signs in as a test wallet, with what a challenge offers. Stores nothing. Throws 422 if it offers no sign-in in the sandbox. */
export function signInInSandbox(scope: Scope, { required, label }: { required: unknown; label: string }) {
  const challenge = parsePaymentRequired(required);
  if (!challenge) throw notAChallenge();
  const { address, key } = walletOf(scope, label);
  const signIn = signInAs({ address, sign: key.sign }, challenge, scope.config.network.caip2);
  if (signIn === null)
    throw invalid('payment_required', 'Expected a challenge of the sandbox that offers a sign-in', 'sign_in_not_offered');
  return { sign_in: signIn, wallet_address: address };
}

const notAChallenge = () => invalid('payment_required', 'Expected an x402 version 2 challenge', 'invalid_value');

/** Completes the identity session of a sandbox product. Throws 422 for any other product, and the connector's own errors. */
export async function identify(
  scope: Scope,
  named: { identitySessionId: IdentitySessionId; providerUserId: string; username: string | null },
  storeAnswer: StoreAnswer<IdentitySession>,
): Promise<IdentitySession> {
  const known = await findIdentitySession(scope.db, named.identitySessionId);
  if (known?.merchantId !== scope.merchantId || known.livemode) throw unknownIdentity();
  return completeIdentity(scope, { ...named, provider: known.provider }, storeAnswer);
}

export { advanceSession } from './sessions/session.ts';
