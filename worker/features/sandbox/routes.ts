import { z } from '@hono/zod-openapi';
import type { EndpointId, IdentitySessionId, PaymentId, ProductId, SandboxSessionId } from '#core/ids.ts';
import { created, IdentitySessionUuid, idOf, idParam, ModeQuery, PayerWallet, TransactionSignature } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { AdvanceSeconds, BeginRequest, PayRequest, SandboxSessionBody, SignInRequest } from './resource.ts';

const load = () => import('./calls.ts');

const params = idParam('session_id', idOf<SandboxSessionId>());

export const sandboxRoutes = routes('Sandbox', 'sandbox')
  .read({
    path: 'GET /testing/scenarios',
    id: 'listScenarios',
    sdk: 'testing.listScenarios',
    summary: 'List scenarios',
    description: 'Lists the scenarios of the sandbox.',
    mode: 'sandbox',
    returns: z
      .object({
        items: z.array(
          z.object({
            scenario: z.string(),
            description: z.string(),
            options: z.array(z.string()),
            expected: z.array(z.string()).describe('Expected event types, in order.'),
          }),
        ),
      })
      .openapi('SandboxScenarios', {
        description: 'Scenarios. `expected` lists the event types of each in the order in which they are recorded.',
      }),
    answer: async () => ({ items: (await load()).scenarios() }),
  })
  .write({
    path: 'POST /testing/sessions',
    id: 'createSandboxSession',
    sdk: 'testing.createSession',
    summary: 'Run a scenario',
    description:
      'Runs a scenario. Poll the session, or listen on your sandbox endpoints. Its customer references begin with its id. Erased 30 days after its end.',
    mode: 'sandbox',
    body: BeginRequest,
    returns: created(SandboxSessionBody),
    codes: ['not_found', 'plan_limit_reached', 'setup_not_ready'],
    once: async ({ scope, actor, body: { product_id, endpoint_id, advance_seconds, seed, ...body } }, storeAnswer) => {
      const named = { productId: (product_id ?? null) as ProductId | null, endpointId: (endpoint_id ?? null) as EndpointId | null };
      const input = { ...body, ...named, seed: seed ?? null, advanceSeconds: advance_seconds ?? 0 };
      return (await load()).begin(scope, actor, input, storeAnswer);
    },
    present: async (session, { scope }) => (await load()).present(scope, session),
  })
  .read({
    path: 'GET /testing/sessions',
    id: 'listSandboxSessions',
    sdk: 'testing.listSessions',
    summary: 'List sandbox sessions',
    description: 'Lists recent sandbox sessions, newest first.',
    mode: 'sandbox',
    query: z.object({ ...ModeQuery, limit: z.coerce.number().int().min(1).max(100).default(20).describe('Maximum number of entries.') }),
    returns: z.object({ items: z.array(SandboxSessionBody) }).openapi('SandboxSessions'),
    answer: async ({ scope, query }) => ({ items: await (await load()).list(scope, query.limit) }),
  })
  .read({
    path: 'GET /testing/sessions/{session_id}',
    id: 'getSandboxSession',
    sdk: 'testing.getSession',
    summary: 'Get a sandbox session',
    description: 'Returns a sandbox session.',
    mode: 'sandbox',
    params,
    returns: SandboxSessionBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => (await load()).get(scope, params.session_id),
  })
  .write({
    path: 'POST /testing/sessions/{session_id}/advance',
    id: 'advanceSandboxSession',
    sdk: 'testing.advance',
    summary: 'Advance the clock',
    description:
      'Advances the clock of the session. Everything due on the way happens in order. At most 400 days per call, for 60 days after the session began.',
    mode: 'sandbox',
    params,
    body: z.object({ seconds: AdvanceSeconds }).openapi('AdvanceRequest', { example: { seconds: 86_400 } }),
    returns: SandboxSessionBody,
    codes: ['not_found', 'state_conflict'],
    once: async ({ scope, params, body }, storeAnswer) =>
      (await load()).advanceSession(scope, params.session_id, body.seconds, storeAnswer),
    present: async (session, { scope }) => (await load()).present(scope, session),
  })
  .write({
    path: 'POST /testing/pay',
    id: 'payTest',
    sdk: 'testing.pay',
    summary: 'Pay as a test wallet',
    description:
      'Pays as a test wallet. A payment is broadcast on the simulated chain: confirm it, or wait until it is found. An x402 challenge returns the value of PAYMENT-SIGNATURE.',
    mode: 'sandbox',
    body: PayRequest,
    returns: z
      .object({
        tx_signature: TransactionSignature.optional(),
        payment_signature: z.string().optional().describe('Value for the `PAYMENT-SIGNATURE` header.'),
        transaction: z.string().optional().describe('Solana transaction in base64. Unsigned if the service created it.'),
        payer_wallet: PayerWallet,
      })
      .openapi('TestPayment'),
    codes: ['not_found', 'state_conflict', 'payment_failed', 'session_expired', 'payment_mismatch', 'identity_verification_required'],
    once: async (
      { scope, body: { payment_id, payment_required: required, payment_identifier: identifier, wallet, ...body } },
      storeAnswer,
    ) => {
      const input = { ...body, paymentId: payment_id as PaymentId | undefined, required, identifier, label: wallet ?? null };
      return (await load()).payInSandbox(scope, input, storeAnswer);
    },
    present: ({ field, value, payer, txSignature }) => ({
      ...(value === null ? {} : { [field]: value }),
      ...(txSignature === undefined ? {} : { tx_signature: txSignature }),
      payer_wallet: payer,
    }),
  })
  .write({
    path: 'POST /testing/sign-in',
    id: 'signInTest',
    sdk: 'testing.signIn',
    summary: 'Sign in as a test wallet',
    description: 'Signs in as a test wallet that has paid, with what an x402 challenge names. Returns the value of SIGN-IN-WITH-X.',
    mode: 'sandbox',
    key: 'none',
    idempotency: 'natural',
    body: SignInRequest,
    returns: z
      .object({
        sign_in: z.string().describe('Value for the `SIGN-IN-WITH-X` header.'),
        wallet_address: z.string(),
      })
      .openapi('TestSignIn'),
    answer: async ({ scope, body: { payment_required: required, wallet: label } }) =>
      (await load()).signInInSandbox(scope, { required, label }),
  })
  .write({
    path: 'POST /testing/identity',
    id: 'identifyTest',
    sdk: 'testing.identify',
    summary: 'Identify a test buyer',
    description: 'Completes a buyer’s identity check as the connector would.',
    mode: 'sandbox',
    body: z
      .object({
        identity_session_id: IdentitySessionUuid,
        provider_user_id: z
          .string()
          .regex(/^[\x21-\x7e]{1,64}$/, 'Expected 1 to 64 visible characters')
          .describe('Buyer’s user id on the messaging platform.'),
        username: z.string().min(1).max(64).optional().describe('Buyer’s user name on the messaging platform.'),
      })
      .openapi('TestIdentity'),
    returns: z
      .object({
        identity_session_id: IdentitySessionUuid,
        provider: z.enum(IDENTITY_PROVIDERS),
        provider_user_id: z.string().describe('Buyer’s user id on the messaging platform.'),
        status: z.literal('completed'),
      })
      .openapi('CompletedTestIdentity'),
    codes: ['not_found', 'state_conflict', 'identity_expired'],
    once: async ({ scope, body: { identity_session_id, provider_user_id, username } }, storeAnswer) => {
      const named = {
        identitySessionId: identity_session_id as IdentitySessionId,
        providerUserId: provider_user_id,
        username: username ?? null,
      };
      return (await load()).identify(scope, named, storeAnswer);
    },
    present: ({ id, provider, providerUserId }) => ({
      identity_session_id: id,
      provider,
      provider_user_id: providerUserId!,
      status: 'completed' as const,
    }),
  });
