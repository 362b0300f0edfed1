import { createRoute, z } from '@hono/zod-openapi';
import type { EndpointId, IdentitySessionId, PaymentId, ProductId, SandboxSessionId } from '#core/ids.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { IdentitySession } from '#platform/db/tables/checkout.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { merchantErrors, merchantWriteErrors, sandboxRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { created, idOf, idParam, jsonBody, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import type { TestPayment } from './outcomes.ts';
import { AdvanceSeconds, BeginRequest, PayRequest, SandboxSessionBody } from './resource.ts';

/** What only a call to the sandbox needs is loaded by it. */
const load = () => import('./calls.ts');

const { read: reads, write: writes } = sandboxRoute;
const mode = z.object(ModeQuery);
const tags = ['Sandbox'];
const sessionId = idParam('session_id', idOf<SandboxSessionId>());

const listScenarios = createRoute({
  method: 'get',
  path: '/testing/scenarios',
  operationId: 'listScenarios',
  tags,
  summary: 'List scenarios',
  description: 'What can be tried in the sandbox.',
  ...reads,
  request: { query: mode },
  responses: {
    ...ok(
      z
        .object({
          items: z.array(
            z.object({ scenario: z.string(), description: z.string(), options: z.array(z.string()), expected: z.array(z.string()) }),
          ),
        })
        .openapi('SandboxScenarios', { description: '`expected`: the types of its events, in the order in which they are recorded.' }),
    ),
    ...merchantErrors(),
  },
});

const begin = createRoute({
  method: 'post',
  path: '/testing/sessions',
  operationId: 'createSandboxSession',
  tags,
  summary: 'Run a scenario',
  description:
    'Answers at once; poll the session, or listen to your sandbox endpoints. Everything in it has `livemode: false`, and its customers have ' +
    'references that begin with its id. It is erased 30 days after its end.',
  ...writes,
  request: { headers: OptionalIdempotencyHeader, query: mode, ...jsonBody(BeginRequest) },
  responses: { ...created(SandboxSessionBody), ...merchantWriteErrors('not_found', 'plan_limit_reached', 'setup_not_ready') },
});

const list = createRoute({
  method: 'get',
  path: '/testing/sessions',
  operationId: 'listSandboxSessions',
  tags,
  summary: 'List sandbox sessions',
  description: 'Recent sandbox sessions, newest first.',
  ...reads,
  request: { query: z.object({ ...ModeQuery, limit: z.coerce.number().int().min(1).max(100).default(20) }) },
  responses: { ...ok(z.object({ items: z.array(SandboxSessionBody) }).openapi('SandboxSessions')), ...merchantErrors() },
});

const get = createRoute({
  method: 'get',
  path: '/testing/sessions/{session_id}',
  operationId: 'getSandboxSession',
  tags,
  summary: 'Get a sandbox session',
  description: 'One sandbox session.',
  ...reads,
  request: { params: sessionId, query: mode },
  responses: { ...ok(SandboxSessionBody), ...merchantErrors('not_found') },
});

