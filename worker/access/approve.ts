import type { Ctx } from '../context.ts';
import { ApiError } from '../core/errors.ts';
import type { KeyId, SetupIntentId } from '../core/ids.ts';
import { type Change, transact, unchanged, type Write } from '../db/commit.ts';
import { announceKey, planAgentKey, withdrawKey } from '../identity/agent.ts';
import { draftKey } from '../identity/keys.ts';
import { PAID_PLANS, planAt } from '../plans.ts';
import { getSetupStanding, type SetupStanding, updateSetup } from './bootstrap.store.ts';
import { getSetup, requireOpenSetup } from './bootstrap.ts';
import type { Manifest } from './manifest-body.ts';
import { moved } from './moved.ts';
import { activationPath } from './next-actions.ts';
import { hasLiveKey } from './setup-intent.ts';

export interface Approve {
  issueLiveKey: boolean;
  /** The live key to revoke in the same step: for an answer that was lost, or a key that leaked. */
  replaceLiveKeyId: KeyId | null;
}

/**
 * Approves the manifest, and issues a live key where that is asked for and a plan is active. One live key at a time: asked
 * again it is 409 state_conflict, unless the key that is to give way is named. Its name decides a race: of two who replace the
 * same key one has a new one, and the other learns which it is. `rawKey` exists only in this answer. A lost answer leaves a key
 * nobody holds; `replaceLiveKeyId` ends it. Nothing else of the manifest is applied.
 */
export async function approveSetup(
  ctx: Ctx,
  setupIntentId: SetupIntentId,
  secret: string,
  input: Approve,
): Promise<{ standing: SetupStanding; rawKey: string | null }> {
  const before = requireOpenSetup(await getSetup(ctx, setupIntentId, secret), ctx.now);
  const drafted = input.issueLiveKey ? draftLiveKey(ctx, before) : null;
  let first: SetupStanding | null = before;
  const standing = await transact(ctx, async (): Promise<Change<SetupStanding>> => {
    const found = first ?? requireOpenSetup(await getSetupStanding(ctx.db, setupIntentId), ctx.now);
    first = null;
    const { intent, account } = found;
    // An earlier try was stored and only its answer was lost.
    if (drafted && intent.liveKeyId === drafted.key.id) return unchanged(found);
    const status = moved(intent, 'approve');
    if (!drafted && intent.status === status) return unchanged(found);
    const patch = { status, approvedAt: intent.approvedAt ?? ctx.now, liveKeyId: drafted?.key.id ?? intent.liveKeyId };
    const issue = drafted ? [...(await giveWay(ctx, found, input)), ...planAgentKey(ctx, account, drafted.key)] : [];
    const next = { ...intent, ...patch, updatedAt: ctx.now, version: intent.version + 1 };
    return {
      events: [],
      // The setup's own version first: whoever is slower issues and revokes nothing.
      writes: [...updateSetup(ctx, intent, patch), ...issue],
      result: { intent: next, account, liveKey: drafted?.key ?? found.liveKey },
    };
  });
  if (drafted) await announceKey(ctx, drafted.key);
  return { standing, rawKey: drafted?.rawKey ?? null };
}

/** With what the manifest asked for, which its evaluation has seen. */
function draftLiveKey(ctx: Ctx, { intent }: SetupStanding): ReturnType<typeof draftKey> {
  const asked = (intent.manifest as Manifest | null)?.requested_permissions ?? [];
  const permissions = (['read', 'execute'] as const).filter((permission) => asked.includes(permission));
  return draftKey(ctx, intent.accountId, { name: 'live', permissions, livemode: true });
}

/** Room for a live key: a plan that allows one, and no other key in its place. */
async function giveWay(ctx: Ctx, standing: SetupStanding, { replaceLiveKeyId }: Approve): Promise<Write[]> {
  const { intent, account, liveKey } = standing;
  if (planAt(account, ctx.now) === 'free') {
    throw new ApiError('setup_not_ready', {
      detail: 'A live key needs an active plan. Buy one with the setup secret, by x402, then approve again.',
      meta: {
        reason: 'plan_active',
        next: PAID_PLANS.map((plan) => `POST ${activationPath(plan)}`),
        headers: { 'X-Svc-Setup-Secret': '<setup_secret>' },
      },
    });
  }
  if (!liveKey || !hasLiveKey(standing)) return [];
  if (liveKey.id === replaceLiveKeyId) return withdrawKey(ctx, liveKey);
  throw new ApiError('state_conflict', {
    detail: 'This setup has an active live key, which is not shown again. To revoke it and have another, name it in replace_live_key_id.',
    meta: {
      reason: 'live_key_active',
      live_key_id: liveKey.id,
      next: `POST /v1/access/agent-bootstrap/${intent.id}/approve`,
      body: { setup_secret: '<setup_secret>', issue_live_key: true, live_mode_confirmed: true, replace_live_key_id: liveKey.id },
    },
  });
}
