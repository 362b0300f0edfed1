import { z } from '@hono/zod-openapi';
import { admissionIdOf } from '#core/ids.ts';
import { iso, isoOrNull } from '#core/time.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { CreatedAt, created, orNull, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { admissionObject } from '#platform/objects.ts';
import { PERMISSIONS } from '#rules/admission.ts';
import { emptyUsage, type KeyUsage } from '#rules/analytics/key-usage.ts';
import { listKeys } from '../store.ts';
import { announceKey, createKey } from './keys.ts';

const KeyBody = z
  .object({
    id: z.uuid().describe('Unique identifier.'),
    name: z.string().describe('Name of the key.'),
    key_prefix: z.string().describe('First characters of the key, to recognize it by.'),
    permissions: z.array(z.enum(PERMISSIONS)).describe('Permissions of the key: `read`, or `execute` for writes as well.'),
    sandbox_mode: z.boolean().describe('True if the key acts only on sandbox objects.'),
    last_used_at: orNull(Timestamp).describe('Time of the last request with the key.'),
    created_at: CreatedAt,
    revoked_at: orNull(Timestamp).describe('Time at which the key was revoked.'),
    usage_summary: z
      .object({
        total_calls: z.int().describe('Number of requests.'),
        success_calls: z.int().describe('Number of successful requests.'),
        error_calls: z.int().describe('Number of requests that were refused or failed.'),
        credits_burned: z.int().describe('Number of customer units that the key consumed.'),
        latest_activity_at: orNull(Timestamp).describe('Time of the last request.'),
        latest_endpoint: orNull(z.string()).describe('Path of the last request.'),
      })
      .describe('Usage of the key.'),
    recent_activity: z
      .array(
        z.object({
          at: Timestamp.describe('Time of the request.'),
          method: z.string().describe('HTTP method.'),
          endpoint: z.string().describe('Path of the request.'),
          status: z.int().describe('Status of the object.'),
          request_id: z.string().describe('Identifier of the request in the operator’s log.'),
        }),
      )
      .describe('Most recent requests.'),
  })
  .openapi('ApiKey');

const CreateKeyRequest = z
  .object({
    name: ShownName(120).describe('Name of the key, to recognize it by.'),
    sandbox_mode: z.boolean().default(false).describe('True if the key acts only on sandbox objects.'),
    // Checked in the verb, because an unsupported permission has its own error code.
    permissions: z
      .array(z.string())
      .default(['read', 'execute'])
      .openapi({ items: { type: 'string', enum: [...PERMISSIONS] } })
      .describe('Permissions of the key: `read`, or `execute` for writes as well.'),
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
    sdk: 'keys.list',
    summary: 'List keys',
    description:
      'Lists keys. A token sees the keys of both modes unless it names one; a key sees those of its own mode. The list includes the last hundred revoked keys of each mode.',
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
    sdk: 'keys.create',
    summary: 'Create a key',
    description:
      'Creates a key. A live key requires a person who signed in within the last 15 minutes (403 `sign_in_required`); a sandbox key does not.',
    body: CreateKeyRequest,
    returns: created(
      z
        .object({
          key: KeyBody.describe('Key object, without its secret part.'),
          raw_key: z.string().describe('Secret API key. Shown only in this response. Store it securely.'),
        })
        .openapi('CreatedApiKey'),
    ),
    codes: ['admin_requires_staff', 'invalid_permissions', 'plan_limit_reached'],
    once: ({ scope, actor, body: { name, permissions, sandbox_mode } }, storeAnswer) =>
      createKey(scope, actor, { name, permissions, sandboxMode: sandbox_mode }, storeAnswer),
    present: ({ key, rawKey }) => ({ key: toKeyResource(key), raw_key: rawKey }),
    answered: ({ scope, actor }, { body }) => announceKey(scope, { merchantId: actor.accountId, id: JSON.parse(body).key.id }),
    isSecret: true,
  });
