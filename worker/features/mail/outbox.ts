import { pepperedHashes } from '#core/crypto.ts';
import { ApiError } from '#core/errors.ts';
import { type AccountId, type MailId, newId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import { addressOf, type Ctx, type Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { shardsOf } from '#platform/db/directory.ts';
import type { Mail } from '#platform/db/tables/mail.ts';
import { hasMail, missingForMail } from '#platform/providers/mail/mail-providers.ts';
import type { LetterFacts, LetterName } from '#rules/letters.ts';
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
} from './store.ts';

/** A letter as a verb asks for it. */
interface NewLetter<N extends LetterName> {
  letter: N;
  facts: LetterFacts[N];
  /** Whose letter it is; null: of the account that has the address when it is sent. */
  accountId: AccountId | null;
  /** null: that of the account when it is sent. */
  address?: string;
  locale?: Locale | null;
  subjectId?: string;
  /** Makes it one letter, however often it is planned. */
  cause?: string;
}

/** One spelling per mailbox: as people understand it, case-folded. Under each pepper; the first is what is stored. */
export const addressKeysOf = ({ config }: Ctx, address: string): [string, ...string[]] =>
  pepperedHashes(config.PEPPER, 'mail', address.trim().normalize('NFC').toLowerCase());

/** Letters go to an address again, whatever was said of it. True where any database remembered something. */
export async function liftBounce(ctx: Ctx, address: string): Promise<boolean> {
  const keys = addressKeysOf(ctx, address);
  const lifted = await Promise.all(shardsOf(ctx).map(({ db }) => forgetBounce(db, keys)));
  return lifted.some(({ meta }) => meta.changes > 0);
}

/** 503 mail_not_configured, with the names of what is missing. */
export function requireMail(ctx: Ctx): void {
  const missing = missingForMail(ctx);
  if (missing.length > 0) throw new ApiError('mail_not_configured', { meta: { missing } });
}

/** So long after it is planned a letter is in the database, almost always; where it is not yet, the sweep finds it. */
const STORED_SECONDS = 1;

/**
 * A letter to be written in the batch of what causes it, and its message, which may come to nothing. Nothing is planned where no mail is
 * configured. What a sandbox causes is written as if it had been dropped, and never sent. `unless`: not where so many were written already.
 */
export function planLetter<N extends LetterName>(
  ctx: Shard,
  { letter, facts, accountId, address, locale, subjectId, cause }: NewLetter<N>,
  unless?: { counted: MailCount; max: number },
): { id: MailId; writes: Write[] } {
  const { wallNow } = ctx;
  const isSimulated = ctx.sandbox !== null;
  const id = newId<MailId>(wallNow);
  if (!hasMail(ctx) && !isSimulated) return { id, writes: [] };
  const mail: Mail = {
    id,
    accountId,
    letter,
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
  return { id, writes: [insertMail(ctx, mail, unless)] };
}

/** A queue takes so many messages at once. */
const MESSAGES_MAX = 100;

/** Hands letters to their queue, each for its second from now. */
export async function sendMails(ctx: Shard, due: readonly { id: MailId; second: number }[]): Promise<void> {
  const messages = due.map(({ id: mailId, second: delaySeconds }) => ({
    body: { mailId, requestId: ctx.cause, ...addressOf(ctx) },
    delaySeconds,
  }));
  for (let i = 0; i < messages.length; i += MESSAGES_MAX) await ctx.env.MAIL.sendBatch(messages.slice(i, i + MESSAGES_MAX));
}
