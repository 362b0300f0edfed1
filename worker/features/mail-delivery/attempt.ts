import type { MailId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import { DAY, MINUTE, SECOND } from '#core/time.ts';
import { emailToken, isProvable } from '#features/accounts/auth/email-proof.ts';
import { findAccountByEmail } from '#features/accounts/auth/sign-in.ts';
import { findAccount } from '#features/accounts/store.ts';
import { addressKeysOf, finishAttempt, forgetMail, leaseMail, rememberBounce, sendMails, takeDueMails } from '#features/mail/outbox.ts';
import { isBouncedAddress, isMailOff } from '#features/mail/store.ts';
import type { Letter } from '#letters/letters.ts';
import type { Rendered } from '#letters/render.tsx';
import type { Ctx, Shard } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Mail } from '#platform/db/tables/mail.ts';
import { admissionObject } from '#platform/objects.ts';
import type { MailOutcome } from '#platform/providers/mail/mail-provider.ts';
import { hasMail, type MailConfig, mailProviderOf } from '#platform/providers/mail/mail-providers.ts';
import { type LetterFacts, type LetterName, prefsOf } from '#rules/letters.ts';
import { PLANS, planAt } from '#rules/plans.ts';
import { MAIL } from '#rules/states.ts';

/** Longer than an attempt can take; one that died is made again after it. */
const LEASE_MS = MINUTE;

/** Where a letter goes by now; null: it is not sent, because the account is gone, has another address, did not prove it, or wants no such letter, or because the letter comes too late. */
async function readerOf(ctx: Ctx, mail: Mail, account: Account | null): Promise<{ account: Account | null; address: string } | null> {
  const { LETTERS } = await import('#letters/letters.ts');
  const letter = LETTERS[mail.letter];
  if (account ? account.status !== 'active' : mail.accountId !== null) return null;
  const until = (letter as Letter<object>).until?.(mail.facts);
  if (until !== undefined && Date.parse(until) <= ctx.now) return null;
  if (letter.token && !(account && isProvable(ctx, letter.token, account, mail))) return null;
  if (letter.pref && account && !prefsOf(account.notificationPrefs)[letter.pref]) return null;
  if (letter.to === 'owner') return account?.email && account.emailVerified ? { account, address: account.email } : null;
  return mail.address === null ? null : { account, address: mail.address };
}

/**
 * Who called a letter spam still gets the link by which they sign in or prove their address: they asked for it. The one that proves an
 * address goes to one that bounced, too: it is how the owner shows that letters arrive again.
 */
async function endingReasons({ letter }: Mail): Promise<('bounced' | 'complained')[]> {
  const { LETTERS } = await import('#letters/letters.ts');
  const { token } = LETTERS[letter];
  if (token === undefined) return ['bounced', 'complained'];
  return token === 'verify' ? [] : ['bounced'];
}

/** Whose letter it is: of an address that was asked about, the account that has it by now. */
async function accountOf(ctx: Shard, { accountId, address }: Mail): Promise<Account | null> {
  if (accountId !== null) return (await findAccount((await homeOf(ctx, accountId)).db, accountId)) ?? null;
  return address === null ? null : ((await findAccountByEmail(ctx, address)) ?? null);
}

/** A letter as it is sent: made of its facts every time, and the same every time. */
export async function renderMail(ctx: Ctx, mail: Mail, account: Account | null): Promise<Rendered> {
  const [{ LETTERS }, { renderLetter }] = await Promise.all([import('#letters/letters.ts'), import('#letters/render.tsx')]);
  const { token } = LETTERS[mail.letter];
  const { OPERATOR_NAME } = ctx.config;
  return renderLetter(mail.letter, mail.facts as LetterFacts[LetterName] as never, {
    locale: (mail.locale ?? account?.locale ?? 'en') as Locale,
    baseUrl: ctx.baseUrl,
    token: token && account ? emailToken(ctx, token, account, mail.createdAt) : '',
    operator: OPERATOR_NAME ?? null,
  });
}

/**
 * One attempt at a letter that is due, under a lease. Harmless doubled, late or for a letter that is over. A letter to an address that
 * bounced ends unsent, and one to an address that complained, unless its reader asked for it just now. Where the operator switched mail off, or it is not configured, the letter waits.
 */
