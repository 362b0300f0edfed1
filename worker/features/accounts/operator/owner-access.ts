import { ApiError } from '#core/errors.ts';
import { HOUR, iso } from '#core/time.ts';
import { planEmail } from '#features/email/outbox.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { forEach, type Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { NameTaken, withNames } from '#platform/db/names/names.ts';
import { emptyOrBound, type Swept } from '#platform/db/sweeps.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { isHandedOver, personStatusOf } from '#rules/access/roles.ts';
import { formerEmailsAfter, ownerAddresses, planSecurityAlert, planVerification } from '../auth/owner-emails.ts';
import { emailKeysOf, emailName, findAccountByEmail, normaliseEmail } from '../auth/sign-in.ts';
import { changeAccount } from '../change-account.ts';
import { deleteFactors } from '../factors/store.ts';
import { abortIfTaken } from '../store.ts';
import { findOperated, isAccountId, requireReason } from './operator.ts';
import { listDueResets } from './store.ts';

/** Finds a person by email or user id. Throws 404 not_found, 409 state_conflict for the id of an account that another person owns. */
async function findPerson(ctx: Ctx, named: string): Promise<Account> {
  const person = await findOperated(ctx, named);
  if (!isAccountId(named) || !isHandedOver(person)) return person;
  const detail = 'The account was handed over. Name its owner.';
  throw new ApiError('state_conflict', { detail, meta: { reason: 'handed_over', owner_id: person.ownerId } });
}

/** True for the state that the change leads to, also if only its answer was lost. */
const isChanged = (account: Account, { tokenVersion }: Account) => account.tokenVersion > tokenVersion;

/**
 * Sets the email address of a person who has lost it, and ends all sessions. The address counts as unverified until its reader follows the
 * link of an email, and no network is known under it: a thief may have signed in from those of before. Idempotent. Throws 404 not_found, 409 email_registered.
 */
export async function setEmail(ctx: Ctx, { account: named, email }: { account: string; email: string }): Promise<Account> {
  requireReason(ctx);
  const known = await findPerson(ctx, named);
  const home = homeOf(ctx, known.id);
  const { keys } = emailKeysOf(ctx, email);
  if (known.emailKey !== null && keys.includes(known.emailKey)) return known;
  if (await findAccountByEmail(ctx, email)) throw new ApiError('email_registered');
  const change = (reserved: Write[]) =>
    changeAccount(home, known.id, (account) => {
      if (personStatusOf(account) === 'deleted') throw new ApiError('state_conflict', { meta: { reason: 'account_deleted' } });
      const values = {
        ...{ email: normaliseEmail(email), emailKey: keys[0], emailVerified: false, joinAskedAt: null },
        ...{ formerEmails: formerEmailsAfter(home, account), tokenVersion: account.tokenVersion + 1 },
      };
      const entry = {
        action: 'person.email_changed',
        subject: { type: 'person', id: account.id },
        // The log of an account that was handed over is that of another owner.
        ...(isHandedOver(account) ? {} : { before: { email: account.email }, after: { email: values.email } }),
      } as const;
      return {
        values,
        writes: [
          ...reserved,
          ...abortIfTaken(home, account.id, emailKeysOf(ctx, email)),
          ...planSecurityAlert(home, account, { change: 'email' }),
          ...planVerification(home, { ...account, ...values }),
          recordAction(home, { merchantId: account.id, livemode: true }, entry),
        ],
        wasStored: (now) => now.emailKey === values.emailKey && isChanged(now, account),
      };
    });
  return withNames(home, known.id, [emailName(ctx, email)], change).catch((error: unknown) => {
    throw error instanceof NameTaken ? new ApiError('email_registered') : error;
  });
}

/** Time in which the person can object. */
const NOTICE_MS = 72 * HOUR;

/**
 * Begins the removal of all factors of a person who has lost them. The person is emailed, and `not me` ends it. Idempotent: a second call
 * does not move the time. Throws 404 not_found, 409 state_conflict for a person without a factor or a verified address.
 */
export async function beginFactorsReset(ctx: Ctx, { account: named }: { account: string }): Promise<Account> {
  requireReason(ctx);
  const known = await findPerson(ctx, named);
  const home = homeOf(ctx, known.id);
  return changeAccount(home, known.id, (account) => {
    if (account.factorsEndAt !== null) return null;
    const hasFactor = account.factors !== null && personStatusOf(account) !== 'deleted';
    if (!hasFactor) throw new ApiError('state_conflict', { meta: { reason: 'no_factor' } });
    if (ownerAddresses(home, account).length === 0) {
      const detail = 'The person has no verified address, so nobody could object. Set one first.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'email_unverified' } });
    }
    const factorsEndAt = home.wallNow + NOTICE_MS;
    return { values: { factorsEndAt }, writes: [...planResetEmail(home, account, factorsEndAt), recordReset(home, account, 'begun')] };
  });
}

const planResetEmail = (home: Shard, account: Account, endsAt: number): Write[] =>
  ownerAddresses(home, account).flatMap((address) => {
    const facts = { change: 'factors_reset' as const, at: iso(home.wallNow), ends_at: iso(endsAt) };
    return planEmail(home, { template: 'factors_reset', facts, accountId: account.id, address }).writes;
  });

const recordReset = (home: Shard, { id, factorsEndAt }: Account, step: 'begun' | 'done'): Write =>
  recordAction(
    home,
    { merchantId: id, livemode: true },
    {
      action: step === 'begun' ? 'person.factors_reset_begun' : 'person.factors_reset',
      subject: { type: 'person', id },
      ...(step === 'done' && factorsEndAt !== null && { after: { due_at: iso(factorsEndAt) }, by: { kind: 'system', id: null } }),
    },
  );

const PERSONS_MAX = 50;

/** Removes the factors of persons who did not object in time, and ends their sessions. */
export async function sweepFactorResets(ctx: Shard): Promise<Swept> {
  const due = await listDueResets(ctx.db, ctx.wallNow, PERSONS_MAX);
  const taken = await forEach(ctx, due, ({ id }) => endFactors(ctx, id));
  return { taken, end: emptyOrBound(due.length < PERSONS_MAX && taken === due.length) };
}

const endFactors = (ctx: Shard, personId: Account['id']): Promise<Account> =>
  changeAccount(ctx, personId, (account) => {
    if (account.factorsEndAt === null || account.factorsEndAt > ctx.wallNow) return null;
    if (account.factors === null || personStatusOf(account) === 'deleted') return { values: { factorsEndAt: null } };
    return {
      values: { factorsEndAt: null, factors: null, tokenVersion: account.tokenVersion + 1 },
      writes: [...deleteFactors(ctx.db, personId), ...planResetEmail(ctx, account, ctx.wallNow), recordReset(ctx, account, 'done')],
      wasStored: (now) => now.factorsEndAt === null && isChanged(now, account),
    };
  });
