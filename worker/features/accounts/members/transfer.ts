import { ApiError, raise } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { DAY, iso } from '#core/time.ts';
import { type Actor, type Ctx, type Scope, type Shard, scopeIn } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Write } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Account, PendingTransfer } from '#platform/db/tables/accounts.ts';
import { requireFreshSignIn, roleRefused } from '#platform/http/callers.ts';
import { rateLimited } from '#platform/http/rate-limit.ts';
import { admissionObject } from '#platform/objects.ts';
import { personStatusOf, roleIn, TRANSFER_MS } from '#rules/access/roles.ts';
import { planTransferEmails } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { getAccount } from '../store.ts';
import { getOwner, listActing } from './acting.ts';
import { planWithdrawals } from './invitation.store.ts';
import { deleteMember, insertMember } from './store.ts';

const conflict = (reason: string, detail: string): ApiError => new ApiError('state_conflict', { detail, meta: { reason } });

/** Judges the caller by the account as it is changed: it may have been handed over since the call was admitted. */
function requireOwnership(account: Account, { personId }: Actor): void {
  const role = roleIn(account, personId!) ?? raise('not_found');
  if (role !== 'owner') throw roleRefused(role, 'account:write');
}

/** Throws 409 state_conflict for a person who may not own the account: the address is not proven, or the owner alone has a factor. */
function requireEligible(member: Account, owner: Account): void {
  if (personStatusOf(member) !== 'active') raise('not_found');
  if (!member.emailVerified) throw conflict('email_unverified', 'The email address of the member is not verified.');
  if (owner.factors === null || member.factors !== null) return;
  throw conflict('factor_required', 'The owner has a second factor and the member none. The member has to add one first.');
}

function requireActiveAccount({ status }: Account): void {
  if (status === 'suspended') throw new ApiError('account_suspended');
}

const getPerson = (ctx: Ctx, personId: AccountId): Promise<Account> => getAccount(homeOf(ctx, personId).db, personId);

type TransferAction = 'account.transfer_started' | 'account.transfer_withdrawn';
const recordStep = (ctx: Scope, action: TransferAction, to: AccountId): Write =>
  recordAction(
    ctx,
    { merchantId: ctx.merchantId, livemode: true },
    { action, subject: { type: 'account', id: ctx.merchantId }, after: { to } },
  );

/** Offers of one account in a day. Each one emails the owner and the member. */
const TRANSFERS_A_DAY = 10;

/** Counts an offer. Throws 429 rate_limited from the eleventh of a day. */
async function countTransfer(ctx: Scope): Promise<void> {
  const window = { name: 'offers', max: TRANSFERS_A_DAY, windowMs: DAY };
  const counted = await admissionObject(ctx, `transfers:${ctx.merchantId}`).hit([window], ctx.wallNow);
  if (!counted.allowed)
    throw rateLimited(counted.rate, ctx.wallNow, 'The account was offered ten times today. Wait a day. The newest offer is open.');
}

/**
 * Offers the account to a member, for 7 days, and notifies both. Replaces an offer to another. Throws 403 invalid_authorization
 * (sign_in_required, role), 404 for a person who is no member, 409 state_conflict (owner, email_unverified, factor_required), or 429.
 */
export async function startTransfer(
  ctx: Scope,
  actor: Actor,
  to: AccountId,
  storeAnswer: StoreAnswer<PendingTransfer>,
): Promise<PendingTransfer> {
  requireFreshSignIn(ctx, actor);
  const transfer = { to, expiresAt: ctx.wallNow + TRANSFER_MS };
  await changeAccount(ctx, ctx.merchantId, async (account, attempt) => {
    requireOwnership(account, actor);
    requireActiveAccount(account);
    if (to === account.ownerId) throw conflict('owner', 'The person owns the account already.');
    if (!(to in account.roles)) raise('not_found');
    const [owner, member] = await Promise.all([getOwner(ctx, account), getPerson(ctx, to)]);
    requireEligible(member, owner);
    if (attempt === 1) await countTransfer(ctx);
    const times = { at: iso(ctx.wallNow), expires_at: iso(transfer.expiresAt) };
    const facts = { account: account.displayName, from: owner.name, to: member.name, ...times };
    const emails = planTransferEmails(ctx, account.id, { from: owner, to: member }, facts);
    return {
      values: { transfer },
      writes: [...emails, recordStep(ctx, 'account.transfer_started', to), ...(await storeAnswer(transfer))],
    };
  });
  return transfer;
}

