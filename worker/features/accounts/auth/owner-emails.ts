import type { AccountId } from '#core/ids.ts';
import { DAY, HOUR, iso } from '#core/time.ts';
import { addressKeysOf, type MailCount, planEmail, uncountMails } from '#features/email/outbox.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { given } from '#platform/http/openapi.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { isHandedOver } from '#rules/access/roles.ts';
import type { EmailFacts } from '#rules/emails.ts';
import { getOwner, readHomes } from '../members/acting.ts';
import { listPersons } from '../members/store.ts';
import { findAccount } from '../store.ts';

/** Time for which a former address gets security emails. */
export const FORMER_MS = 7 * DAY;
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

/** Limits per address and hour, so that neither a thief nor a mistyped address causes a flood. */
const ALERTS_AN_HOUR = { ofOneChange: 10, unverified: 3 };
/** Changes that can be repeated without end. An alert about any other one is always sent to a verified address. */
const REPEATABLE: readonly Alert['change'][] = ['new_sign_in', 'live_key', 'live_key_widened', 'endpoint_added'];

/** Change that the owner is notified of regardless of preferences. `named`: the key, provider, URL or member. */
type Alert = Pick<EmailFacts['security_alert'], 'change' | 'named' | 'session_id'>;

/** Caller of the request, so that the reader recognises a stranger. */
function callerFacts({ acting: { actor, origin } }: Ctx): Partial<EmailFacts['security_alert']> {
  const session = actor?.signIn?.sessionId;
  return {
    ...(origin && { ip: origin.ip, user_agent: origin.userAgent }),
    ...given('country', origin?.country ?? null),
    ...given('session_id', session ?? null),
  };
}

/** Subject of an email about an account to an owner with another id. Its link is the owner's. */
const readerOf = (owner: Account, accountId: AccountId) => (owner.id === accountId ? {} : { subjectId: owner.id });

/** Notifies a person. `accountId`: account of the change, if not the one of the same id. */
export function planSecurityAlert(ctx: Shard, person: Account, alert: Alert, accountId: AccountId = person.id): Write[] {
  const facts = { ...callerFacts(ctx), ...alert, at: iso(ctx.wallNow) };
  // The address of an email or password that is replaced is notified, verified or not.
  const replaced = ['email', 'password'].includes(alert.change) && person.email !== null ? [person.email] : [];
  const verified = ownerAddresses(ctx, person);
  return [...new Set([...replaced, ...verified])].flatMap((address) => {
    const limit = alertLimit(ctx, { address, isVerified: verified.includes(address), facts });
    return planEmail(ctx, { template: 'security_alert', facts, accountId, address, ...readerOf(person, accountId) }, limit).writes;
  });
}

interface AlertTarget {
  address: string;
  isVerified: boolean;
  facts: EmailFacts['security_alert'];
}

interface EmailLimit {
  counted: MailCount;
  max: number;
}

const alertsTo = (ctx: Ctx, addresses: string[]) => ({
  templates: ['security_alert' as const],
  addressKeys: addresses.flatMap((address) => addressKeysOf(ctx, address)),
  since: ctx.wallNow - HOUR,
});

/** Begins the limits on alerts to a person again. A link that was used takes back no later change, so the next one needs an alert. */
export const resetAlertLimits = (ctx: Shard, person: Account): Write => uncountMails(ctx.db, alertsTo(ctx, ownerAddresses(ctx, person)));

/** Limit on alerts to an address, if any. The final one of an hour says that its link undoes further changes too. */
function alertLimit(
  ctx: Ctx,
  { address, isVerified, facts }: AlertTarget,
): (EmailLimit & { final?: EmailFacts['security_alert'] }) | undefined {
  const { change } = facts;
  const counted = alertsTo(ctx, [address]);
  if (!isVerified) return { counted, max: ALERTS_AN_HOUR.unverified };
  if (!REPEATABLE.includes(change)) return undefined;
  return { counted: { ...counted, change }, max: ALERTS_AN_HOUR.ofOneChange, final: { ...facts, is_final: true } };
}

/** Notifies the owner of a change of the account. */
export const planOwnerAlert = async (ctx: Shard, account: Account, alert: Alert): Promise<Write[]> =>
  planSecurityAlert(ctx, await getOwner(ctx, account), alert, account.id);

export async function planAlertFor(ctx: Shard, accountId: AccountId, alert: Alert): Promise<Write[]> {
  const account = hasMail(ctx) ? await findAccount(ctx.db, accountId) : undefined;
  return account ? planOwnerAlert(ctx, account, alert) : [];
}

/** Verified addresses of the admins of an account. */
async function listAdminAddresses(ctx: Shard, { roles }: Account): Promise<string[]> {
  const admins = Object.keys(roles).filter((id) => roles[id] === 'admin') as AccountId[];
  const persons = await readHomes(ctx, admins, ({ db }, ids) => listPersons(db, ids));
  return persons.flatMap(({ email, emailVerified }) => (email !== null && emailVerified ? [email] : []));
}

export async function planPayoutEmail(
  ctx: Shard,
  accountId: AccountId,
  payout: Omit<EmailFacts['payout_changed'], 'at'>,
): Promise<Write[]> {
  const account = hasMail(ctx) ? await findAccount(ctx.db, accountId) : undefined;
  const facts = { ...payout, at: iso(ctx.wallNow) };
  if (!account) return [];
  const owner = await getOwner(ctx, account);
  const addresses = [...ownerAddresses(ctx, owner), ...(await listAdminAddresses(ctx, account))];
  const email = { template: 'payout_changed' as const, facts, accountId, ...readerOf(owner, accountId) };
  return [...new Set(addresses)].flatMap((address) => planEmail(ctx, { ...email, address }).writes);
}

type TransferFacts = EmailFacts['ownership_transfer'];

/** Notifies both persons that a transfer began or ended. */
export function planTransferEmails(
  ctx: Shard,
  accountId: AccountId,
  people: { from: Account; to: Account },
  facts: TransferFacts,
): Write[] {
  return Object.values(people).flatMap((person) =>
    ownerAddresses(ctx, person).flatMap(
      (address) => planEmail(ctx, { template: 'ownership_transfer', facts, accountId, address, ...readerOf(person, accountId) }).writes,
    ),
  );
}

const LINKS_AN_HOUR = 3;

/** Name by which emails to a person call the account. One that was handed over has the name of another owner's shop. */
export const ownNameOf = (account: Account): string => (isHandedOver(account) ? account.name : account.displayName);

export function planVerification(ctx: Shard, account: Account, limit?: EmailLimit): Write[] {
  const { id, email, createdAt } = account;
  if (email === null) return [];
  const facts = { account: ownNameOf(account), created_at: iso(createdAt) };
  return planEmail(ctx, { template: 'verify_email', facts, accountId: id, address: email }, limit ?? linksAnHour(ctx, email)).writes;
}

/** Limit on emails with a link, which a stranger can request for any address. */
export const linksAnHour = (ctx: Ctx, address: string): EmailLimit => ({
  counted: { templates: ['verify_email', 'reset_password'], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR },
  max: LINKS_AN_HOUR,
});
