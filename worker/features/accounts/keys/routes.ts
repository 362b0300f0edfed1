import { createRoute, z } from '@hono/zod-openapi';
import { admissionIdOf } from '#core/ids.ts';
import { iso, isoOrNull } from '#core/time.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { keyedPersonRoute, merchantErrors, merchantRoute, merchantWriteErrors } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { created, jsonBody, ModeQuery, ok, orNull, router, Timestamp } from '#platform/http/openapi.ts';
import { admissionObject } from '#platform/objects.ts';
import { PERMISSIONS } from '#rules/admission.ts';
import { emptyUsage, type KeyUsage } from '#rules/figures/key-usage.ts';
import { listKeys } from '../store.ts';
import { announceKey, type CreatedKey, createKey } from './keys.ts';

const KeyBody = z
  .object({
    id: z.uuid(),
    name: z.string(),
    key_prefix: z.string(),
    permissions: z.array(z.enum(PERMISSIONS)),
    sandbox_mode: z.boolean(),
    last_used_at: orNull(Timestamp),
    created_at: Timestamp,
    revoked_at: orNull(Timestamp),
    usage_summary: z.object({
      total_calls: z.int(),
      success_calls: z.int(),
      error_calls: z.int(),
      credits_burned: z.int(),
      latest_activity_at: orNull(Timestamp),
      latest_endpoint: orNull(z.string()),
    }),
    recent_activity: z.array(
      z.object({ at: Timestamp, method: z.string(), endpoint: z.string(), status: z.int(), request_id: z.string() }),
    ),
  })
  .openapi('ApiKey');

const CreateKeyRequest = z
  .object({
    name: ShownName(120),
    sandbox_mode: z.boolean().default(false),
    // Judged in the verb: an unsupported permission has a code of its own.
    permissions: z
      .array(z.string())
      .default(['read', 'execute'])
      .openapi({ items: { type: 'string', enum: [...PERMISSIONS] } }),
  })
  .openapi('CreateKeyRequest', { example: { name: 'server', sandbox_mode: false, permissions: ['read', 'execute'] } });

const toKeyResource = (key: ApiKey, usage: KeyUsage = emptyUsage()) => ({
  id: key.id,
  name: key.name,
  key_prefix: key.keyPrefix,
  permissions: key.permissions,
  sandbox_mode: !key.livemode,
  last_used_at: isoOrNull(usage.latestActivityAt),
  created_at: iso(key.createdAt),
  revoked_at: isoOrNull(key.revokedAt),
  usage_summary: {
    total_calls: usage.totalCalls,
    success_calls: usage.successCalls,
    error_calls: usage.errorCalls,
    credits_burned: usage.creditsBurned,
    latest_activity_at: isoOrNull(usage.latestActivityAt),
    latest_endpoint: usage.latestEndpoint,
  },
  recent_activity: usage.recent.map(({ at, requestId, ...call }) => ({ at: iso(at), ...call, request_id: requestId })),
});

const list = createRoute({
  method: 'get',
  path: '/keys',
  operationId: 'listKeys',
  tags: ['API keys'],
  summary: 'List keys',
  description:
    'A token sees the keys of both modes unless it names one, a key those of its own. Of revoked keys the last hundred of each mode are listed.',
  ...merchantRoute('read'),
  request: { query: z.object(ModeQuery) },
  responses: { ...ok(z.array(KeyBody)), ...merchantErrors() },
});
const create = createRoute({
  method: 'post',
  path: '/keys',
  operationId: 'createKey',
  tags: ['API keys'],
  summary: 'Create a key',
  description: 'A live key needs a person who signed in within the last 15 minutes (403 `sign_in_required`); a sandbox key does not.',
  ...keyedPersonRoute(),
  request: { headers: OptionalIdempotencyHeader, ...jsonBody(CreateKeyRequest) },
  responses: {
    ...created(z.object({ key: KeyBody, raw_key: z.string() }).openapi('CreatedApiKey')),
    ...merchantWriteErrors('admin_requires_staff', 'invalid_permissions', 'plan_limit_reached'),
  },
});
export const keyRoutes = router()
  .openapi(list, async (c) => {
    const { actor, scope: ctx } = c.var;
    const merchantId = actor.accountId;
    const keys = await listKeys(ctx.db, merchantId, actor.via === 'key' || c.req.valid('query').mode !== undefined ? actor.livemode : null);
    const usage = await admissionObject(ctx, `account:${admissionIdOf(merchantId)}`).usage();
    return c.json(
      keys.map((key) => toKeyResource(key, usage[key.id])),
      200,
    );
  })
  .openapi(create, async (c) => {
    const { name, permissions, sandbox_mode } = c.req.valid('json');
    const { actor, scope: ctx } = c.var;
    const answer = await answerOnce<CreatedKey>(
      c,
      (storeAnswer) => createKey(ctx, actor, { name, permissions, sandboxMode: sandbox_mode }, storeAnswer),
      ({ key, rawKey }) => ({ status: 201, body: { key: toKeyResource(key), raw_key: rawKey } }),
      { isSecret: true },
    );
    await announceKey(ctx, { merchantId: actor.accountId, id: JSON.parse(answer.body).key.id });
    return sendStored(c, answer);
  });