/** Withdraws the offer of the account. Without one: no effect. Throws 403 invalid_authorization (sign_in_required, role). */
export async function withdrawTransfer(ctx: Scope, actor: Actor, storeAnswer: StoreAnswer<null>): Promise<null> {
  requireFreshSignIn(ctx, actor);
  await changeAccount(ctx, ctx.merchantId, async (account) => {
    requireOwnership(account, actor);
    const writes = await storeAnswer(null);
    const { transfer } = account;
    if (transfer === null) return { writes };
    return { values: { transfer: null }, writes: [recordStep(ctx, 'account.transfer_withdrawn', transfer.to), ...writes] };
  });
  return null;
}

/**
 * Loads the member who accepts, and makes a deletion of the person that is under way begin again: it withdraws the offer, after which this
 * acceptance fails. Neither relies on one database for both.
 */
async function lockEligible(
  ctx: Ctx,
  { personId, accountId }: { personId: AccountId; accountId: AccountId },
  owner: Account,
): Promise<Account> {
  const own = homeOf(ctx, personId);
  const check = (member: Account): Account => {
    requireEligible(member, owner);
    return member;
  };
  // The row of an account that goes back to its first owner is the person's too, and its own version decides.
  if (personId === accountId) return check(await getAccount(own.db, personId));
  return changeAccount(own, personId, (member) => ({ values: { version: check(member).version } }));
}

/**
 * Withdraws every offer of an account to a person who is to be deleted, so that none is accepted afterwards. Returns the accounts that the person
 * owns, but one: with any of them nothing is withdrawn. The caller stores the deletion under the version that `person` has.
 */
export async function withdrawTransfers(ctx: Ctx, person: Account, except?: AccountId): Promise<Account[]> {
  const found = (await listActing(ctx, person)).filter(({ account }) => account.id !== except);
  const owned = found.flatMap(({ account, role }) => (role === 'owner' ? [account] : []));
  if (owned.length > 0) return owned;
  const pending = found.filter(({ account }) => account.transfer?.to === person.id);
  const left = await Promise.all(pending.map(({ account }) => withdrawTransferTo(ctx, person.id, account.id)));
  return left.filter(({ ownerId }) => ownerId === person.id);
}

function withdrawTransferTo(ctx: Ctx, personId: AccountId, accountId: AccountId): Promise<Account> {
  const home = homeOf(ctx, accountId);
  return changeAccount(home, accountId, ({ transfer }) => {
    if (transfer?.to !== personId) return null;
    const entry = recordStep(scopeIn(home, { merchantId: accountId, livemode: true }), 'account.transfer_withdrawn', personId);
    return { values: { transfer: null }, writes: [entry] };
  });
}

/**
 * Makes the person of a session the owner of the account that the session acts on, and the owner of before an admin. One batch in the account's
 * database: the person was a member, so the person's own list has the account. Repeated by the owner: no effect. Throws 403 invalid_authorization
 * (sign_in_required), or 409 state_conflict without an open offer to the person (no_transfer) and those of `startTransfer`.
 */
export async function acceptTransfer(ctx: Ctx, actor: Actor): Promise<AccountId> {
  requireFreshSignIn(ctx, actor);
  const personId = actor.personId!;
  const accountId = actor.actsOn ?? personId;
  const home = homeOf(ctx, accountId);
  await changeAccount(home, accountId, async (account) => {
    const { ownerId, transfer, roles } = account;
    if (ownerId === personId) return null;
    const { [personId]: role = raise('not_found'), ...others } = roles;
    requireActiveAccount(account);
    if (transfer?.to !== personId || transfer.expiresAt <= ctx.wallNow)
      throw conflict('no_transfer', 'The account is not offered to you. Ask its owner to hand it over.');
    const owner = await getOwner(ctx, account);
    const member = await lockEligible(ctx, { personId, accountId }, owner);
    // An admin invites no admins, so those of the owner of before end.
    const withdrawn = await planWithdrawals(scopeIn(home, { merchantId: accountId, livemode: true }), ownerId, 'admin');
    const facts = { account: account.displayName, from: owner.name, to: member.name, at: iso(ctx.wallNow) };
    return {
      values: { ownerId: personId, roles: { ...others, [ownerId]: 'admin' }, transfer: null },
      writes: [
        deleteMember(home.db, accountId, personId),
        // Since the beginning, so that a dispute of a later change does not take the role away.
        insertMember(home.db, { accountId, personId: ownerId, role: 'admin', joinedAt: account.createdAt, invitedBy: null }),
        ...planTransferEmails(home, accountId, { from: owner, to: member }, facts),
        ...withdrawn,
        recordTransfer(home, account, { id: personId, role }),
      ],
    };
  });
  return accountId;
}

const recordTransfer = (home: Shard, { id, ownerId }: Account, member: { id: AccountId; role: Account['roles'][string] }): Write =>
  recordAction(
    home,
    { merchantId: id, livemode: true },
    {
      action: 'account.transferred',
      subject: { type: 'account', id },
      before: { owner_id: ownerId },
      after: { owner_id: member.id },
      by: { kind: 'person', ...member },
    },
  );
