import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import { findOperated, isAccountId, requireReason } from '#features/accounts/operator/operator.ts';
import { addressKeysOf, rememberBounce } from '#features/email/outbox.ts';
import { findSenderTo } from '#features/email/store.ts';
import type { Ctx } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { homeOf } from '#platform/db/directory.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { isHandedOver } from '#rules/access/roles.ts';
import { type EmailTemplate, isCounted } from '#rules/emails.ts';

/** Time for which a complaint counts. Emails are stored as long, so the merchant of each one is known. */
const COUNTED_MS = 30 * DAY;
/** Complaints that pause the emails of an account. */
const COMPLAINTS_MAX = 3;

/** Stores in every database that an address bounced or complained. It gets no further emails. */
export async function rememberAddress(ctx: Ctx, address: string, reason: 'bounced' | 'complained'): Promise<void> {
  const [key] = addressKeysOf(ctx, address);
  for (const { db } of shardsOf(ctx)) await rememberBounce(db, key, reason, ctx.wallNow);
}

/** Counts a complaint that the email provider reports, against the merchant of the newest email to the address. */
export async function countComplaint(ctx: Ctx, address: string): Promise<void> {
  const { EMAILS } = await import('#emails/emails.ts');
  const templates = (Object.keys(EMAILS) as EmailTemplate[]).filter(isCounted);
  const keys = addressKeysOf(ctx, address);
  const since = ctx.wallNow - COUNTED_MS;
  const found = await Promise.all(shardsOf(ctx).map(({ db }) => findSenderTo(db, keys, templates, since)));
  const [newest] = found.filter((sent) => sent !== undefined).sort((a, b) => b.createdAt - a.createdAt);
  if (newest?.accountId) await recordComplaint(ctx, newest.accountId, address);
}

/** Records a complaint. An address counts once in 30 days, so a repeated report changes nothing. The third one pauses emails. */
function recordComplaint(ctx: Ctx, accountId: AccountId, address: string): Promise<Account> {
  const home = homeOf(ctx, accountId);
  const keys = addressKeysOf(ctx, address);
  return changeAccount(home, accountId, (account) => {
    const counted = account.emailComplaints.filter(({ at }) => at > home.wallNow - COUNTED_MS);
    if (account.status === 'deleted' || counted.some(({ key }) => keys.includes(key))) return null;
    const emailComplaints = [...counted, { key: keys[0], at: home.wallNow }].slice(-COMPLAINTS_MAX);
    const isPaused = account.emailsPausedAt !== null;
    const emailsPausedAt = account.emailsPausedAt ?? (emailComplaints.length >= COMPLAINTS_MAX ? home.wallNow : null);
    const entry = {
      action: 'account.complaint_received',
      subject: { type: 'account', id: accountId },
      before: { complaints: counted.length, emails_paused: isPaused },
      after: { complaints: counted.length + 1, emails_paused: emailsPausedAt !== null },
    } as const;
    const write = recordAction(home, { merchantId: accountId, livemode: true }, entry);
    return { values: { emailComplaints, emailsPausedAt }, writes: [write] };
  });
}

/** Account that an operator names. Throws 404 not_found, 409 state_conflict for the email of a person who handed the account over. */
async function findNamed(ctx: Ctx, named: string): Promise<Account> {
  requireReason(ctx);
  const account = await findOperated(ctx, named);
  if (isAccountId(named) || !isHandedOver(account)) return account;
  const detail = 'The account was handed over. Name the account by its own id.';
  throw new ApiError('state_conflict', { detail, meta: { reason: 'handed_over' } });
}

/** Records a complaint that the operator received, and ends emails to the address. Throws 422 without a reason, and those of `findNamed`. */
export async function reportComplaint(ctx: Ctx, { account: named, address }: { account: string; address: string }): Promise<Account> {
  const { id } = await findNamed(ctx, named);
  await rememberAddress(ctx, address, 'complained');
  return recordComplaint(ctx, id, address);
}

/** Ends the pause of an account's emails and forgets its complaints. Without a pause: no effect. Throws those of `findNamed`. */
export async function resumeEmails(ctx: Ctx, { account: named }: { account: string }): Promise<Account> {
  const { id } = await findNamed(ctx, named);
  const home = homeOf(ctx, id);
  return changeAccount(home, id, ({ emailsPausedAt }) => {
    if (emailsPausedAt === null) return null;
    const entry = { action: 'account.emails_resumed', subject: { type: 'account', id } } as const;
    return {
      values: { emailComplaints: [], emailsPausedAt: null },
      writes: [recordAction(home, { merchantId: id, livemode: true }, entry)],
    };
  });
}
