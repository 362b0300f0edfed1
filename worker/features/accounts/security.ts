import { ApiError } from '#core/errors.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { NameTaken, withNames } from '#platform/db/names/names.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn, requireStepUp } from '#platform/http/callers.ts';
import { planPasswordEmails } from './auth/email-proof.ts';
import { formerEmailsAfter, planSecurityAlert, planVerification } from './auth/owner-emails.ts';
import { findByPassword, newPasswordHash } from './auth/passwords.ts';
import { emailKeysOf, emailName, findAccountByEmail, normaliseEmail, requirePasswordLength } from './auth/sign-in.ts';
import { changeAccount } from './change-account.ts';
import { abortIfTaken, getAccount } from './store.ts';

interface ChangeSecurity {
  email?: string;
  currentPassword?: string;
  newPassword?: string;
}

/**
 * Changes email or password and ends every session, including the caller's. The previous address is notified. Throws 401
 * invalid_credentials, 403 invalid_authorization (`sign_in_required` or
 * `step_up_required`), 409 email_registered, 422 password_too_short or no_change.
 */
export async function changeSecurity(
  ctx: Scope,
  actor: Actor,
  input: ChangeSecurity,
  storeAnswer: StoreAnswer<string[]>,
): Promise<string[]> {
  if (input.email === undefined && input.newPassword === undefined) throw new ApiError('no_change');
  if (input.newPassword !== undefined) requirePasswordLength(input.newPassword);
  requireStepUp(ctx, actor);
  let updatedFields: string[] = [];
  // Before the address is reserved, so that only the owner reserves one.
  const known = await getAccount(ctx.db, actor.accountId);
  await requireOwner(ctx, actor, known, input.currentPassword);
  const named = input.email === undefined ? [] : [emailName(ctx, input.email)];
  const change = (reserved: Write[]) =>
    changeAccount(ctx, actor.accountId, async (account) => {
      if (account.passwordHash !== known.passwordHash) await requireOwner(ctx, actor, account, input.currentPassword);
      const values = { ...(await planAddressChange(ctx, account, input.email)), ...(await planPassword(ctx, account, input)) };
      updatedFields = [...(values.emailKey ? ['email'] : []), ...(values.passwordHash ? ['password'] : [])];
      if (updatedFields.length === 0) throw new ApiError('no_change');
      // Detects a stored try with a lost answer, even if another change touched the row: the old password is gone and must not be checked
      // again. Salted hash and random seal make the value unique, and the pepper sweep does not change a hash sealed under the first pepper.
      const wasStored = ({ passwordHash, emailKey, tokenVersion }: Account) =>
        values.passwordHash ? passwordHash === values.passwordHash : emailKey === values.emailKey && tokenVersion > account.tokenVersion;
      const guards = values.email ? abortIfTaken(ctx, account.id, emailKeysOf(ctx, values.email)) : [];
      const emails = [
        ...(values.passwordHash ? planPasswordEmails(ctx, account) : []),
        ...(values.email ? planSecurityAlert(ctx, account, { change: 'email' }) : []),
        ...(values.email ? planVerification(ctx, { ...account, ...values }) : []),
      ];
      const writes = [...reserved, ...guards, ...emails, ...(await storeAnswer(updatedFields))];
      return { values: { ...values, tokenVersion: account.tokenVersion + 1 }, writes, wasStored };
    });
  await withNames(ctx, actor.accountId, named, change).catch((error: unknown) => {
    throw error instanceof NameTaken ? new ApiError('email_registered') : error;
  });
  return updatedFields;
}

async function requireOwner(ctx: Ctx, actor: Actor, account: Account, currentPassword: string | undefined): Promise<void> {
  // Without a password, only a recent sign-in proves that the person is present.
  if (account.passwordHash === null) return requireFreshSignIn(ctx, actor);
  if (currentPassword === undefined || !(await findByPassword(ctx, currentPassword, () => account)))
    throw new ApiError('invalid_credentials', { detail: 'The current password is wrong or missing.' });
}

async function planAddressChange(ctx: Shard, account: Account, email: string | undefined): Promise<Partial<Account>> {
  if (email === undefined) return {};
  const { keys } = emailKeysOf(ctx, email);
  if (account.emailKey !== null && keys.includes(account.emailKey)) return {};
  if (await findAccountByEmail(ctx, email)) throw new ApiError('email_registered');
  return { email: normaliseEmail(email), emailKey: keys[0], emailVerified: false, formerEmails: formerEmailsAfter(ctx, account) };
}

async function planPassword(ctx: Ctx, account: Account, { currentPassword, newPassword }: ChangeSecurity): Promise<Partial<Account>> {
  if (newPassword === undefined) return {};
  if (account.passwordHash !== null && newPassword.normalize('NFKC') === currentPassword?.normalize('NFKC')) return {};
  return { passwordHash: await newPasswordHash(ctx, newPassword) };
}
