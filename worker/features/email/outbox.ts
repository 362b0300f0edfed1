import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId, MailId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { newIdAbout } from '#platform/db/directory.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import type { Mail } from '#platform/db/tables/mail.ts';
import { hasMail, missingForMail } from '#platform/providers/mail/mail-providers.ts';
import type { EmailFacts, EmailTemplate } from '#rules/emails.ts';
import { forgetBounce, insertMail, type MailCount } from './store.ts';

export {
  abortIfMailsAbove,
  type BounceReason,
  dropMailsOf,
  findBounce,
  finishAttempt,
  forgetBounce,
  forgetMail,
  leaseMail,
  MAIL_SWITCH,
  type MailCount,
  rememberBounce,
  takeDueMails,
  uncountMails,
} from './store.ts';

interface NewEmail<N extends EmailTemplate> {
  template: N;
  facts: EmailFacts[N];
  /** Account of the email. Null: the account that has the address at send time. */
  accountId: AccountId | null;
  address?: string;
  locale?: Locale | null;
  subjectId?: string;
  /** Deduplication key: an email with the same cause is stored once. */
  cause?: string;
}

/** Keyed hashes of a case-folded address, one spelling per mailbox, under each pepper. The first is stored. */
export const addressKeysOf = ({ config }: Ctx, address: string): [string, ...string[]] =>
  pepperedHashes(config.PEPPER, 'mail', address.trim().normalize('NFC').toLowerCase());

/** Clears a bounce so that emails go to the address again. Returns true if any database had one. */
export async function liftBounce(ctx: Ctx, address: string): Promise<boolean> {
  const keys = addressKeysOf(ctx, address);
  const lifted = await Promise.all(shardsOf(ctx).map(({ db }) => forgetBounce(db, keys)));
  return lifted.some(({ meta }) => meta.changes > 0);
}

/** Throws 503 mail_not_configured with the names of the missing settings. */
export function requireMail(ctx: Ctx): void {
  const missing = missingForMail(ctx);
  if (missing.length > 0) throw new ApiError('mail_not_configured', { meta: { missing } });
}

/** Delay after which the email's row is almost always stored. If not, the sweep finds the email. */
const STORED_SECONDS = 1;

/**
 * Plans an email in the batch of its cause, and its queue message, which may get lost. Plans nothing if email is not configured. A sandbox
 * email is stored as dropped and never sent. `unless`: skips the email at a limit. At the limit the facts are `final`.
 */
export function planEmail<N extends EmailTemplate>(
  ctx: Shard,
  { template, facts, accountId, address, locale, subjectId, cause }: NewEmail<N>,
  unless?: { counted: MailCount; max: number; final?: EmailFacts[N] },
): { id: MailId; writes: Write[] } {
  const { wallNow } = ctx;
  const isSimulated = ctx.sandbox !== null;
  const id = newIdAbout<MailId>(ctx, wallNow, accountId ?? null);
  if (!hasMail(ctx) && !isSimulated) return { id, writes: [] };
  const mail: Mail = {
    id,
    accountId,
    template,
    facts,
    locale: locale ?? null,
    address: isSimulated ? null : (address ?? null),
    addressKey: address === undefined ? null : addressKeysOf(ctx, address)[0],
    subjectId: subjectId ?? null,
    cause: cause ?? null,
    status: isSimulated ? 'dropped' : 'waiting',
    attempt: 0,
    nextAttemptAt: isSimulated ? null : wallNow,
    queuedUntil: 0,
    leaseUntil: 0,
    providerId: null,
    error: null,
    requestId: ctx.cause,
    createdAt: wallNow,
    endedAt: isSimulated ? wallNow : null,
  };
  if (!isSimulated) ctx.defer(sendMails(ctx, [{ id, second: STORED_SECONDS }]));
  if (!unless?.final) return { id, writes: [insertMail(ctx, mail, unless)] };
  // Stores the first of the two that its limit allows, because they share an id.
  const finalMail = { ...mail, facts: unless.final };
  return { id, writes: [insertMail(ctx, mail, { ...unless, max: unless.max - 1 }), insertMail(ctx, finalMail, unless)] };
}

const MESSAGES_MAX = 100;

export async function sendMails(ctx: Shard, due: readonly { id: MailId; second: number }[]): Promise<void> {
  const messages = due.map(({ id: mailId, second: delaySeconds }) => ({
    body: { mailId, requestId: ctx.cause },
    delaySeconds,
  }));
  for (let i = 0; i < messages.length; i += MESSAGES_MAX) await ctx.env.MAIL.sendBatch(messages.slice(i, i + MESSAGES_MAX));
}
