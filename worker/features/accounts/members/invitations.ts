import { ApiError, raise } from '#core/errors.ts';
import type { AccountId, InvitationId } from '#core/ids.ts';
import type { Locale } from '#core/locales.ts';
import { DAY, HOUR, iso, SECOND } from '#core/time.ts';
import { addressKeysOf, planEmail, requireMail } from '#features/email/outbox.ts';
import { getMailCount } from '#features/email/store.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { recordAction, recordPerson } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf, newIdAbout } from '#platform/db/directory.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Invitation } from '#platform/db/tables/office/people.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { type GivenRole, roleIn } from '#rules/access/roles.ts';
import { PLANS, planAt } from '#rules/plans.ts';
import { INVITATION } from '#rules/states.ts';
import { planOwnerAlert } from '../auth/owner-emails.ts';
import { emailKeysOf, normaliseEmail } from '../auth/sign-in.ts';
import { changeAccount } from '../change-account.ts';
import { findVerifiedDomain } from '../domain/store.ts';
import { getAccount } from '../store.ts';
import {
  findInvitation,
  insertInvitation,
  listInvitationRows,
  recordInvitation,
  setWithdrawn,
  updateInvitation,
} from './invitation.store.ts';
import { findByLink, isOpenLink } from './invitation-link.ts';
import { listMembers, requireMayChange } from './members.ts';
import { insertJoined, insertMember } from './store.ts';

const LIFE_MS = 7 * DAY;
/** Ended invitations are listed for a month. */
const SHOWN_MS = 30 * DAY;
const INVITATIONS_A_DAY = 20;
const EMAILS_AN_HOUR = 3;

/** Invitation with the name of the person who made it. */
export interface ShownInvitation extends Invitation {
  inviter: string;
}

const isOpen = ({ wallNow }: Ctx, { status, expiresAt }: Invitation): boolean => status === 'pending' && wallNow < expiresAt;

/** Lists the invitations of an account, newest first. Those that ended are shown for a month. */
export async function listInvitations(ctx: Scope): Promise<ShownInvitation[]> {
  const [rows, names] = await Promise.all([listInvitationRows(ctx.db, ctx.merchantId, ctx.wallNow - SHOWN_MS), listNames(ctx)]);
  return rows.map((row) => ({ ...row, inviter: names.get(row.invitedBy) ?? '' }));
}

const listNames = async (ctx: Scope): Promise<Map<AccountId, string>> =>
  new Map((await listMembers(ctx)).map(({ personId, name }) => [personId, name]));

/** Person of a token. The email address that buyers and members see as the sender's must be proven. */
async function getInviter(ctx: Ctx, { personId }: Actor): Promise<Account> {
  const person = await getAccount(homeOf(ctx, personId!).db, personId!);
  if (person.emailVerified) return person;
  const detail = 'Your email address is not verified. POST /v1/account/email/verification sends a link to it.';
  throw new ApiError('invalid_authorization', { status: 403, detail, meta: { reason: 'email_unverified' } });
}

interface Asked {
  email: string;
  role: GivenRole;
  locale?: Locale | undefined;
}

/**
 * Invites a person by email. The link works once, for 7 days. Throws 403 invalid_authorization (role, email_unverified, sign_in_required for
 * an admin), 409 state_conflict for a member's address or an open invitation, 429 plan_limit_reached without a free seat, 429 rate_limited,
 * or 503 mail_not_configured.
 */
export async function invite(
  ctx: Scope,
  actor: Actor,
  { email, role, locale }: Asked,
  storeAnswer: StoreAnswer<ShownInvitation>,
): Promise<ShownInvitation> {
  if (role === 'admin') requireFreshSignIn(ctx, actor);
  const inviter = await getInviter(ctx, actor);
  requireMail(ctx);
  const address = normaliseEmail(email);
  const id = newIdAbout<InvitationId>(ctx, ctx.wallNow, ctx.merchantId);
  const times = { expiresAt: ctx.wallNow + LIFE_MS, createdAt: ctx.wallNow };
  let made: ShownInvitation | null = null;
  await changeAccount(ctx, ctx.merchantId, async (account) => {
    requireMayChange(account, actor, role);
    await requireRoom(ctx, account, address);
    const [emailKey] = emailKeysOf(ctx, address).keys;
    const invited = { email: address, emailKey, role, invitedBy: inviter.id };
    const invitation: Invitation = { id, accountId: account.id, ...invited, status: 'pending', ...times };
    made = { ...invitation, inviter: inviter.name };
    const sent = await planInvitation(ctx, account, { invitation, inviter, locale });
    return {
      values: {},
      writes: [
        ...insertInvitation(ctx.db, invitation, ctx.wallNow),
        ...sent,
        recordInvitation(ctx, 'member.invited', invitation),
        ...(await storeAnswer(made)),
      ],
      wasStored: async () => (await findInvitation(ctx.db, ctx.merchantId, id)) !== undefined,
    };
  });
  return made!;
}

