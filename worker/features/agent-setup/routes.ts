import { createRoute, z } from '@hono/zod-openapi';
import type { KeyId, SetupIntentId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { newestOf } from '#platform/db/directory.ts';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';
import { publicBodyErrors } from '#platform/http/callers.ts';
import { created, idOf, idParam, jsonBody, ok, router } from '#platform/http/openapi.ts';
import { countWrongSecrets, publicBucket, type Subject } from '#platform/http/rate-limit.ts';
import { PLAN_NAMES } from '#rules/plans.ts';
import { approveSetup } from './approve.ts';
import { MANIFEST_EXAMPLE, manifestFields } from './manifest/schema.ts';
import { ApprovedSetupBody, CreatedSetupBody, SetupIntentBody, toSetupIntentResource } from './resource.ts';
import { locateSetup } from './secret.ts';
import { attachManifest, createSetup, getSetup } from './setup.ts';

const tags = ['Agent bootstrap'];
const params = idParam('setup_intent_id', idOf<SetupIntentId>());
const path = '/access/agent-bootstrap/{setup_intent_id}';
// Not judged by its form: whatever is no secret of this setup is the same 404.
const secret = { setup_secret: z.string().max(500).openapi({ description: 'As it was shown when the setup was created.' }) };
const SECRET_EXAMPLE = { setup_secret: `svc_setup_${'0'.repeat(32)}_${'A'.repeat(43)}` };
const GUESSES = 'An unknown setup, a wrong secret and two that do not belong together are the same 404.';
const perSetup: Subject = (c) => c.req.param('setup_intent_id') ?? '';

const CreateRequest = z
  .object({
    agent_name: ShownName(120),
    operator_contact: ShownName(254).optional(),
    intended_use: ShownText(2000).optional(),
    plan: z.enum(PLAN_NAMES).optional().openapi({ description: 'The plan you mean to buy.' }),
  })
  .openapi('CreateSetupIntentRequest', { example: { agent_name: 'Weather agent', intended_use: 'Sell forecasts by the request' } });
const create = createRoute({
  method: 'post',
  path: '/access/agent-bootstrap',
  operationId: 'createSetupIntent',
  tags,
  summary: 'Begin a setup',
  description:
    `Needs no credential. \`setup_secret\` and \`sandbox_api_key\` are shown once, here. The setup ends after ${LIFE.setupHours} hours unless a plan is ` +
    'activated with its secret; a payment that is on its way by then is waited for. Follow `next_actions`.',
  middleware: publicBucket('agent-bootstrap'),
  request: jsonBody(CreateRequest),
  responses: { ...created(CreatedSetupBody), ...publicBodyErrors('rate_limited') },
});

const status = createRoute({
  method: 'post',
  path: `${path}/status`,
  operationId: 'getSetupIntent',
  tags,
  summary: 'Get a setup',
  description: GUESSES,
  middleware: [publicBucket('status', perSetup), countWrongSecrets] as const,
  request: { params, ...jsonBody(z.object(secret).openapi('SetupIntentStatusRequest', { example: SECRET_EXAMPLE })) },
  responses: { ...ok(SetupIntentBody), ...publicBodyErrors('rate_limited', 'not_found') },
});

const ManifestRequest = z
  .object({ ...secret, ...manifestFields })
  .openapi('SetupManifestRequest', { example: { ...SECRET_EXAMPLE, ...MANIFEST_EXAMPLE } });
const manifest = createRoute({
  method: 'post',
  path: `${path}/manifest`,
  operationId: 'putSetupManifest',
  tags,
  summary: 'Send a manifest',
  description:
    'Replaces the manifest before it, until the setup is approved; from then on only one that asks for live mode where the one before did ' +
    'not, and meets its rules. Findings of severity `error` send it back (`changes_required`); without ' +
    `one it is \`ready\`. Its URLs are never fetched. ${GUESSES}`,
  middleware: [publicBucket('confirm', perSetup), countWrongSecrets] as const,
  request: { params, ...jsonBody(ManifestRequest) },
  responses: {
    ...ok(SetupIntentBody),
    ...publicBodyErrors('rate_limited', 'not_found', 'state_conflict', 'account_suspended', 'account_deleted'),
  },
});

const ApproveRequest = z
  .object({
    ...secret,
    issue_live_key: z.boolean().default(false),
    live_mode_confirmed: z.boolean().default(false).openapi({ description: 'Must be true to issue a live key.' }),
    replace_live_key_id: idOf<KeyId>()
      .optional()
      .openapi({
        description:
          'Revokes this live key of the setup, for an answer that was lost or a key that leaked. With issue_live_key another takes its place; ' +
          'without it none does.',
      }),
  })
  .refine(({ issue_live_key: issue, live_mode_confirmed: confirmed }) => !issue || confirmed, {
    path: ['live_mode_confirmed'],
    message: 'A live key moves real money: confirm live mode to have one',
    params: { type: 'not_confirmed' },
  })
  .openapi('ApproveSetupIntentRequest', { example: { ...SECRET_EXAMPLE, issue_live_key: true, live_mode_confirmed: true } });
const approve = createRoute({
  method: 'post',
  path: `${path}/approve`,
  operationId: 'approveSetupIntent',
  tags,
  summary: 'Approve a setup',
  description:
    'A live key needs a plan, and a manifest with `live_requested: true`. It is shown once. Asked for again while one is active it is 409 `state_conflict`; name that one in `replace_live_key_id` to ' +
    'revoke it and have another, or alone to only revoke it. Nothing of the manifest is applied by this: `next_actions` has the calls that do, each by itself. ' +
    GUESSES,
  middleware: [publicBucket('confirm', perSetup), countWrongSecrets] as const,
  request: { params, ...jsonBody(ApproveRequest) },
  responses: {
    ...ok(ApprovedSetupBody),
    ...publicBodyErrors('rate_limited', 'not_found', 'state_conflict', 'setup_not_ready', 'account_suspended', 'account_deleted'),
  },
});

export const bootstrapRoutes = router()
  .openapi(create, async (c) => {
    const ctx = newestOf(c.var.ctx);
    const { agent_name: agentName, operator_contact: contact, intended_use: use, plan } = c.req.valid('json');
    const made = await createSetup(ctx, { agentName, operatorContact: contact ?? null, intendedUse: use ?? null, plan: plan ?? null });
    const secrets = { setup_secret: made.setupSecret, sandbox_api_key: made.sandboxApiKey };
    return c.json({ ...toSetupIntentResource(made.standing, ctx.now), ...secrets }, 201);
  })
  .openapi(status, async (c) => {
    const ctx = await locateSetup(c.var.ctx, c.req.valid('json').setup_secret);
    const standing = await getSetup(ctx, c.req.valid('param').setup_intent_id, c.req.valid('json').setup_secret);
    return c.json(toSetupIntentResource(standing, ctx.now), 200);
  })
  .openapi(manifest, async (c) => {
    const ctx = await locateSetup(c.var.ctx, c.req.valid('json').setup_secret);
    const { setup_secret: setupSecret, ...given } = c.req.valid('json');
    const standing = await attachManifest(ctx, c.req.valid('param').setup_intent_id, setupSecret, given);
    return c.json(toSetupIntentResource(standing, ctx.now), 200);
  })
  .openapi(approve, async (c) => {
    const ctx = await locateSetup(c.var.ctx, c.req.valid('json').setup_secret);
    const { setup_secret: setupSecret, issue_live_key: issueLiveKey, replace_live_key_id: replaced } = c.req.valid('json');
    const input = { issueLiveKey, replaceLiveKeyId: replaced ?? null };
    const { standing, rawKey } = await approveSetup(ctx, c.req.valid('param').setup_intent_id, setupSecret, input);
    return c.json({ ...toSetupIntentResource(standing, ctx.now), ...(rawKey === null ? {} : { live_api_key: rawKey }) }, 200);
  });
