import { z } from '@hono/zod-openapi';
import { admissionIdOf } from '#core/ids.ts';
import { iso, isoOrNull } from '#core/time.ts';
import type { Scope as Merchant } from '#platform/context.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { created, orNull, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { admissionObject } from '#platform/objects.ts';
import { parseNetwork } from '#rules/access/networks.ts';
import { KEY_SCOPES } from '#rules/access/scopes.ts';
import { PERMISSIONS } from '#rules/admission.ts';
import { emptyUsage, type KeyUsage } from '#rules/analytics/key-usage.ts';
import { listKeys } from '../store.ts';
import { changeKey, rollKey } from './change.ts';
import { announceKey, createKey, recordedKey } from './keys.ts';
import { UNRESTRICTED } from './restrictions.ts';

const Scope = z.enum(KEY_SCOPES).openapi('KeyScope');
const KeyBody = z
  .object({
    id: z.uuid(),
    name: z.string(),
    key_prefix: z.string().describe('First characters of the key, to recognize it by.'),
    permissions: z.array(z.enum(PERMISSIONS)).describe('Permissions of the key: `read`, or `execute` for writes as well.'),
    sandbox_mode: z.boolean().describe('True if the key acts only on sandbox objects.'),
    last_used_at: orNull(Timestamp),
    created_at: Timestamp,
    revoked_at: orNull(Timestamp),
    scopes: orNull(z.array(Scope)).describe('Operations that the key may call, besides its permissions. `null`: all.'),
    expires_at: orNull(Timestamp).describe('Time from which the key is refused. `null`: never.'),
    allowed_ips: orNull(z.array(z.string())).describe('Networks from which the key is accepted. `null`: all.'),
    created_by: z.object({
      kind: z.enum(['person', 'setup']).describe('`person`, or `setup` for an agent’s setup.'),
      user_id: z.uuid().optional(),
    }),
    last_used_ip: orNull(z.string()),
    rolled_from: z.uuid().optional(),
    ends_at: Timestamp.optional().describe('Time at which the key, replaced by another, is revoked.'),
    usage_summary: z.object({
      total_calls: z.int(),
      success_calls: z.int(),
      error_calls: z.int().describe('Number of requests that were refused or failed.'),
      credits_burned: z.int().describe('Number of customer units that the key consumed.'),
      latest_activity_at: orNull(Timestamp),
      latest_endpoint: orNull(z.string()).describe('Path of the last request.'),
    }),
    recent_activity: z.array(
      z.object({
        at: Timestamp,
        method: z.string(),
        endpoint: z.string(),
        status: z.int(),
        request_id: z.string().describe('Identifier of the request in the operator’s log.'),
      }),
    ),
  })
  .openapi('ApiKey');

const KeyName = ShownName(120);
const Scopes = z
  .array(Scope)
  .min(1)
  .transform((scopes) => [...new Set(scopes)]);
const FutureTime = z.iso.datetime({ offset: true }).transform((time) => Date.parse(time));
const AllowedIps = z
  .array(
    z.string().refine((text) => parseNetwork(text) !== null, 'Expected an IPv4 or IPv6 address, or a CIDR block such as 203.0.113.0/24'),
  )
  .min(1)
  .max(20);
const restrictions = {
  scopes: Scopes.nullable()
    .optional()
    .openapi({ type: ['array', 'null'], items: { $ref: '#/components/schemas/KeyScope' }, minItems: 1 })
    .describe('Operations that the key may call, besides its permissions. `<group>:write` includes `<group>:read`. Omit for all.'),
  expires_at: FutureTime.nullable()
    .optional()
    .openapi({ type: ['string', 'null'], format: 'date-time' })
    .describe('Time from which the key is refused, from one minute to two years ahead. Omit for never.'),
  allowed_ips: AllowedIps.nullable()
    .optional()
    .openapi({ type: ['array', 'null'], items: { type: 'string' }, minItems: 1, maxItems: 20 })
    .describe('Addresses or CIDR blocks from which the key is accepted. Omit for all.'),
};

const CreateKeyRequest = z
  .object({
    name: KeyName,
    sandbox_mode: z.boolean().default(false).describe('True if the key acts only on sandbox objects.'),
    // Checked in the verb, because an unsupported permission has its own error code.
    permissions: z
      .array(z.string())
      .default(['read', 'execute'])
      .openapi({ items: { type: 'string', enum: [...PERMISSIONS] } })
      .describe('Permissions of the key: `read`, or `execute` for writes as well.'),
    ...restrictions,
  })
  .openapi('CreateKeyRequest', { example: { name: 'server', sandbox_mode: false, permissions: ['read', 'execute'] } });

const UpdateKeyRequest = z
  .object({ name: KeyName.optional(), ...restrictions })
  .openapi('UpdateKeyRequest', { example: { scopes: ['consume:write'], allowed_ips: ['203.0.113.0/24'] } });

const RollKeyRequest = z
  .object({
    overlap_hours: z.int().min(0).max(168).default(24).describe('Hours for which the old key still works. 0: it is revoked at once.'),
    expires_at: restrictions.expires_at.describe('Time from which the new key is refused. Omit to take the old key’s, `null` for never.'),
  })
  .openapi('RollKeyRequest', { example: { overlap_hours: 24 } });