const conflict = (reason: string, detail: string): ApiError => new ApiError('state_conflict', { detail, meta: { reason } });

/** Throws if the address has a role or an open invitation, or if neither a seat nor an invitation of the day is left. */
async function requireRoom(ctx: Scope, account: Account, address: string): Promise<void> {
  // A link lives longer than a day, so these hold every invitation of today.
  const [known, rows] = await Promise.all([listMembers(ctx), listInvitationRows(ctx.db, account.id, ctx.wallNow)]);
  if (known.some(({ email }) => email !== null && normaliseEmail(email) === address))
    throw conflict('already_member', 'A member of the account has this email address.');
  const open = rows.filter((row) => isOpen(ctx, row));
  if (open.some(({ email }) => email === address))
    throw conflict('already_invited', 'An invitation to this address is open. Send it again, or withdraw it.');
  const plan = planAt(account, ctx.now);
  const limit = PLANS[plan].seatsMax;
  const used = known.length + open.length;
  if (used >= limit) throw new ApiError('plan_limit_reached', { meta: { limit, used, plan } });
  const today = rows.filter(({ createdAt }) => createdAt > ctx.wallNow - DAY);
  if (today.length >= INVITATIONS_A_DAY) throw limited(ctx, Math.min(...today.map(({ createdAt }) => createdAt)) + DAY);
}

const limited = ({ wallNow }: Ctx, until: number): ApiError =>
  new ApiError('rate_limited', { retryAfterSeconds: Math.max(1, Math.ceil((until - wallNow) / SECOND)) });

interface Sent {
  invitation: Invitation;
  inviter: Account;
  locale?: Locale | undefined;
}

/** Plans the email with the link. Throws 429 rate_limited if the address got too many within an hour. */
async function planInvitation(ctx: Shard, account: Account, { invitation, inviter, locale }: Sent): Promise<Write[]> {
  const { id, email: address, role, expiresAt } = invitation;
  const counted = { templates: ['invitation' as const], addressKeys: addressKeysOf(ctx, address), since: ctx.wallNow - HOUR };
  const { count, oldestAt } = await getMailCount(ctx.db, counted);
  if (count >= EMAILS_AN_HOUR) throw limited(ctx, (oldestAt ?? ctx.wallNow) + HOUR);
  const facts = { account: account.displayName, inviter: inviter.name, role, expires_at: iso(expiresAt) };
  const email = { template: 'invitation' as const, facts, accountId: account.id, address, subjectId: id, ...(locale && { locale }) };
  return planEmail(ctx, email).writes;
}

/** Reads an invitation that the caller may change. Throws 404 not_found, or 403 invalid_authorization (role). */
async function getChangeable(ctx: Scope, account: Account, actor: Actor, id: InvitationId): Promise<Invitation> {
  const invitation = (await findInvitation(ctx.db, account.id, id)) ?? raise('not_found');
  requireMayChange(account, actor, invitation.role);
  return invitation;
}

