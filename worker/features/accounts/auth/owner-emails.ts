import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import { addressKeysOf, planLetter } from '#features/mail/outbox.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import type { LetterFacts } from '#rules/letters.ts';
import { findAccount } from '../store.ts';

/** A verified address that the account no longer has still gets the security emails for so long. */
const FORMER_MS = 7 * DAY;
/** Addresses of one account that count as former at once. The earliest stay: a thief may change the address again and again. */
const FORMER_MAX = 5;

const stillFormer = ({ wallNow }: Ctx, { formerEmails }: Account) => formerEmails.filter(({ until }) => until > wallNow);

/** Former addresses of an account that is about to change its address. */
export function formerEmailsAfter(ctx: Ctx, account: Account): Account['formerEmails'] {
  const kept = stillFormer(ctx, account);
  if (account.email === null || !account.emailVerified) return kept;
  return [...kept, { email: account.email, until: ctx.wallNow + FORMER_MS }].slice(0, FORMER_MAX);
}

/** Addresses that hear of a change in how the account is opened or paid: the verified one, and those verified before within seven days. */
export const ownerAddresses = (ctx: Ctx, account: Account): string[] => [
  ...new Set([
    ...(account.email !== null && account.emailVerified ? [account.email] : []),
    ...stillFormer(ctx, account).map(({ email }) => email),
  ]),
];

/** To one address within an hour, so that neither a thief nor a mistyped address makes a flood. */
const ALERTS_AN_HOUR = { verified: 10, unverified: 3 };

/** Change of an account that its owner hears of whatever they switched off. `named`: the key, provider or URL. */
type Alert = Pick<LetterFacts['security_alert'], 'change' | 'named'>;

/** Emails about a change to the account as it was before the change. */
export function planSecurityAlert(ctx: Shard, account: Account, alert: Alert): Write[] {
  const facts = { ...alert, at: iso(ctx.wallNow) };
  // An address that leaves the account hears of that, verified or not.
  const leaving = alert.change === 'email' && account.email !== null ? [account.email] : [];
  return [...new Set([...leaving, ...ownerAddresses(ctx, account)])].flatMap((address) => {
    const counted = { letters: ['security_alert' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR };
    const max = account.emailVerified ? ALERTS_AN_HOUR.verified : ALERTS_AN_HOUR.unverified;
    return planLetter(ctx, { letter: 'security_alert', facts, accountId: account.id, address }, { counted, max }).writes;
  });
}

/** Same as `planSecurityAlert`, for a caller that has not loaded the account. */
export async function planAlertOf(ctx: Shard, accountId: AccountId, alert: Alert): Promise<Write[]> {
  const account = hasMail(ctx) ? await findAccount(ctx.db, accountId) : undefined;
  return account ? planSecurityAlert(ctx, account, alert) : [];
}

/** Emails about a new payout wallet, with the addresses at the moment of the change. */
export async function planPayoutEmail(
  ctx: Shard,
  accountId: AccountId,
  payout: Omit<LetterFacts['payout_changed'], 'at'>,
): Promise<Write[]> {
  const account = hasMail(ctx) ? await findAccount(ctx.db, accountId) : undefined;
  const facts = { ...payout, at: iso(ctx.now) };
  const addresses = account ? ownerAddresses(ctx, account) : [];
  return addresses.flatMap((address) => planLetter(ctx, { letter: 'payout_changed', facts, accountId, address }).writes);
}

/** Emails with a link to one address: more in an hour are not written. */
const LINKS_AN_HOUR = 3;

/** Email with the link that verifies the account's address. */
export function planVerification(
  ctx: Shard,
  { id, email, displayName, createdAt }: Account,
  limit?: NonNullable<Parameters<typeof planLetter>[2]>,
): Write[] {
  if (email === null) return [];
  const facts = { account: displayName, created_at: iso(createdAt) };
  return planLetter(ctx, { letter: 'verify_email', facts, accountId: id, address: email }, limit ?? linksAnHour(ctx, email)).writes;
}

/** Limit on emails with a link, which a stranger can have sent to an address. */
export const linksAnHour = (ctx: Ctx, address: string): NonNullable<Parameters<typeof planLetter>[2]> => ({
  counted: { letters: ['verify_email', 'reset_password'], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR },
  max: LINKS_AN_HOUR,
});
