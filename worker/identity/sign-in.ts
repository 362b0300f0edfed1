import type { Ctx } from '../context.ts';
import { hashPassword, pepperedHash, verifyPassword } from '../core/crypto.ts';
import { ApiError } from '../core/errors.ts';
import { type AccountId, admissionIdOf, newId } from '../core/ids.ts';
import { commitNew, isConstraint } from '../db/commit.ts';
import { type Account, findAccount, findAccountByEmailKey, insertAccount } from './store.ts';

export const PASSWORD_LENGTH = { min: 8, max: 128 };

/** One spelling per mailbox, as people understand it: trimmed, lower case, composed. */
const normaliseEmail = (email: string): string => email.trim().normalize('NFC').toLowerCase();
export const emailKeyOf = (ctx: Ctx, email: string): string => pepperedHash(ctx.config.PEPPER, 'email', normaliseEmail(email));

export interface Register {
  email: string;
  password: string;
  displayName: string;
}

/** A new account on the free plan. 409 email_registered, also for the address of a deleted account. */
export async function registerAccount(ctx: Ctx, input: Register): Promise<Account> {
  const { length } = [...input.password];
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) throw new ApiError('password_too_short');
  const accountId = newId<AccountId>(ctx.now);
  const account: Account = {
    id: accountId,
    admissionId: admissionIdOf(accountId),
    email: normaliseEmail(input.email),
    emailKey: emailKeyOf(ctx, input.email),
    walletAddress: null,
    passwordHash: await hashPassword(input.password),
    displayName: input.displayName,
    plan: 'free',
    status: 'active',
    isStaff: false,
    tokenVersion: 1,
    emailVerified: false,
    timezone: 'UTC',
    notificationPrefs: {},
    merchantSettings: {},
    createdAt: ctx.now,
    version: 1,
  };
  try {
    return await commitNew(ctx, { events: [], writes: [insertAccount(ctx.db, account)], result: account }, () =>
      findAccount(ctx.db, account.id),
    );
  } catch (error) {
    throw isConstraint(error) ? new ApiError('email_registered') : error;
  }
}

/** Unknown address and wrong password cost and answer the same; an account's state is told only to who knows its password. */
export async function logIn(ctx: Ctx, input: { email: string; password: string }): Promise<Account> {
  const account = await findAccountByEmailKey(ctx.db, emailKeyOf(ctx, input.email));
  const matches = await verifyPassword(input.password, account?.passwordHash ?? null);
  if (!account || !matches) throw new ApiError('invalid_credentials');
  if (account.status === 'suspended') throw new ApiError('account_suspended');
  if (account.status === 'deleted') throw new ApiError('account_deleted');
  return account;
}