const CreatedKeyBody = z
  .object({
    key: KeyBody.describe('Key object, without its secret part.'),
    raw_key: z.string().describe('Secret API key. Shown only in this response. Store it securely.'),
  })
  .openapi('CreatedApiKey');

interface AskedRestrictions {
  scopes?: ApiKey['scopes'] | undefined;
  expires_at?: number | null | undefined;
  allowed_ips?: string[] | null | undefined;
}

const patchOf = ({ scopes, expires_at: expiresAt, allowed_ips: allowedIps }: AskedRestrictions) => ({
  ...(scopes === undefined ? {} : { scopes }),
  ...(expiresAt === undefined ? {} : { expiresAt }),
  ...(allowedIps === undefined ? {} : { allowedIps }),
});

const usageOf = (ctx: Merchant) => admissionObject(ctx, `account:${admissionIdOf(ctx.merchantId)}`).usage();

const toKeyResource = (key: ApiKey, now: number, usage: KeyUsage = emptyUsage()) => ({
  id: key.id,
  name: key.name,
  key_prefix: key.keyPrefix,
  permissions: key.permissions,
  sandbox_mode: !key.livemode,
  last_used_at: isoOrNull(usage.latestActivityAt),
  created_at: iso(key.createdAt),
  revoked_at: key.revokedAt !== null && key.revokedAt > now ? null : isoOrNull(key.revokedAt),
  scopes: key.scopes,
  expires_at: isoOrNull(key.expiresAt),
  allowed_ips: key.allowedIps,
  created_by: key.createdBy,
  last_used_ip: usage.latestIp ?? null,
  ...(key.rolledFrom === null ? {} : { rolled_from: key.rolledFrom }),
  ...(key.revokedAt !== null && key.revokedAt > now ? { ends_at: iso(key.revokedAt) } : {}),
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
export const keyRoutes = routes('API keys', 'keys')
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
      const usage = await usageOf(scope);
      return keys.map((key) => toKeyResource(key, scope.now, usage[key.id]));
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
    returns: created(CreatedKeyBody),
    codes: ['admin_requires_staff', 'invalid_permissions', 'plan_limit_reached'],
    once: ({ scope, actor, body: { name, permissions, sandbox_mode, ...restrictions } }, storeAnswer) =>
      createKey(scope, actor, { name, permissions, sandboxMode: sandbox_mode, ...UNRESTRICTED, ...patchOf(restrictions) }, storeAnswer),
    audit: { action: 'key.created', subject: 'key', fields: ({ key }) => recordedKey(key) },
    present: ({ key, rawKey }, { scope }) => ({ key: toKeyResource(key, scope.now), raw_key: rawKey }),
    answered: ({ scope, actor }, { body }) => announceKey(scope, { merchantId: actor.accountId, id: JSON.parse(body).key.id }),
    isSecret: true,
  })
  .person({
    path: 'PATCH /keys/{key_id}',
    id: 'updateKey',
    sdk: 'keys.update',
    summary: 'Update a key',
    description:
      'Renames or restricts a key, from the next request on. To give a live key more (scopes, time, addresses, or `null`), sign in again as for a new one (403 `sign_in_required`).',
    body: UpdateKeyRequest,
    returns: KeyBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params, body: { name, ...restrictions } }, storeAnswer) =>
      changeKey(
        scope,
        actor,
        { keyId: params.key_id, patch: { ...(name === undefined ? {} : { name }), ...patchOf(restrictions) } },
        storeAnswer,
      ),
    audit: { action: 'key.changed', subject: 'key', fields: recordedKey },
    present: async (key, { scope }) => toKeyResource(key, scope.now, (await usageOf(scope))[key.id]),
    answered: ({ scope, actor, params }) => announceKey(scope, { merchantId: actor.accountId, id: params.key_id }),
  })
  .person({
    path: 'POST /keys/{key_id}/roll',
    id: 'rollKey',
    sdk: 'keys.roll',
    summary: 'Roll a key',
    description:
      'Replaces a key by a new one with the same name, mode, permissions, scopes and addresses. The old key works until `ends_at`. A live key requires a person who signed in within the last 15 minutes.',
    body: RollKeyRequest,
    isBodyOptional: true,
    returns: created(CreatedKeyBody),
    codes: ['admin_requires_staff', 'not_found', 'state_conflict', 'plan_limit_reached'],
    once: ({ scope, actor, params, body }, storeAnswer) =>
      rollKey(scope, actor, { keyId: params.key_id, overlapHours: body.overlap_hours, expiresAt: body.expires_at }, storeAnswer),
    audit: { action: 'key.rolled', subject: 'key', fields: ({ key }) => recordedKey(key) },
    present: ({ key, rawKey }, { scope }) => ({ key: toKeyResource(key, scope.now), raw_key: rawKey }),
    answered: async ({ scope, actor, params }, { body }) => {
      for (const id of [JSON.parse(body).key.id, params.key_id]) await announceKey(scope, { merchantId: actor.accountId, id });
    },
    isSecret: true,
  });
