import { canonicalJson } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import { newId, type SetupIntentId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { HOUR } from '#core/time.ts';
import { announceAccount, planAgentAccount } from '#features/accounts/agent-account.ts';
import { requireActive } from '#features/accounts/auth/sign-in.ts';
import { wouldNeedSignIn } from '#features/accounts/payout.ts';
import { accountAt, ownKeysOf } from '#platform/chain/payees.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type Change, commitNew, transact, unchanged } from '#platform/db/commit.ts';
import type { SetupIntent } from '#platform/db/tables/setups.ts';
import { targetRules } from '#platform/providers/target-url.ts';
import { higherPlan, type PlanName, planAt } from '#rules/plans.ts';
import { servedRails } from '#rules/product-rails.ts';
import type { SetupStatus } from '#rules/states.ts';
import { parseWallet } from '#solana/assets.ts';
import { evaluateManifest, isAcceptable, type ManifestFacts } from './manifest/evaluate.ts';
import type { Evaluation, Manifest } from './manifest/schema.ts';
import { spendLimitsOf } from './manifest/spend-limits.ts';
import { manifestPath } from './next-actions.ts';
import { statusAt } from './resource.ts';
import { findSetupBySecret, hashSetupSecret, newSetupSecret } from './secret.ts';
import { nextSetupStatus } from './status.ts';
import { findSetup, getSetupState, insertSetup, type SetupState, updateSetup } from './store.ts';

const SETUP_MS = LIFE.setupHours * HOUR;

interface CreateSetup {
  agentName: string;
  operatorContact: string | null;
  intendedUse: string | null;
  plan: PlanName | null;
}

/**
 * Creates an account, its sandbox key and the setup in one batch. Both secrets exist only in this answer. If the answer is lost, the setup
 * is too, and the sweep expires it after a day.
 */
export async function createSetup(
  ctx: Shard,
  input: CreateSetup,
): Promise<{ setup: SetupState; setupSecret: string; sandboxApiKey: string }> {
  const { account, key, rawKey, writes } = planAgentAccount(ctx, input.agentName);
  const id = newId<SetupIntentId>(ctx.now, account.id);
  const setupSecret = newSetupSecret(id);
  const intent: SetupIntent = {
    id,
    accountId: account.id,
    secretHash: hashSetupSecret(ctx, setupSecret),
    status: 'created',
    ...input,
    manifest: null,
    evaluation: null,
    spendPerPayment: null,
    spendPerDay: null,
    sandboxKeyId: key.id,
    liveKeyId: null,
    isRetained: false,
    approvedAt: null,
    expiresAt: ctx.now + SETUP_MS,
    createdAt: ctx.now,
    updatedAt: ctx.now,
    version: 1,
  };
  const change = { events: [], writes: [...writes, insertSetup(ctx.db, intent)], result: null };
  await commitNew(ctx, change, () => findSetup(ctx.db, id));
  await announceAccount(ctx, account, key);
  return { setup: { intent, account, liveKey: null, pending: [] }, setupSecret, sandboxApiKey: rawKey };
}

/** Loads the setup of a secret under its own id. A wrong secret, an unknown id and a mismatch give the same 404 after the same work. */
export async function getSetup(ctx: Shard, setupIntentId: SetupIntentId, secret: string): Promise<SetupState> {
  const intent = await findSetupBySecret(ctx, secret);
  if (!intent || intent.id !== setupIntentId) return raise('not_found');
  return getSetupState(ctx.db, setupIntentId);
}

/** Throws 409 state_conflict if the setup is over, 403 if its account is suspended. */
export function requireOpenSetup(setup: SetupState, now: number): SetupState {
  requireActive(setup.account);
  if (statusAt(setup, now) !== 'expired') return setup;
  throw new ApiError('state_conflict', {
    detail: 'The setup has expired. Start a new one.',
    meta: { state: 'expired', next: 'POST /v1/access/agent-bootstrap' },
  });
}

/**
 * Attaches and evaluates a manifest, replacing the previous one and its spend limits. An unreadable limit leaves the previous one in force.
 * The later of two concurrent manifests wins.
 */
export async function attachManifest(ctx: Shard, setupIntentId: SetupIntentId, secret: string, manifest: Manifest): Promise<SetupState> {
  const before = requireOpenSetup(await getSetup(ctx, setupIntentId, secret), ctx.now);
  const payoutAccount = await readPayout(ctx, manifest);
  const reload = async () => requireOpenSetup(await getSetupState(ctx.db, setupIntentId), ctx.now);
  return transact(ctx, { known: before, reload }, async (setup): Promise<Change<SetupState>> => {
    const { intent } = setup;
    const wallet = manifest.payout?.wallet_address;
    const payoutNeedsSignIn = wallet !== undefined && (await wouldNeedSignIn(ctx, intent.accountId, wallet));
    const evaluation = evaluateManifest(manifest, { ...factsOf(ctx, setup), payoutAccount, payoutNeedsSignIn });
    const limits = spendLimitsOf(manifest);
    const patch = {
      status: asksForLive(intent, manifest)
        ? requireLiveRules(intent, evaluation)
        : nextSetupStatus(intent, isAcceptable(evaluation) ? 'accept' : 'refuse'),
      manifest,
      evaluation,
      spendPerPayment: limits.perPayment === undefined ? intent.spendPerPayment : limits.perPayment,
      spendPerDay: limits.perDay === undefined ? intent.spendPerDay : limits.perDay,
    };
    if (isWithin(patch, intent)) return unchanged(setup);
    const next = { ...intent, ...patch, updatedAt: ctx.now, version: intent.version + 1 };
    return { events: [], writes: updateSetup(ctx, intent, patch), result: { ...setup, intent: next } };
  });
}

const asksForLive = (intent: SetupIntent, manifest: Manifest): boolean =>
  intent.status === 'approved' && manifest.live_requested && (intent.manifest as Manifest | null)?.live_requested !== true;

/** An approved setup never goes back: a manifest that fails the live rules changes nothing. */
function requireLiveRules({ id, status }: SetupIntent, evaluation: Evaluation): SetupStatus {
  if (isAcceptable(evaluation)) return status;
  throw new ApiError('state_conflict', {
    detail:
      'The setup is approved, and its manifest can only be replaced by one that meets the rules of live mode. Correct every error and send it again.',
    meta: { state: status, reason: 'live_rules', findings: evaluation.findings, next: `POST ${manifestPath(id)}` },
  });
}

function factsOf(ctx: Ctx, { intent, account }: SetupState): Omit<ManifestFacts, 'payoutAccount' | 'payoutNeedsSignIn'> {
  const { config, now } = ctx;
  return {
    target: targetRules(ctx),
    availableRails: servedRails(config),
    ownWallets: ownKeysOf(config),
    plan: higherPlan(intent.plan ?? 'free', planAt(account, now)),
  };
}

/** Reads the payout account, because only the chain distinguishes some accounts from a wallet. Only addresses are read, never a URL. */
async function readPayout(ctx: Ctx, { payout }: Manifest): Promise<ManifestFacts['payoutAccount']> {
  const wallet = payout && parseWallet(payout.wallet_address);
  if (!wallet || (!wallet.ok && wallet.reason === 'not_an_address')) return null;
  return accountAt(ctx, payout.wallet_address);
}

/** True if the patch is stored already, by an earlier try with a lost answer or the same request before. */
const isWithin = (patch: Partial<SetupIntent>, intent: SetupIntent): boolean =>
  Object.entries(patch).every(([name, value]) => comparable(value) === comparable(intent[name as keyof SetupIntent]));

const comparable = (value: unknown): string => (typeof value === 'bigint' ? `${value}` : canonicalJson(value ?? null));
