import { z } from '@hono/zod-openapi';
import { admissionIdOf } from '#core/ids.ts';
import { iso, isoOrNull } from '#core/time.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { created, orNull, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { admissionObject } from '#platform/objects.ts';
import { PERMISSIONS } from '#rules/admission.ts';
import { emptyUsage, type KeyUsage } from '#rules/analytics/key-usage.ts';
import { listKeys } from '../store.ts';
import { announceKey, createKey } from './keys.ts';

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
export const keyRoutes = routes('API keys')
  .read({
    path: 'GET /keys',
    id: 'listKeys',
    summary: 'List keys',
    description:
      'A token sees the keys of both modes unless it names one, a key those of its own. Of revoked keys the last hundred of each mode are listed.',
    returns: z.array(KeyBody),
    answer: async ({ scope, actor, query }) => {
      const merchantId = actor.accountId;
      const keys = await listKeys(scope.db, merchantId, actor.via === 'key' || query.mode !== undefined ? actor.livemode : null);
      const usage = await admissionObject(scope, `account:${admissionIdOf(merchantId)}`).usage();
      return keys.map((key) => toKeyResource(key, usage[key.id]));
    },
  })
  .person({
    path: 'POST /keys',
    id: 'createKey',
    summary: 'Create a key',
    description: 'A live key needs a person who signed in within the last 15 minutes (403 `sign_in_required`); a sandbox key does not.',
    body: CreateKeyRequest,
    returns: created(z.object({ key: KeyBody, raw_key: z.string() }).openapi('CreatedApiKey')),
    codes: ['admin_requires_staff', 'invalid_permissions', 'plan_limit_reached'],
    once: ({ scope, actor, body: { name, permissions, sandbox_mode } }, storeAnswer) =>
      createKey(scope, actor, { name, permissions, sandboxMode: sandbox_mode }, storeAnswer),
    present: ({ key, rawKey }) => ({ key: toKeyResource(key), raw_key: rawKey }),
    answered: ({ scope, actor }, { body }) => announceKey(scope, { merchantId: actor.accountId, id: JSON.parse(body).key.id }),
    isSecret: true,
  });
