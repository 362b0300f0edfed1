import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { recordPerson } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { type CountedFactors, changedFactors } from '#rules/access/factors.ts';
import { newRecoveryCodes, normaliseRecoveryCode, RECOVERY_CODES } from '#rules/access/recovery-codes.ts';
import { planSecurityAlert } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { deleteRecoveryCodes, findRecoveryCode, insertRecoveryCodes } from './store.ts';

type Alert<Change> = Omit<Parameters<typeof planSecurityAlert>[2], 'change'> & { change: Change };

/** Hashes of a recovery code under each pepper. */
export const recoveryHashes = ({ config }: Ctx, personId: AccountId, code: string): [string, ...string[]] =>
  pepperedHashes(config.PEPPER, 'recovery code', `${personId}:${normaliseRecoveryCode(code)}`);

const planRecoveryCodes = (ctx: Shard, personId: AccountId, codes: readonly string[]): Write[] => [
  deleteRecoveryCodes(ctx.db, personId),
  insertRecoveryCodes(
    ctx.db,
    personId,
    codes.map((code) => recoveryHashes(ctx, personId, code)[0]),
  ),
];

interface AddedFactor {
  change: Partial<CountedFactors>;
  alert: Alert<'passkey_added' | 'totp_added'>;
  /** Drawn before the change, so that each try stores the same ones. */
  codes: readonly string[];
}

/** Plans the count, the emails and, with the first factor, the recovery codes. `codes` of the result is null with a further factor. */
export function planAddedFactor(ctx: Shard, account: Account, { change, alert, codes }: AddedFactor) {
  const isFirst = account.factors === null;
  return {
    values: { factors: changedFactors(account.factors, { ...change, ...(isFirst && { recoveryCodes: RECOVERY_CODES }) }) },
    writes: [
      ...(isFirst ? planRecoveryCodes(ctx, account.id, codes) : []),
      ...planSecurityAlert(ctx, account, alert),
      recordPerson(ctx, account.id, `person.${alert.change}`, { after: { name: alert.named } }),
    ],
    codes: isFirst ? codes : null,
  };
}

interface RemovedFactor {
  change: Partial<CountedFactors>;
  alert: Alert<'passkey_removed' | 'totp_removed'>;
}

/** Plans the count and the emails. Without any factor left, the recovery codes end too. */
export function planRemovedFactor(ctx: Shard, account: Account, { change, alert }: RemovedFactor) {
  const factors = changedFactors(account.factors, change);
  return {
    values: { factors },
    writes: [
      ...(factors === null ? [deleteRecoveryCodes(ctx.db, account.id)] : []),
      ...planSecurityAlert(ctx, account, alert),
      recordPerson(ctx, account.id, `person.${alert.change}`, { before: { name: alert.named } }),
    ],
  };
}

/** Replaces the recovery codes. Throws 403 step_up_required, or 409 state_conflict for a person without a factor. */
export async function renewRecoveryCodes(
  ctx: Scope,
  actor: Actor,
  storeAnswer: StoreAnswer<readonly string[]>,
): Promise<readonly string[]> {
  requireFreshSignIn(ctx, actor);
  const codes = newRecoveryCodes();
  await changeAccount(ctx, actor.accountId, async (account) => {
    if (account.factors === null) {
      const detail = 'Recovery codes replace a lost factor. Add a passkey or an authenticator app first.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'no_factor' } });
    }
    return {
      values: { factors: { ...account.factors, recoveryCodes: RECOVERY_CODES } },
      writes: [
        ...planRecoveryCodes(ctx, account.id, codes),
        ...planSecurityAlert(ctx, account, { change: 'recovery_codes' }),
        recordPerson(ctx, account.id, 'person.recovery_codes_renewed'),
        ...(await storeAnswer(codes)),
      ],
      wasStored: async () => (await findRecoveryCode(ctx.db, account.id, recoveryHashes(ctx, account.id, codes[0]!))) !== undefined,
    };
  });
  return codes;
}
