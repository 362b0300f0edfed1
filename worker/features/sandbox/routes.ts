import { z } from '@hono/zod-openapi';
import type { EndpointId, IdentitySessionId, PaymentId, ProductId, SandboxSessionId } from '#core/ids.ts';
import { created, idOf, idParam, ModeQuery } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { AdvanceSeconds, BeginRequest, PayRequest, SandboxSessionBody } from './resource.ts';

/** What only a call to the sandbox needs is loaded by it. */
const load = () => import('./calls.ts');

const params = idParam('session_id', idOf<SandboxSessionId>());

export const sandboxRoutes = routes('Sandbox')
  .read({
    path: 'GET /testing/scenarios',
    id: 'listScenarios',
    summary: 'List scenarios',
    description: 'What can be tried in the sandbox.',
    mode: 'sandbox',
    returns: z
      .object({
        items: z.array(
          z.object({ scenario: z.string(), description: z.string(), options: z.array(z.string()), expected: z.array(z.string()) }),
        ),
      })
      .openapi('SandboxScenarios', { description: '`expected`: the types of its events, in the order in which they are recorded.' }),
    answer: async () => ({ items: (await load()).scenarios() }),
  })
  .write({
    path: 'POST /testing/sessions',
    id: 'createSandboxSession',
    summary: 'Run a scenario',
    description:
      'Answers at once; poll the session, or listen to your sandbox endpoints. Everything in it has `livemode: false`, and its customers have ' +
      'references that begin with its id. It is erased 30 days after its end.',
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
    summary: 'List sandbox sessions',
    description: 'Recent sandbox sessions, newest first.',
    mode: 'sandbox',
    query: z.object({ ...ModeQuery, limit: z.coerce.number().int().min(1).max(100).default(20) }),
    returns: z.object({ items: z.array(SandboxSessionBody) }).openapi('SandboxSessions'),
    answer: async ({ scope, query }) => ({ items: await (await load()).list(scope, query.limit) }),
  })
  .read({
    path: 'GET /testing/sessions/{session_id}',
    id: 'getSandboxSession',
    summary: 'Get a sandbox session',
    description: 'One sandbox session.',
    mode: 'sandbox',
    params,
    returns: SandboxSessionBody,
    codes: ['not_found'],
    answer: async ({ scope, params }) => (await load()).get(scope, params.session_id),
  })
  .write({
    path: 'POST /testing/sessions/{session_id}/advance',
    id: 'advanceSandboxSession',
    summary: 'Advance a clock',
    description:
      'What falls due on the way happens in its order and at its time. At most 400 days; a session moves one way and once at a time, for 60 days after its beginning.',
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
    summary: 'Pay as a test wallet',
    description:
      'A payment is signed and broadcast on the simulated chain, and never confirmed by this: confirm it as your page would, or wait until it ' +
      'is found. A challenge of x402 is answered with what the agent sends as PAYMENT-SIGNATURE. `declined` answers no signature.',
    mode: 'sandbox',
    body: PayRequest,
    returns: z
      .object({
        tx_signature: z.string().optional(),
        payment_signature: z.string().optional(),
        transaction: z.string().optional(),
        payer_wallet: z.string(),
      })
      .openapi('TestPayment'),
    codes: ['not_found', 'state_conflict', 'payment_failed', 'session_expired', 'payment_mismatch', 'identity_verification_required'],
    once: async ({ scope, body: { payment_id, payment_required: required, wallet, ...body } }, storeAnswer) => {
      const input = { ...body, paymentId: payment_id as PaymentId | undefined, required, label: wallet ?? null };
      return (await load()).payInSandbox(scope, input, storeAnswer);
    },
    present: ({ field, value, payer, txSignature }) => ({
      ...(value === null ? {} : { [field]: value }),
      ...(txSignature === undefined ? {} : { tx_signature: txSignature }),
      payer_wallet: payer,
    }),
  })
  .write({
    path: 'POST /testing/identity',
    id: 'identifyTest',
    summary: 'Identify a test buyer',
    description: 'Complete a buyer’s identity as the connector would.',
    mode: 'sandbox',
    body: z
      .object({
        identity_session_id: z.uuid(),
        provider_user_id: z.string().regex(/^[\x21-\x7e]{1,64}$/, 'Expected 1 to 64 visible characters'),
        username: z.string().min(1).max(64).optional(),
      })
      .openapi('TestIdentity'),
    returns: z
      .object({
        identity_session_id: z.uuid(),
        provider: z.enum(IDENTITY_PROVIDERS),
        provider_user_id: z.string(),
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
