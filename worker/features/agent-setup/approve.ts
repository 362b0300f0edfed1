import { ApiError } from '#core/errors.ts';
import type { AccountId, KeyId, SetupIntentId } from '#core/ids.ts';
import { planAgentKey, revokeKeys } from '#features/accounts/agent-account.ts';
import { announceKey, changeKeys, draftKey, recordedKey } from '#features/accounts/keys/keys.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { type Change, transact, unchanged, type Write } from '#platform/db/commit.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { PAID_PLANS, planAt } from '#rules/plans.ts';
import type { Manifest } from './manifest/schema.ts';
import { activationPath, manifestPath } from './next-actions.ts';
import { hasLiveKey } from './resource.ts';
import { getSetup, requireOpenSetup } from './setup.ts';
import { nextSetupStatus } from './status.ts';
import { getSetupState, type SetupState, updateSetup } from './store.ts';

interface Approve {
  issueLiveKey: boolean;
  /** Live key to revoke, with or without issuing another: for a lost answer or a leaked key. */
  replaceLiveKeyId: KeyId | null;
}

/**
 * Approves the manifest and issues a live key if requested, judged for live mode and a plan is active. Only one live key exists: throws 409
 * state_conflict unless `replaceLiveKeyId` names it, which also decides races. Without a new key it only revokes. `rawKey` exists only in
 * this answer. Applies nothing else of the manifest.
 */
export async function approveSetup(
  ctx: Shard,
  setupIntentId: SetupIntentId,
  secret: string,
  input: Approve,
): Promise<{ setup: SetupState; rawKey: string | null }> {
  const before = requireOpenSetup(await getSetup(ctx, setupIntentId, secret), ctx.now);
  const drafted = input.issueLiveKey ? draftLiveKey(ctx, before) : null;
  const reload = async () => requireOpenSetup(await getSetupState(ctx.db, setupIntentId), ctx.now);
  const store = () =>
    transact(ctx, { known: before, reload }, (found): Change<SetupState> => {
      const { intent, account } = found;
      // An earlier try was stored and only its answer was lost.
      if (drafted && intent.liveKeyId === drafted.key.id) return unchanged(found);
      const status = nextSetupStatus(intent, 'approve');
      if (drafted) requireLive(ctx, found);
      const ended = endedBy(found, input);
      if (!drafted && ended.length === 0 && intent.status === status) return unchanged(found);
      const patch = { status, approvedAt: intent.approvedAt ?? ctx.now, liveKeyId: drafted?.key.id ?? intent.liveKeyId };
      const next = { ...intent, ...patch, updatedAt: ctx.now, version: intent.version + 1 };
      const left = ended[0] ? { ...ended[0], revokedAt: ctx.now } : found.liveKey;
      return {
        events: [],
        // The setup's version comes first: the slower of two approvals issues and revokes nothing.
        writes: [
          ...updateSetup(ctx, intent, patch),
          ...revokeKeys(ctx, ended),
          ...(drafted ? planAgentKey(ctx, account, drafted.key) : []),
          ...recordApproval(ctx, intent.accountId, { setupIntentId, ended, made: drafted?.key ?? null }),
        ],
        result: { ...found, intent: next, liveKey: drafted?.key ?? left },
      };
    });
  const ending = hasLiveKey(before) && before.liveKey?.id === input.replaceLiveKeyId ? [before.liveKey] : [];
  const setup = ending.length > 0 ? await changeKeys(ctx, before.account, ending, store) : await store();
  if (drafted) await announceKey(ctx, drafted.key);
  return { setup, rawKey: drafted?.rawKey ?? null };
}

/** Entries of the keys that an agent's setup revokes and creates. */
function recordApproval(
  ctx: Shard,
  merchantId: AccountId,
  { setupIntentId, ended, made }: { setupIntentId: SetupIntentId; ended: { id: KeyId }[]; made: ApiKey | null },
): Write[] {
  const by = { kind: 'system', id: setupIntentId, name: 'setup' } as const;
  const tenant = { merchantId, livemode: true };
  return [
    ...ended.map(({ id }) => recordAction(ctx, tenant, { action: 'key.revoked', subject: { type: 'key', id }, by })),
    ...(made
      ? [recordAction(ctx, tenant, { action: 'key.created', subject: { type: 'key', id: made.id }, after: keyFields(made), by })]
      : []),
  ];
}

const keyFields = (made: ApiKey) => {
  const { id: _, livemode: __, ...fields } = recordedKey(made);
  return fields;
};

function draftLiveKey(ctx: Ctx, { intent }: SetupState): ReturnType<typeof draftKey> {
  const asked = (intent.manifest as Manifest | null)?.requested_permissions ?? [];
  const permissions = (['read', 'execute'] as const).filter((permission) => asked.includes(permission));
  return draftKey(ctx, intent.accountId, { name: 'live', permissions, livemode: true, createdBy: { kind: 'setup' } });
}

function requireLive(ctx: Ctx, { intent, account }: SetupState): void {
  const manifest = intent.manifest as Manifest | null;
  if (manifest?.live_requested !== true) {
    throw new ApiError('state_conflict', {
      detail: 'The manifest does not request live mode. Send it again with live_requested: true, then approve again.',
      meta: {
        state: intent.status,
        reason: 'live_not_requested',
        next: `POST ${manifestPath(intent.id)}`,
        body: { setup_secret: '<setup_secret>', ...manifest, live_requested: true },
      },
    });
  }
  if (planAt(account, ctx.now) !== 'free') return;
  throw new ApiError('setup_not_ready', {
    detail: 'A live key requires an active plan. Buy one by x402 with the setup secret, then approve again.',
    meta: {
      reason: 'plan_active',
      next: PAID_PLANS.map((plan) => `POST ${activationPath(plan)}`),
      headers: { 'X-Svc-Setup-Secret': '<setup_secret>' },
    },
  });
}

/** Returns the live key to revoke. Throws 409 naming the setup's last key if the caller names another one or omits a required one. */
function endedBy(setup: SetupState, { issueLiveKey, replaceLiveKeyId }: Approve): NonNullable<SetupState['liveKey']>[] {
  const { intent, liveKey } = setup;
  const active = liveKey && hasLiveKey(setup) ? liveKey : null;
  if (replaceLiveKeyId === null ? !(issueLiveKey && active) : intent.liveKeyId === replaceLiveKeyId)
    return active && replaceLiveKeyId !== null ? [active] : [];
  if (!active) {
    throw new ApiError('state_conflict', {
      detail: 'replace_live_key_id names no live key of this setup, and none is active. Omit it.',
      meta: { reason: 'live_key_unknown', ...(intent.liveKeyId === null ? {} : { live_key_id: intent.liveKeyId }) },
    });
  }
  throw new ApiError('state_conflict', {
    detail: 'The setup has an active live key, which is not shown again. To replace it, name it in replace_live_key_id.',
    meta: {
      reason: 'live_key_active',
      live_key_id: active.id,
      next: `POST /v1/access/agent-bootstrap/${intent.id}/approve`,
      body: { setup_secret: '<setup_secret>', issue_live_key: true, live_mode_confirmed: true, replace_live_key_id: active.id },
    },
  });
}
