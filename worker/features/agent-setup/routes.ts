import { z } from '@hono/zod-openapi';
import type { KeyId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { homeForNew } from '#platform/db/directory.ts';
import { ShownName, ShownText } from '#platform/http/bodies/own-fields.ts';
import { created, HomeRegion, idOf } from '#platform/http/openapi.ts';
import { countWrongSecrets } from '#platform/http/rate-limit.ts';
import { routes } from '#platform/http/route.ts';
import { PLAN_NAMES } from '#rules/plans.ts';
import { approveSetup } from './approve.ts';
import { MANIFEST_EXAMPLE, manifestFields } from './manifest/schema.ts';
import { ApprovedSetupBody, CreatedSetupBody, SetupIntentBody, toSetupIntentResource } from './resource.ts';
import { locateSetup } from './secret.ts';
import { attachManifest, createSetup, getSetup } from './setup.ts';

const path = '/access/agent-bootstrap/{setup_intent_id}';
// Not validated by format: anything that is not this setup's secret gets the same 404.
const secret = { setup_secret: z.string().max(500).describe('Secret of the setup, as shown when the setup was created.') };
const SECRET_EXAMPLE = { setup_secret: `svc_setup_${'0'.repeat(32)}_${'A'.repeat(43)}` };
const GUESSES = 'Without the secret of the setup, 404.';

const CreateRequest = z
  .object({
    agent_name: ShownName(120),
    operator_contact: ShownName(254).optional(),
    intended_use: ShownText(2000).optional(),
    plan: z.enum(PLAN_NAMES).optional().describe('Plan that you intend to buy.'),
    region: HomeRegion,
  })
  .openapi('CreateSetupIntentRequest', { example: { agent_name: 'Weather agent', intended_use: 'Sell forecasts by the request' } });

const ManifestRequest = z
  .object({ ...secret, ...manifestFields })
  .openapi('SetupManifestRequest', { example: { ...SECRET_EXAMPLE, ...MANIFEST_EXAMPLE } });

const ApproveRequest = z
  .object({
    ...secret,
    issue_live_key: z.boolean().default(false).describe('True to issue a live key. Requires a paid plan.'),
    live_mode_confirmed: z.boolean().default(false).describe('Confirmation of live mode. Must be true to issue a live key.'),
    replace_live_key_id: idOf<KeyId>()
      .optional()
      .describe(
        'Live key of this setup to revoke, after a lost response or a leak. With `issue_live_key`, a new key is issued; without, none.',
      ),
  })
  .refine(({ issue_live_key: issue, live_mode_confirmed: confirmed }) => !issue || confirmed, {
    path: ['live_mode_confirmed'],
    message: 'A live key moves real money: set live_mode_confirmed to true',
    params: { type: 'not_confirmed' },
  })
  .openapi('ApproveSetupIntentRequest', { example: { ...SECRET_EXAMPLE, issue_live_key: true, live_mode_confirmed: true } });

export const bootstrapRoutes = routes('Agent bootstrap')
  .public({
    path: 'POST /access/agent-bootstrap',
    id: 'createSetupIntent',
    sdk: 'agentSetup.create',
    idempotency: 'none',
    summary: 'Start a setup',
    description: `Starts a setup. \`setup_secret\` and \`sandbox_api_key\` are shown only in this response. The setup ends after ${LIFE.setupHours} hours unless a plan is activated with its secret. Follow \`next_actions\`.`,
    bucket: 'agent-bootstrap',
    body: CreateRequest,
    returns: created(CreatedSetupBody),
    shard: ({ ctx, body }) => homeForNew(ctx, ctx.requestId, body.region),
    answer: async ({ shard, body: { agent_name: agentName, operator_contact: contact, intended_use: use, plan } }) => {
      const made = await createSetup(shard, { agentName, operatorContact: contact ?? null, intendedUse: use ?? null, plan: plan ?? null });
      const secrets = { setup_secret: made.setupSecret, sandbox_api_key: made.sandboxApiKey };
      return { ...toSetupIntentResource(made.setup, shard.now), ...secrets };
    },
  })
  .public({
    path: `POST ${path}/status`,
    id: 'getSetupIntent',
    sdk: 'agentSetup.get',
    idempotency: 'natural',
    summary: 'Get a setup',
    description: `Returns the setup and its next actions. ${GUESSES}`,
    bucket: 'status',
    by: 'setup_intent_id',
    guards: [countWrongSecrets],
    body: z.object(secret).openapi('SetupIntentStatusRequest', { example: SECRET_EXAMPLE }),
    returns: SetupIntentBody,
    codes: ['not_found'],
    shard: ({ ctx, body }) => locateSetup(ctx, body.setup_secret),
    answer: async ({ shard, params, body }) =>
      toSetupIntentResource(await getSetup(shard, params.setup_intent_id, body.setup_secret), shard.now),
  })
  .public({
    path: `POST ${path}/manifest`,
    id: 'putSetupManifest',
    sdk: 'agentSetup.putManifest',
    idempotency: 'natural',
    summary: 'Send a manifest',
    description: `Replaces the previous manifest until the setup is approved; afterwards only one that requests live mode is accepted. Findings of severity \`error\` return it for changes (\`changes_required\`); without one it is \`ready\`. The URLs are never fetched. ${GUESSES}`,
    bucket: 'confirm',
    by: 'setup_intent_id',
    guards: [countWrongSecrets],
    body: ManifestRequest,
    returns: SetupIntentBody,
    codes: ['not_found', 'state_conflict', 'account_suspended', 'account_deleted'],
    shard: ({ ctx, body }) => locateSetup(ctx, body.setup_secret),
    answer: async ({ shard, params, body: { setup_secret: setupSecret, ...given } }) =>
      toSetupIntentResource(await attachManifest(shard, params.setup_intent_id, setupSecret, given), shard.now),
  })
  .public({
    path: `POST ${path}/approve`,
    id: 'approveSetupIntent',
    sdk: 'agentSetup.approve',
    idempotency: 'none',
    agent: { confirm: true },
    summary: 'Approve a setup',
    description: `Approves the setup. A live key requires a plan and a manifest with \`live_requested: true\`, and is shown once. An active live key must be named in \`replace_live_key_id\` (else 409 \`state_conflict\`). Approval applies nothing of the manifest: \`next_actions\` lists the calls that do. ${GUESSES}`,
    bucket: 'confirm',
    by: 'setup_intent_id',
    guards: [countWrongSecrets],
    body: ApproveRequest,
    returns: ApprovedSetupBody,
    codes: ['not_found', 'state_conflict', 'setup_not_ready', 'account_suspended', 'account_deleted'],
    shard: ({ ctx, body }) => locateSetup(ctx, body.setup_secret),
    answer: async ({ shard, params, body: { setup_secret: setupSecret, issue_live_key: issueLiveKey, replace_live_key_id: replaced } }) => {
      const input = { issueLiveKey, replaceLiveKeyId: replaced ?? null };
      const { setup, rawKey } = await approveSetup(shard, params.setup_intent_id, setupSecret, input);
      return { ...toSetupIntentResource(setup, shard.now), ...(rawKey === null ? {} : { live_api_key: rawKey }) };
    },
  });
