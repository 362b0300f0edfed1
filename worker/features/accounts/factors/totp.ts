import { seal, unseal } from '#core/crypto.ts';
import { base64url } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import type { Actor, Ctx, Scope } from '#platform/context.ts';
import { commitWithAnswer, type StoreAnswer } from '#platform/db/once.ts';
import type { TotpSecret } from '#platform/db/tables/office/factors.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { newRecoveryCodes } from '#rules/access/recovery-codes.ts';
import { encodeTotpSecret, findTotpStep, otpauthUri, TOTP } from '#rules/access/totp.ts';
import { ownNameOf } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { relyingParty } from '../passkeys/ceremony.ts';
import { getAccount } from '../store.ts';
import { planAddedFactor, planRemovedFactor, recoveryHashes } from './factors.ts';
import { confirmPendingTotp, deleteTotp, findRecoveryCode, findTotp, replacePendingTotp } from './store.ts';
import { tryCode } from './tries.ts';

const PENDING_MS = 10 * MINUTE;
/** Before the first step. */
const NO_STEP = -1;

/** Returns the seal purpose, which binds a secret to its person: a copied row does not open. */
export const totpPurpose = (personId: string): string => `totp:${personId}`;

/** Finds the step of a code that the person may use. Null for a wrong or used code. */
export async function findStep(ctx: Ctx, { personId, sealed, lastStep }: TotpSecret, code: string): Promise<number | null> {
  const secret = base64url.decode(await unseal(ctx.config.FACTOR_KEYS, totpPurpose(personId), sealed));
  return findTotpStep(secret, code, { now: ctx.wallNow, lastStep });
}

export interface PendingTotp {
  otpauthUri: string;
  secret: string;
  expiresAt: number;
}

/**
 * Draws a secret for an authenticator app, in the position of a pending one. Throws 403 sign_in_required or step_up_required, 409
 * state_conflict for a person who has an authenticator app.
 */
export async function beginTotp(ctx: Scope, actor: Actor, storeAnswer: StoreAnswer<PendingTotp>): Promise<PendingTotp> {
  requireFreshSignIn(ctx, actor);
  const { accountId: personId } = actor;
  const account = await getAccount(ctx.db, personId);
  const secret = crypto.getRandomValues(new Uint8Array(TOTP.secretBytes));
  const row: TotpSecret = {
    personId,
    sealed: await seal(ctx.config.FACTOR_KEYS, totpPurpose(personId), base64url.encode(secret)),
    lastStep: NO_STEP,
    confirmedAt: null,
    expiresAt: ctx.wallNow + PENDING_MS,
  };
  const result: PendingTotp = {
    otpauthUri: otpauthUri({ issuer: relyingParty(ctx).name, label: account.email ?? ownNameOf(account), secret }),
    secret: encodeTotpSecret(secret),
    expiresAt: row.expiresAt!,
  };
  return commitWithAnswer(ctx, { events: [], writes: replacePendingTotp(ctx, row), result }, storeAnswer, async () => {
    if ((await findTotp(ctx.db, personId))?.confirmedAt == null) return null;
    const detail = 'An authenticator app is set up already. Remove it first.';
    return new ApiError('state_conflict', { detail, meta: { reason: 'totp_enabled' } });
  });
}

export interface ConfirmedTotp {
  confirmedAt: number;
  codes: readonly string[] | null;
}

/**
 * Confirms the pending secret with a code of the app, with recovery codes if it is the first factor. Throws 401 invalid_credentials, 409
 * state_conflict if none is pending, 429 rate_limited at the fifth wrong code.
 */
export async function confirmTotp(ctx: Scope, actor: Actor, code: string, storeAnswer: StoreAnswer<ConfirmedTotp>): Promise<ConfirmedTotp> {
  const { accountId: personId } = actor;
  await getPending(ctx, personId);
  const codes = newRecoveryCodes();
  return tryCode(ctx, personId, async () => {
    let stored = null as ConfirmedTotp | null;
    await changeAccount(ctx, personId, async (account) => {
      const pending = await getPending(ctx, personId);
      const step = await findStep(ctx, pending, code);
      if (step === null) {
        stored = null;
        return null;
      }
      const alert = { change: 'totp_added' as const };
      const planned = planAddedFactor(ctx, account, { change: { totp: true }, alert, codes });
      const now: ConfirmedTotp = { confirmedAt: ctx.wallNow, codes: planned.codes };
      stored = now;
      return {
        values: planned.values,
        writes: [
          ...confirmPendingTotp(ctx, pending, { confirmedAt: now.confirmedAt, lastStep: step }),
          ...planned.writes,
          ...(await storeAnswer(now)),
        ],
        // A rival with the same code plans an equal row, but for the recovery codes.
        wasStored: async () =>
          planned.codes !== null && (await findRecoveryCode(ctx.db, personId, recoveryHashes(ctx, personId, codes[0]!))) !== undefined,
      };
    });
    return stored;
  });
}

async function getPending(ctx: Scope, personId: AccountId): Promise<TotpSecret> {
  const found = await findTotp(ctx.db, personId);
  if (found?.expiresAt != null && ctx.wallNow < found.expiresAt) return found;
  const detail = 'No authenticator app waits for its first code. Begin again.';
  throw new ApiError('state_conflict', { detail, meta: { reason: 'nothing_pending' } });
}

/** Removes the authenticator app, confirmed or pending. Idempotent. Throws 403 sign_in_required or step_up_required. */
export async function removeTotp(ctx: Scope, actor: Actor, storeAnswer: StoreAnswer<null>): Promise<void> {
  requireFreshSignIn(ctx, actor);
  await changeAccount(ctx, actor.accountId, async (account) => {
    if (!account.factors?.totp) return { writes: [deleteTotp(ctx.db, account.id), ...(await storeAnswer(null))] };
    const planned = planRemovedFactor(ctx, account, { change: { totp: false }, alert: { change: 'totp_removed' } });
    return {
      values: planned.values,
      writes: [deleteTotp(ctx.db, account.id), ...planned.writes, ...(await storeAnswer(null))],
      wasStored: async () => (await findTotp(ctx.db, account.id)) === undefined,
    };
  });
}