const advance = createRoute({
  method: 'post',
  path: '/testing/sessions/{session_id}/advance',
  operationId: 'advanceSandboxSession',
  tags,
  summary: 'Advance a clock',
  description:
    'What falls due on the way happens in its order and at its time. At most 400 days; a session moves one way and once at a time, for 60 days after its beginning.',
  ...writes,
  request: {
    headers: OptionalIdempotencyHeader,
    params: sessionId,
    query: mode,
    ...jsonBody(z.object({ seconds: AdvanceSeconds }).openapi('AdvanceRequest', { example: { seconds: 86_400 } })),
  },
  responses: { ...ok(SandboxSessionBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});

const pay = createRoute({
  method: 'post',
  path: '/testing/pay',
  operationId: 'payTest',
  tags,
  summary: 'Pay as a test wallet',
  description:
    'A payment is signed and broadcast on the simulated chain, and never confirmed by this: confirm it as your page would, or wait until it ' +
    'is found. A challenge of x402 is answered with what the agent sends as PAYMENT-SIGNATURE. `declined` answers no signature.',
  ...writes,
  request: { headers: OptionalIdempotencyHeader, query: mode, ...jsonBody(PayRequest) },
  responses: {
    ...ok(
      z
        .object({
          tx_signature: z.string().optional(),
          payment_signature: z.string().optional(),
          transaction: z.string().optional(),
          payer_wallet: z.string(),
        })
        .openapi('TestPayment'),
    ),
    ...merchantWriteErrors(
      'not_found',
      'state_conflict',
      'payment_failed',
      'session_expired',
      'payment_mismatch',
      'identity_verification_required',
    ),
  },
});

const identify = createRoute({
  method: 'post',
  path: '/testing/identity',
  operationId: 'identifyTest',
  tags,
  summary: 'Identify a test buyer',
  description: 'Complete a buyer’s identity as the connector would.',
  ...writes,
  request: {
    headers: OptionalIdempotencyHeader,
    query: mode,
    ...jsonBody(
      z
        .object({
          identity_session_id: z.uuid(),
          provider_user_id: z.string().regex(/^[\x21-\x7e]{1,64}$/, 'Expected 1 to 64 visible characters'),
          username: z.string().min(1).max(64).optional(),
        })
        .openapi('TestIdentity'),
    ),
  },
  responses: {
    ...ok(
      z
        .object({
          identity_session_id: z.uuid(),
          provider: z.enum(IDENTITY_PROVIDERS),
          provider_user_id: z.string(),
          status: z.literal('completed'),
        })
        .openapi('CompletedTestIdentity'),
    ),
    ...merchantWriteErrors('not_found', 'state_conflict', 'identity_expired'),
  },
});

const toPaymentBody = ({ field, value, payer, txSignature }: TestPayment) => ({
  status: 200,
  body: {
    ...(value === null ? {} : { [field]: value }),
    ...(txSignature === undefined ? {} : { tx_signature: txSignature }),
    payer_wallet: payer,
  },
});

const toIdentityBody = ({ id, provider, providerUserId }: IdentitySession) => ({
  status: 200,
  body: { identity_session_id: id, provider, provider_user_id: providerUserId!, status: 'completed' as const },
});

export const sandboxRoutes = router()
  .openapi(listScenarios, async (c) => c.json({ items: (await load()).scenarios() }, 200))
  .openapi(begin, async (c) => {
    const { actor, scope } = c.var;
    const { product_id, endpoint_id, advance_seconds, seed, ...body } = c.req.valid('json');
    const named = { productId: (product_id ?? null) as ProductId | null, endpointId: (endpoint_id ?? null) as EndpointId | null };
    const input = { ...body, ...named, seed: seed ?? null, advanceSeconds: advance_seconds ?? 0 };
    const calls = await load();
    const run = (storeAnswer: StoreAnswer<SandboxSession>) => calls.begin(scope, actor, input, storeAnswer);
    return sendStored(c, await answerOnce(c, run, async (session) => ({ status: 201, body: await calls.present(scope, session) })));
  })
  .openapi(list, async (c) => c.json({ items: await (await load()).list(c.var.scope, c.req.valid('query').limit) }, 200))
  .openapi(get, async (c) => c.json(await (await load()).get(c.var.scope, c.req.valid('param').session_id as SandboxSessionId), 200))
  .openapi(advance, async (c) => {
    const id = c.req.valid('param').session_id as SandboxSessionId;
    const { scope } = c.var;
    const calls = await load();
    const run = (storeAnswer: StoreAnswer<SandboxSession>) => calls.advanceSession(scope, id, c.req.valid('json').seconds, storeAnswer);
    return sendStored(c, await answerOnce(c, run, async (session) => ({ status: 200, body: await calls.present(scope, session) })));
  })
  .openapi(pay, async (c) => {
    const { scope } = c.var;
    const { payment_id, payment_required: required, wallet, ...body } = c.req.valid('json');
    const input = { ...body, paymentId: payment_id as PaymentId | undefined, required, label: wallet ?? null };
    const calls = await load();
    const run = (storeAnswer: StoreAnswer<TestPayment>) => calls.payInSandbox(scope, input, storeAnswer);
    return sendStored(c, await answerOnce(c, run, toPaymentBody));
  })
  .openapi(identify, async (c) => {
    const { identity_session_id, provider_user_id, username } = c.req.valid('json');
    const named = {
      identitySessionId: identity_session_id as IdentitySessionId,
      providerUserId: provider_user_id,
      username: username ?? null,
    };
    const calls = await load();
    const run = (storeAnswer: StoreAnswer<IdentitySession>) => calls.identify(c.var.scope, named, storeAnswer);
    return sendStored(c, await answerOnce(c, run, toIdentityBody));
  });
