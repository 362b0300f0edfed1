import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import { addressKeysOf, planEmail } from '#features/email/outbox.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import type { EmailFacts } from '#rules/emails.ts';
import { findAccount } from '../store.ts';

const FORMER_MS = 7 * DAY;
/** Limit on former addresses of an account. The earliest ones remain, because a thief may change the address repeatedly. */
const FORMER_MAX = 5;

const stillFormer = ({ wallNow }: Ctx, { formerEmails }: Account) => formerEmails.filter(({ until }) => until > wallNow);

export function formerEmailsAfter(ctx: Ctx, account: Account): Account['formerEmails'] {
  const former = stillFormer(ctx, account);
  if (account.email === null || !account.emailVerified) return former;
  return [...former, { email: account.email, until: ctx.wallNow + FORMER_MS }].slice(0, FORMER_MAX);
}

/** Addresses notified of security changes: the verified one, and those verified within the last seven days. */
export const ownerAddresses = (ctx: Ctx, account: Account): string[] => [
  ...new Set([
    ...(account.email !== null && account.emailVerified ? [account.email] : []),
    ...stillFormer(ctx, account).map(({ email }) => email),
  ]),
];

/** Limit per address and hour, so that neither a thief nor a mistyped address causes a flood. */
const ALERTS_AN_HOUR = { verified: 10, unverified: 3 };

/** Change that the owner is notified of regardless of preferences. `named`: the key, provider or URL. */
type Alert = Pick<EmailFacts['security_alert'], 'change' | 'named'>;

export function planSecurityAlert(ctx: Shard, account: Account, alert: Alert): Write[] {
  const facts = { ...alert, at: iso(ctx.wallNow) };
  // An address that is removed from the account is notified, verified or not.
  const leaving = alert.change === 'email' && account.email !== null ? [account.email] : [];
  return [...new Set([...leaving, ...ownerAddresses(ctx, account)])].flatMap((address) => {
    const counted = { templates: ['security_alert' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR };
    const max = account.emailVerified ? ALERTS_AN_HOUR.verified : ALERTS_AN_HOUR.unverified;
    return planEmail(ctx, { template: 'security_alert', facts, accountId: account.id, address }, { counted, max }).writes;
  });
}

export async function planAlertFor(ctx: Shard, accountId: AccountId, alert: Alert): Promise<Write[]> {
  const account = hasMail(ctx) ? await findAccount(ctx.db, accountId) : undefined;
  return account ? planSecurityAlert(ctx, account, alert) : [];
}

export async function planPayoutEmail(
  ctx: Shard,
  accountId: AccountId,
  payout: Omit<EmailFacts['payout_changed'], 'at'>,
): Promise<Write[]> {
  const account = hasMail(ctx) ? await findAccount(ctx.db, accountId) : undefined;
  const facts = { ...payout, at: iso(ctx.now) };
  const addresses = account ? ownerAddresses(ctx, account) : [];
  return addresses.flatMap((address) => planEmail(ctx, { template: 'payout_changed', facts, accountId, address }).writes);
}

const LINKS_AN_HOUR = 3;

export function planVerification(
  ctx: Shard,
  { id, email, displayName, createdAt }: Account,
  limit?: NonNullable<Parameters<typeof planEmail>[2]>,
): Write[] {
  if (email === null) return [];
  const facts = { account: displayName, created_at: iso(createdAt) };
  return planEmail(ctx, { template: 'verify_email', facts, accountId: id, address: email }, limit ?? linksAnHour(ctx, email)).writes;
}

/** Limit on emails with a link, which a stranger can request for any address. */
export const linksAnHour = (ctx: Ctx, address: string): NonNullable<Parameters<typeof planEmail>[2]> => ({
  counted: { templates: ['verify_email', 'reset_password'], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR },
  max: LINKS_AN_HOUR,
});
