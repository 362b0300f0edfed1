import { ApiError, formatErrorChain } from '#core/errors.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { NameTaken, withNames } from '#platform/db/names/names.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn, requireStepUp } from '#platform/http/callers.ts';
import { formerEmailsAfter, planSecurityAlert, planVerification } from './auth/owner-emails.ts';
import { findByPassword, newPasswordHash } from './auth/passwords.ts';
import { listSessions } from './auth/sessions.ts';
import { emailKeysOf, emailName, findAccountByEmail, normaliseEmail } from './auth/sign-in.ts';
import { changeAccount } from './change-account.ts';
import { checkPassword, forgetNetworks, knownNetworks, learnNetworks } from './passwords/tries.ts';
import { requireGoodPassword } from './passwords/weak-passwords.ts';
import { abortIfTaken, getAccount } from './store.ts';

interface ChangeSecurity {
  email?: string;
  currentPassword?: string;
  newPassword?: string;
  /** Address of the caller. */
  ip: string;
}

/**
 * Changes email or password and ends every session, including the caller's. The previous address is notified. Throws 401
 * invalid_credentials, 403 invalid_authorization (`sign_in_required` or
 * `step_up_required`), 409 email_registered, 422 password_too_short, password_too_common or no_change.
 */
export async function changeSecurity(
  ctx: Scope,
  actor: Actor,
  input: ChangeSecurity,
  storeAnswer: StoreAnswer<string[]>,
): Promise<string[]> {
  if (input.email === undefined && input.newPassword === undefined) throw new ApiError('no_change');
  if (input.newPassword !== undefined) await requireGoodPassword(input.newPassword);
  requireStepUp(ctx, actor);
  let updatedFields: string[] = [];
  // Before the address is reserved, so that only the owner reserves one.
  const known = await getAccount(ctx.db, actor.accountId);
  await requireOwner(ctx, actor, known, input);
  const networks = input.email === undefined ? [] : await networksOfPerson(ctx, known);
  const named = input.email === undefined ? [] : [emailName(ctx, input.email)];
  const change = (reserved: Write[]) =>
    changeAccount(ctx, actor.accountId, async (account) => {
      if (account.passwordHash !== known.passwordHash) await requireOwner(ctx, actor, account, input);
      const values = { ...(await planAddressChange(ctx, account, input.email)), ...(await planPassword(ctx, account, input)) };
      updatedFields = [...(values.emailKey ? ['email'] : []), ...(values.passwordHash ? ['password'] : [])];
      if (updatedFields.length === 0) throw new ApiError('no_change');
      // Detects a stored try with a lost answer, even if another change touched the row: the old password is gone and must not be checked
      // again. Salted hash and random seal make the value unique, and the pepper sweep does not change a hash sealed under the first pepper.
      const wasStored = ({ passwordHash, emailKey, tokenVersion }: Account) =>
        values.passwordHash ? passwordHash === values.passwordHash : emailKey === values.emailKey && tokenVersion > account.tokenVersion;
      const guards = values.email ? abortIfTaken(ctx, account.id, emailKeysOf(ctx, values.email)) : [];
      const emails = [
        ...(values.passwordHash ? planSecurityAlert(ctx, account, { change: 'password' }) : []),
        ...(values.email ? planSecurityAlert(ctx, account, { change: 'email' }) : []),
        ...(values.email ? planVerification(ctx, { ...account, ...values }) : []),
      ];
      const subject = { type: 'person', id: account.id } as const;
      const emailsOf = ({ email }: Partial<Account>) => ({ email });
      const entries = [
        ...(values.email
          ? [recordAction(ctx, ctx, { action: 'person.email_changed', subject, before: emailsOf(account), after: emailsOf(values) })]
          : []),
        ...(values.passwordHash ? [recordAction(ctx, ctx, { action: 'person.password_changed', subject })] : []),
      ];
      const writes = [...reserved, ...guards, ...emails, ...entries, ...(await storeAnswer(updatedFields))];
      return { values: { ...values, tokenVersion: account.tokenVersion + 1 }, writes, wasStored };
    });
  await withNames(ctx, actor.accountId, named, change).catch((error: unknown) => {
    throw error instanceof NameTaken ? new ApiError('email_registered') : error;
  });
  if (input.email !== undefined) {
    learnNetworksLater(ctx, input.email, networks);
    // An address that was never proven may be another person's.
    if (updatedFields.includes('email') && !known.emailVerified) ctx.defer(forgetNetworks(ctx, known.email));
  }
  return updatedFields;
}

/** Makes networks known under the new address of a person. A failure leaves them unknown until the next sign-in. */
function learnNetworksLater(ctx: Ctx, email: string, networks: string[]): void {
  const pending = learnNetworks(ctx, normaliseEmail(email), networks);
  ctx.defer(pending.catch((error: unknown) => ctx.note(`networks not learnt: ${formatErrorChain(error)}`)));
}

/** Networks from which the person signed in, which remain known under another address. */
async function networksOfPerson(ctx: Ctx, { id, email }: Account): Promise<string[]> {
  const [known, sessions] = await Promise.all([knownNetworks(ctx, email), listSessions(ctx, id)]);
  return [...known, ...sessions.map(({ ip }) => ip)];
}

async function requireOwner(ctx: Ctx, actor: Actor, account: Account, { currentPassword, ip }: ChangeSecurity): Promise<void> {
  // Without a password, only a recent sign-in proves that the person is present.
  if (account.passwordHash === null) return requireFreshSignIn(ctx, actor);
  const wrong = 'The current password is wrong or missing.';
  if (currentPassword === undefined) throw new ApiError('invalid_credentials', { detail: wrong });
  const check = () => findByPassword(ctx, currentPassword, () => account);
  await checkPassword(ctx, { email: account.email ?? account.id, ip, check, find: async () => account }, wrong);
}

async function planAddressChange(ctx: Shard, account: Account, email: string | undefined): Promise<Partial<Account>> {
  if (email === undefined) return {};
  const { keys } = emailKeysOf(ctx, email);
  if (account.emailKey !== null && keys.includes(account.emailKey)) return {};
  if (await findAccountByEmail(ctx, email)) throw new ApiError('email_registered');
  const unproven = { emailVerified: false, joinAskedAt: null };
  return { email: normaliseEmail(email), emailKey: keys[0], ...unproven, formerEmails: formerEmailsAfter(ctx, account) };
}

async function planPassword(ctx: Ctx, account: Account, { currentPassword, newPassword }: ChangeSecurity): Promise<Partial<Account>> {
  if (newPassword === undefined) return {};
  if (account.passwordHash !== null && newPassword.normalize('NFKC') === currentPassword?.normalize('NFKC')) return {};
  return { passwordHash: await newPasswordHash(ctx, newPassword) };
}