/** Sends a new link, which ends the earlier one. Throws 404, 409 state_conflict for an invitation that has ended, and those of `invite`. */
export async function resendInvitation(ctx: Scope, actor: Actor, id: InvitationId, storeAnswer: StoreAnswer<null>): Promise<null> {
  const inviter = await getInviter(ctx, actor);
  requireMail(ctx);
  const expiresAt = ctx.wallNow + LIFE_MS;
  await changeAccount(ctx, ctx.merchantId, async (account) => {
    const invitation = await getChangeable(ctx, account, actor, id);
    if (!isOpen(ctx, invitation)) throw conflict('ended', 'The invitation was accepted, withdrawn or has expired. Invite again.');
    const sent = await planInvitation(ctx, account, { invitation: { ...invitation, expiresAt }, inviter });
    return {
      values: {},
      writes: [
        updateInvitation(ctx.db, id, { expiresAt }),
        ...sent,
        recordInvitation(ctx, 'invitation.resent', invitation),
        ...(await storeAnswer(null)),
      ],
      wasStored: async () => (await findInvitation(ctx.db, ctx.merchantId, id))?.expiresAt === expiresAt,
    };
  });
  return null;
}

/** Withdraws an invitation. Its link ends. Again: no effect. Throws 404, or 409 state_conflict for an accepted one. */
export async function withdrawInvitation(ctx: Scope, actor: Actor, id: InvitationId, storeAnswer: StoreAnswer<null>): Promise<null> {
  await changeAccount(ctx, ctx.merchantId, async (account) => {
    const invitation = await getChangeable(ctx, account, actor, id);
    const { status } = invitation;
    if (status === 'accepted') throw conflict('accepted', 'The invitation was accepted. Remove the member instead.');
    const writes = await storeAnswer(null);
    if (status === 'withdrawn') return { writes };
    return { values: {}, writes: [...setWithdrawn(ctx, invitation), ...writes] };
  });
  return null;
}

/** Invitation as the reader of its link sees it, before and without an account. */
export async function previewInvitation(ctx: Ctx, token: string) {
  const { home, invitation } = await findByLink(ctx, token);
  const { accountId, invitedBy } = invitation;
  const inviterHome = homeOf(ctx, invitedBy);
  const [account, inviter, domain] = await Promise.all([
    getAccount(home.db, accountId),
    getAccount(inviterHome.db, invitedBy),
    findVerifiedDomain(home.db, accountId),
  ]);
  return { invitation, account: account.displayName, domain, inviter: inviter.name };
}

function requireInvited(person: Account, email: string): void {
  if (person.email === null || normaliseEmail(person.email) !== email)
    throw conflict('other_address', 'The invitation is for another email address. Sign in with that one.');
}

/**
 * Makes the person of a session a member. The link proves the address, so it is verified. Throws 401 invalid_credentials, 410 link_expired,
 * 409 state_conflict for a person of another address (other_address) or a member (already_member).
 */
export async function acceptInvitation(ctx: Ctx, personId: AccountId, token: string): Promise<Invitation> {
  const { home, invitation, expiresAt } = await findByLink(ctx, token);
  const { accountId, email, role, invitedBy } = invitation;
  const own = homeOf(ctx, personId);
  const person = await getAccount(own.db, personId);
  requireInvited(person, email);
  if (roleIn(await getAccount(home.db, accountId), personId)) throw conflict('already_member', 'You are a member of the account already.');
  // Before the role: a copy of an account without a role is shown nowhere, but a role without a copy would be found nowhere.
  await changeAccount(own, personId, (account) => {
    requireInvited(account, email);
    const joined = insertJoined(own.db, personId, accountId);
    if (account.emailVerified) return { writes: [joined] };
    const entry = recordPerson(own, personId, 'person.email_verified', { before: { email: null }, after: { email } });
    return { values: { emailVerified: true }, writes: [joined, entry] };
  });
  await changeAccount(home, accountId, async (account) => {
    const now = await findInvitation(home.db, accountId, invitation.id);
    if (!isOpenLink(ctx, now, expiresAt)) throw new ApiError('link_expired');
    return {
      values: { roles: { ...account.roles, [personId]: role } },
      writes: [
        insertMember(home.db, { accountId, personId, role, joinedAt: home.now, invitedBy }),
        updateInvitation(home.db, invitation.id, { status: INVITATION.next(now.status, 'accept') }),
        ...(role === 'admin' ? await planOwnerAlert(home, account, { change: 'admin_added', named: person.name }) : []),
        recordAction(
          home,
          { merchantId: accountId, livemode: true },
          {
            action: 'member.joined',
            subject: { type: 'member', id: personId },
            after: { role, invited_by: invitedBy },
            by: { kind: 'person', id: personId, role },
          },
        ),
      ],
    };
  });
  return invitation;
}
