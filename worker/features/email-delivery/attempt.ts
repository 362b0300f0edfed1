import type { AccountId, InvitationId, MailId, ReceiptId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import type { EmailDefinition } from '#emails/emails.ts';
import type { Rendered } from '#emails/render.tsx';
import { emailToken, isProvable } from '#features/accounts/auth/email-proof.ts';
import { findAccountByEmail } from '#features/accounts/auth/sign-in.ts';
import { getOwner } from '#features/accounts/members/acting.ts';
import { findLinkedInvitation } from '#features/accounts/members/invitation.store.ts';
import { invitationToken, isOpenLink } from '#features/accounts/members/invitation-link.ts';
import { notMeToken } from '#features/accounts/not-me/link.ts';
import { findAccount } from '#features/accounts/store.ts';
import { buyerLinkToken, isBuyersLink } from '#features/buyer-sign-in/email-link.ts';
import { addressKeysOf, finishAttempt, forgetMail, leaseMail, rememberBounce, sendMails, takeDueMails } from '#features/email/outbox.ts';
import { isBouncedAddress, isMailOff } from '#features/email/store.ts';
import { LIMIT_ERROR, noteWithheldEmail } from '#features/receipts/receipt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Mail } from '#platform/db/tables/mail.ts';
import { admissionObject } from '#platform/objects.ts';
import type { MailOutcome } from '#platform/providers/mail/mail-provider.ts';
import { hasMail, type MailConfig, mailProviderOf } from '#platform/providers/mail/mail-providers.ts';
import { personStatusOf } from '#rules/access/roles.ts';
import { type DisputedChange, type EmailFacts, type EmailTemplate, prefsOf } from '#rules/emails.ts';
import { PLANS, planAt } from '#rules/plans.ts';
import { MAIL } from '#rules/states.ts';

/** Longer than an attempt can take. After a crash the email is attempted again when the lease expires. */
const LEASE_MS = MINUTE;

/**
 * Resolves the recipient. Returns null if the email must be skipped: account deleted, address changed or unverified, preference off, or
 * expired.
 */
async function resolveRecipient(
  ctx: Ctx,
  mail: Mail,
  account: Account | null,
): Promise<{ account: Account | null; address: string } | null> {
  const { EMAILS } = await import('#emails/emails.ts');
  const email: EmailDefinition<never> = EMAILS[mail.template];
  if (account ? statusFor(email, mail, account) !== 'active' : mail.accountId !== null) return null;
  const until = (email as EmailDefinition<object>).until?.(mail.facts);
  if (until !== undefined && Date.parse(until) <= ctx.now) return null;
  if (email.token === 'buyer') return (await isBuyersLink(ctx, mail)) ? { account: null, address: mail.address! } : null;
  if (email.token === 'invitation') return (await isInvited(ctx, mail)) ? { account, address: mail.address! } : null;
  if (email.token && email.token !== 'not_me' && !(account && isProvable(ctx, email.token, account, mail))) return null;
  if (email.pref && account && !prefsOf(account.notificationPrefs)[email.pref]) return null;
  if (email.to === 'owner') return account ? resolveOwner(ctx, account) : null;
  return mail.address === null ? null : { account: await findNotified(ctx, mail, account), address: mail.address };
}

/** Status that decides: of the person for an email about a way to sign in, else of the account. */
const statusFor = ({ token, isOfMerchant }: Pick<EmailDefinition<never>, 'token' | 'isOfMerchant'>, mail: Mail, account: Account) =>
  token && token !== 'invitation' && !isOfMerchant && mail.subjectId === null ? personStatusOf(account) : account.status;

async function resolveOwner(ctx: Ctx, account: Account): Promise<{ account: Account; address: string } | null> {
  const owner = await getOwner(ctx, account);
  return owner.email !== null && owner.emailVerified ? { account: owner, address: owner.email } : null;
}

/** Person whom a security email about an account of another id is for, else the one of the same id. */
async function findNotified(ctx: Ctx, { template, subjectId }: Mail, account: Account | null): Promise<Account | null> {
  const { EMAILS } = await import('#emails/emails.ts');
  if (subjectId === null || EMAILS[template].token !== 'not_me') return account;
  return (await findAccount(homeOf(ctx, subjectId).db, subjectId as AccountId)) ?? null;
}

/** True if the link of the email is the newest one of an open invitation. */
async function isInvited(ctx: Ctx, { subjectId, facts }: Mail): Promise<boolean> {
  const id = subjectId as InvitationId;
  const invitation = await findLinkedInvitation(homeOf(ctx, id).db, id);
  return isOpenLink(ctx, invitation, Date.parse((facts as EmailFacts['invitation']).expires_at));
}

/**
 * Returns the bounce reasons that block an email. An address that complained still gets links that its owner requested, and those that take
 * a change back, because a thief could complain. A verification link goes to a bounced address too, so that the owner can prove it again.
 */
async function endingReasons(ctx: Ctx, mail: Mail, account: Account | null): Promise<('bounced' | 'complained')[]> {
  const { EMAILS } = await import('#emails/emails.ts');
  const { token } = EMAILS[mail.template];
  // An unproven address gets no link.
  const isWithoutLink = token === 'not_me' && (account === null || tokenOf(ctx, token, mail, account) === '');
  if (token === undefined || token === 'invitation' || isWithoutLink) return ['bounced', 'complained'];
  return token === 'verify' ? [] : ['bounced'];
}

/** Finds the account of an email. For an email to an address alone, the account that has the address at send time. */
async function findRecipientAccount(ctx: Shard, { accountId, address }: Mail): Promise<Account | null> {
  if (accountId !== null) return (await findAccount(homeOf(ctx, accountId).db, accountId)) ?? null;
  return address === null ? null : ((await findAccountByEmail(ctx, address)) ?? null);
}

function tokenOf(ctx: Ctx, token: Exclude<EmailDefinition<object>['token'], 'buyer' | undefined>, mail: Mail, account: Account): string {
  if (token === 'invitation')
    return invitationToken(ctx, { id: mail.subjectId!, expiresAt: Date.parse((mail.facts as EmailFacts['invitation']).expires_at) });
  if (token !== 'not_me') return emailToken(ctx, token, account, mail.createdAt);
  const unnamed = mail.template === 'ownership_transfer' ? 'transfer' : 'payout';
  const { change = unnamed, at } = mail.facts as { change?: DisputedChange; at: string };
  return notMeToken(ctx, account, { change, at: Date.parse(at) }, mail.address ?? '');
}

export async function renderMail(ctx: Ctx, mail: Mail, account: Account | null): Promise<Rendered> {
  const [{ EMAILS }, { renderEmail }] = await Promise.all([import('#emails/emails.ts'), import('#emails/render.tsx')]);
  const { token } = EMAILS[mail.template];
  const { OPERATOR_NAME } = ctx.config;
  return renderEmail(mail.template, mail.facts as EmailFacts[EmailTemplate] as never, {
    locale: (mail.locale ?? account?.locale ?? 'en') as Locale,
    baseUrl: ctx.baseUrl,
    token: token === 'buyer' ? await buyerLinkToken(ctx, mail) : token && account ? tokenOf(ctx, token, mail, account) : '',
    operator: OPERATOR_NAME ?? null,
  });
}

/**
 * Makes one attempt at a due email under a lease. Idempotent, also for duplicates and ended emails. An email to a bounced address ends
 * unsent, and so does one to an address that complained, unless the reader just requested it. Waits if email is switched off or not
 * configured.
 */
export async function attemptMail(ctx: Shard, mailId: MailId): Promise<void> {
  if (!hasMail(ctx) || (await isMailOff(ctx.db))) return;
  const { config } = ctx;
  const leaseUntil = ctx.wallNow + LEASE_MS;
  const mail = await leaseMail(ctx.db, mailId, ctx.wallNow, leaseUntil);
  if (!mail) return;
  const account = await findRecipientAccount(ctx, mail);
  // Deletes emails for unknown addresses, because strangers could fill the table with them.
  if (!account && mail.accountId === null && !(mail.template === 'buyer_link' && (await isBuyersLink(ctx, mail))))
    return void (await forgetMail(ctx.db, mail));
  const reader = await resolveRecipient(ctx, mail, account);
  const keys = reader ? addressKeysOf(ctx, reader.address) : null;
  if (!reader || !keys || (await isBouncedAddress(ctx.db, keys, await endingReasons(ctx, mail, reader.account)))) {
    await finishAttempt(ctx.db, mail, ended(ctx, mail, 'drop', reader ? 'bounced before' : 'not wanted'));
    return;
  }
  const limit = await findFullLimit(ctx, mail, reader.account);
  if (limit !== null) return withhold(ctx, mail, limit);
  const { subject, html, text } = await renderMail(ctx, mail, reader.account);
  const email = { id: mail.id, from: config.MAIL_FROM, to: reader.address, subject, html, text };
  const outcome = await mailProviderOf(config).send(ctx, email);
  if (outcome.kind === 'refused' && outcome.isBounced) await rememberBounce(ctx.db, keys[0], 'bounced', ctx.wallNow);
  if (outcome.kind !== 'sent') ctx.note(`mail ${mail.template}: ${outcome.reason}`);
  await finishAttempt(ctx.db, mail, valuesAfter(ctx, config, mail, outcome));
}

/** Ends an email at a limit of its merchant, and notes that on the receipt that was to be emailed. */
async function withhold(ctx: Shard, mail: Mail, limit: string): Promise<void> {
  ctx.note(`mail ${mail.template}: ${limit}`);
  const { receipt_id: id } = mail.facts as Partial<EmailFacts['buyer_receipt']>;
  const seller = { merchantId: mail.accountId!, livemode: true };
  const isNoted = mail.template === 'buyer_receipt' && mail.cause !== null;
  await ctx.db.batch([
    finishAttempt(ctx.db, mail, ended(ctx, mail, 'drop', `${LIMIT_ERROR}${limit}`)),
    ...(isNoted ? [noteWithheldEmail(ctx.db, seller, id as ReceiptId, mail.cause!)] : []),
  ]);
}

/** True for a proof to an address that no buyer gave. Complaints pause these alone: buyers who complain cannot silence a shop. */
const isToStranger = (facts: Mail['facts']): boolean => 'is_to_stranger' in facts;

/** Returns the limit that the merchant of an email has met. An email counts once, at its first attempt. */
async function findFullLimit(
  ctx: Shard,
  { template: email, facts, accountId, attempt }: Mail,
  account: Account | null,
): Promise<string | null> {
  const { EMAILS } = await import('#emails/emails.ts');
  if (!EMAILS[email].isOfMerchant) return null;
  if (account && account.emailsPausedAt !== null && isToStranger(facts)) return `complaints about account ${accountId}`;
  if (attempt > 1) return null;
  const plan = account ? planAt(account, ctx.now) : 'free';
  const ceilings = [
    ...(email === 'buyer_receipt' ? [{ name: `receipts of account ${accountId}`, max: PLANS[plan].buyerReceiptsPerDay }] : []),
    { name: 'emails of all merchants', max: ctx.config.MERCHANT_EMAILS_PER_DAY },
  ];
  for (const { name, max } of ceilings) {
    const { allowed } = await admissionObject(ctx, `emails:${name}`).hit([{ name, max, windowMs: DAY }], ctx.wallNow);
    if (!allowed) return name;
  }
  return null;
}

/** Period in which an email waits for a busy provider. After it, the answer counts as any other failure. */
const BUSY_MS = 7 * DAY;

const retrySecondsOf = ({ MAIL_RETRY_SECONDS }: MailConfig): number[] => MAIL_RETRY_SECONDS.split(',').map(Number);

function valuesAfter(ctx: Shard, config: MailConfig, mail: Mail, outcome: MailOutcome): Partial<Mail> {
  if (outcome.kind === 'sent') return { ...ended(ctx, mail, 'send', null), providerId: outcome.providerId };
  if (outcome.kind === 'refused') return ended(ctx, mail, 'fail', outcome.reason);
  const isUncounted = outcome.kind === 'busy' && ctx.wallNow < mail.createdAt + BUSY_MS;
  const attempt = isUncounted ? mail.attempt - 1 : mail.attempt;
  const wait = retrySecondsOf(config)[Math.max(0, attempt - 1)];
  if (wait === undefined) return ended(ctx, mail, 'fail', outcome.reason);
  const seconds = Math.max(wait, outcome.afterSeconds ?? 0);
  return {
    attempt,
    status: MAIL.next(mail.status, 'retry'),
    nextAttemptAt: ctx.wallNow + ctx.elapsedMs() + seconds * SECOND,
    error: outcome.reason.slice(0, 200),
  };
}

/** Ends an email and erases the address, except on a local machine, where emails are read later. */
const ended = ({ config, wallNow }: Shard, mail: Mail, how: 'send' | 'fail' | 'drop', error: string | null): Partial<Mail> => ({
  status: MAIL.next(mail.status, how),
  nextAttemptAt: null,
  endedAt: wallNow,
  error: error?.slice(0, 200) ?? null,
  ...(config.MAIL_PROVIDER === 'local' ? {} : { address: null }),
});

const CRON_SECONDS = 60;
const DUE_MAX = 5000;
/** Time after which a queue message counts as lost. */
const PATIENCE_MS = 2 * MINUTE;

/** Enqueues due emails at the provider's rate: earlier failures, lost messages, and those that waited while email was switched off. */
export async function sweepMails(ctx: Shard): Promise<Swept> {
  if (!hasMail(ctx) || (await isMailOff(ctx.db))) return { taken: 0, end: 'empty' };
  const perSecond = ctx.config.MAIL_PER_SECOND ?? mailProviderOf(ctx.config).perSecond;
  const max = Math.min(DUE_MAX, perSecond * CRON_SECONDS);
  const due = await takeDueMails(ctx.db, ctx.wallNow, { max, perSecond, patienceMs: PATIENCE_MS });
  await sendMails(ctx, due);
  // The provider's rate bounds what a cron may send.
  return { taken: due.length, end: due.length < max ? 'empty' : 'paused' };
}