export async function attemptMail(ctx: Shard, mailId: MailId): Promise<void> {
  if (!hasMail(ctx) || (await isMailOff(ctx.db))) return;
  const { config } = ctx;
  const leaseUntil = ctx.wallNow + LEASE_MS;
  const mail = await leaseMail(ctx.db, mailId, ctx.wallNow, leaseUntil);
  if (!mail) return;
  const account = await accountOf(ctx, mail);
  // Strangers could fill the table with addresses that no account has: of those nothing is kept.
  if (!account && mail.accountId === null) return void (await forgetMail(ctx.db, mail));
  const reader = await readerOf(ctx, mail, account);
  const keys = reader ? addressKeysOf(ctx, reader.address) : null;
  if (!reader || !keys || (await isBouncedAddress(ctx.db, keys, await endingReasons(mail)))) {
    await finishAttempt(ctx.db, mail, ended(ctx, mail, 'drop', reader ? 'bounced before' : 'not wanted'));
    return;
  }
  const full = mail.attempt === 1 ? await findFullCeiling(ctx, mail, reader.account) : null;
  if (full !== null) {
    ctx.note(`mail ${mail.letter}: ${full} is full`);
    return void (await finishAttempt(ctx.db, mail, ended(ctx, mail, 'drop', `limit: ${full}`)));
  }
  const { subject, html, text } = await renderMail(ctx, mail, reader.account);
  const letter = { id: mail.id, from: config.MAIL_FROM, to: reader.address, subject, html, text };
  const outcome = await mailProviderOf(config).send(ctx, letter);
  if (outcome.kind === 'refused' && outcome.isBounced) await rememberBounce(ctx.db, keys[0], 'bounced', ctx.wallNow);
  if (outcome.kind !== 'sent') ctx.note(`mail ${mail.letter}: ${outcome.reason}`);
  await finishAttempt(ctx.db, mail, valuesAfter(ctx, config, mail, outcome));
}

/**
 * Ceiling of a day that an email of a merchant would be above, counting it otherwise; null: none. Its first attempt is counted, so that one
 * that is tried again counts once.
 */
async function findFullCeiling(ctx: Shard, { letter, accountId }: Mail, account: Account | null): Promise<string | null> {
  const { LETTERS } = await import('#letters/letters.ts');
  if (!LETTERS[letter].isOfMerchant) return null;
  const plan = account ? planAt(account, ctx.now) : 'free';
  const ceilings = [
    ...(letter === 'buyer_receipt' ? [{ name: `receipts of account ${accountId}`, max: PLANS[plan].buyerReceiptsPerDay }] : []),
    { name: 'emails of all merchants', max: ctx.config.MERCHANT_EMAILS_PER_DAY },
  ];
  for (const { name, max } of ceilings) {
    const { allowed } = await admissionObject(ctx, `emails:${name}`).hit([{ name, max, windowMs: DAY }], ctx.wallNow);
    if (!allowed) return name;
  }
  return null;
}

/** For so long a letter waits for a provider that is busy; then what it says counts as any other failure. */
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

/** It is over: the address is needed no more, but on a local machine, where letters are read later. */
const ended = ({ config, wallNow }: Shard, mail: Mail, how: 'send' | 'fail' | 'drop', error: string | null): Partial<Mail> => ({
  status: MAIL.next(mail.status, how),
  nextAttemptAt: null,
  endedAt: wallNow,
  error: error?.slice(0, 200) ?? null,
  ...(config.MAIL_PROVIDER === 'local' ? {} : { address: null }),
});

/** Crons are so far apart, and what one sweep brings is spread over the time until the next. */
const CRON_SECONDS = 60;
/** A bound on one invocation. */
const DUE_MAX = 5000;
/** A message should have come by then. */
const PATIENCE_MS = 2 * MINUTE;

/**
 * Brings letters whose time has come to the queue, at the rate that the provider takes: those that failed before, those whose message was
 * lost, and all that had to wait while mail was switched off.
 */
export async function sweepMails(ctx: Shard): Promise<Swept> {
  if (!hasMail(ctx) || (await isMailOff(ctx.db))) return { taken: 0, isFinished: true };
  const perSecond = ctx.config.MAIL_PER_SECOND ?? mailProviderOf(ctx.config).perSecond;
  const max = Math.min(DUE_MAX, perSecond * CRON_SECONDS);
  const due = await takeDueMails(ctx.db, ctx.wallNow, { max, perSecond, patienceMs: PATIENCE_MS });
  await sendMails(ctx, due);
  // What is left is for the next cron, so that the rate holds.
  return { taken: due.length, isFinished: true };
}
