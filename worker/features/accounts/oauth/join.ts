import { z } from 'zod';
import { ApiError } from '#core/errors.ts';
import type { AccountId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { personIn, recordAction } from '#platform/db/audit/record-action.ts';
import { commit, commitNew, isAborted, isConstraint, type Write } from '#platform/db/commit.ts';
import { globalOf, homeOf } from '#platform/db/directory.ts';
import { NameTaken, withNames } from '#platform/db/names/names.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Origin } from '#rules/access/sessions.ts';
import { SIGN_IN_PROVIDERS, type SignIn, type SignInProvider } from '#rules/admission.ts';
import { planSecurityAlert } from '../auth/owner-emails.ts';
import { findByPassword } from '../auth/passwords.ts';
import { startSession } from '../auth/sessions.ts';
import { requireActivePerson } from '../auth/sign-in.ts';
import { factorRequired, type JoiningIdentity } from '../factors/ticket.ts';
import { checkPassword } from '../passwords/tries.ts';
import { randomText, readSignedValue, signValue } from '../signed-values.ts';
import { abortUnlessAsBefore, findAccount, findState, forgetState, takeState } from '../store.ts';
import { identityName, isLinked } from './identities.ts';
import type { Person } from './provider.ts';
import { titleOf } from './registry.ts';
import { findIdentity, insertIdentity, setJoinAsked } from './store.ts';

type Identity = Pick<Person, 'subject' | 'email'>;

export const recordLink = (ctx: Shard, accountId: AccountId, provider: SignInProvider): Write =>
  recordAction(
    ctx,
    { merchantId: accountId, livemode: true },
    { action: 'person.provider_linked', subject: { type: 'person', id: accountId }, after: { provider }, by: personIn(accountId) },
  );

/** Adds an identity with `more`, if the account is unchanged. Returns false if the account has another one of this provider. */
export async function addIdentity(
  ctx: Shard,
  account: Account,
  provider: SignInProvider,
  person: Identity,
  more: Write[] = [],
): Promise<boolean> {
  const isTheirs = async () => (await findIdentity(ctx.db, provider, person.subject))?.accountId === account.id;
  const alerts = planSecurityAlert(ctx, account, { change: 'provider_linked', named: titleOf(provider) });
  const writes = [
    abortUnlessAsBefore(ctx, account),
    insertIdentity(ctx, account.id, provider, person),
    recordLink(ctx, account.id, provider),
    ...alerts,
    ...more,
  ];
  try {
    await withNames(ctx, account.id, [identityName(ctx, provider, person.subject)], (reserved) =>
      commitNew(ctx, { events: [], writes: [...reserved, ...writes], result: null }, isTheirs),
    );
    return true;
  } catch (error) {
    if (error instanceof NameTaken) return false;
    if (isAborted(error) || !isConstraint(error)) throw error;
    return false;
  }
}

const LIFE_MS = 10 * MINUTE;
const PURPOSE = 'join ticket';

/** Identity that a provider proved, and the account with its address. Signed, so that it is stored only when it is used. */
const JoinTicket = z.object({
  id: z.string(),
  personId: z.string().transform((id) => id as AccountId),
  provider: z.enum(SIGN_IN_PROVIDERS),
  subject: z.string(),
  email: z.string().nullable(),
  /** A change of the address or the password ends the ticket too. */
  tokenVersion: z.number(),
  expiresAt: z.number(),
});
type JoinTicket = z.infer<typeof JoinTicket>;

export function joinTicket(
  ctx: Ctx,
  { id: personId, tokenVersion }: Account,
  provider: SignInProvider,
  { subject, email }: Identity,
): string {
  const ticket: JoinTicket = { id: randomText(), personId, provider, subject, email, tokenVersion, expiresAt: ctx.wallNow + LIFE_MS };
  return signValue(ctx, PURPOSE, ticket);
}

/** Null for a ticket that is forged or expired. */
export function readJoinTicket(ctx: Ctx, text: string): JoinTicket | null {
  const read = readSignedValue(ctx, PURPOSE, text);
  const ticket = read && JoinTicket.parse(read.value);
  return ticket && ctx.wallNow < ticket.expiresAt ? ticket : null;
}

const joiningOf = ({ provider, subject, email, expiresAt }: JoinTicket, id: string): JoiningIdentity => ({
  ...{ provider, subject, email },
  used: { id, expiresAt },
});

/** Identity of a believed provider for an account without a password. */
export const newJoining = (ctx: Ctx, provider: SignInProvider, { subject, email }: Identity): JoiningIdentity => ({
  ...{ provider, subject, email },
  used: { id: `join:${randomText()}`, expiresAt: ctx.wallNow + LIFE_MS },
});

/**
 * Links the identity of a ticket after the proof of the factor, and adds the use of its proof to `uses`. Returns false if the proof was used
 * before, or the identity is linked otherwise.
 */
export async function linkJoining(
  ctx: Shard,
  account: Account,
  { provider, used, ...identity }: JoiningIdentity,
  uses: string[],
): Promise<boolean> {
  if (!(await takeState(globalOf(ctx).db, used.id, used.expiresAt))) return false;
  uses.push(used.id);
  return addIdentity(ctx, account, provider, identity);
}

const spentTicket = () =>
  new ApiError('invalid_credentials', { detail: 'The ticket was used or has expired. Sign in with the provider again.' });

const inUse = () =>
  new ApiError('state_conflict', { detail: 'The provider is linked otherwise meanwhile.', meta: { reason: 'identity_in_use' } });

/**
 * Links the identity of a ticket once the account's password is right, and signs in: the account may be that of a stranger who registered the
 * address before its reader proved it. Wrong passwords count as those of a sign-in. The ticket works once, unless the session could not be
 * stored. Throws 401 invalid_credentials or factor_required, 403 for a suspended or deleted account, 409 state_conflict.
 */
export async function joinAccount(
  ctx: Ctx,
  { ticket: text, password }: { ticket: string; password: string },
  origin: Origin,
): Promise<{ account: Account; signIn: SignIn }> {
  const ticket = readJoinTicket(ctx, text);
  const home = ticket && homeOf(ctx, ticket.personId);
  const found = ticket && (await findAccount(home!.db, ticket.personId));
  if (!ticket || !home || found?.tokenVersion !== ticket.tokenVersion || found.email === null) throw spentTicket();
  const used = `join:${ticket.id}`;
  if (await findState(globalOf(ctx).db, used)) throw spentTicket();
  const check = () => findByPassword(ctx, password, () => found);
  const account = await checkPassword(ctx, { email: found.email, ip: origin.ip, check, find: async () => found });
  requireActivePerson(account);
  // A person with a factor has to prove it before anything is linked. The ticket of that proof names the identity.
  if (account.factors !== null) {
    // The password proves the owner, so a later reset of it ends no access.
    await commit(home, { events: [], writes: [setJoinAsked(home.db, account.id, null)], result: null });
    throw factorRequired(ctx, account, 'password', joiningOf(ticket, used));
  }
  if (!(await takeState(globalOf(ctx).db, used, ticket.expiresAt))) throw spentTicket();
  return orForget(ctx, [used], async () => {
    const joined = [setJoinAsked(home.db, account.id, null)];
    if (!(await addIdentity(home, account, ticket.provider, ticket, joined))) throw inUse();
    const signIn = await startSession(ctx, account, ticket.provider, origin);
    // Unlinked meanwhile. A provider that is unlinked from here on ends this session itself.
    if (!(await isLinked(ctx, account.id, ticket.provider))) throw spentTicket();
    return { account, signIn };
  });
}

/**
 * Runs the effect of tickets that were used. Forgets their use, and what `run` adds to it, if a service was unavailable, so that the call can be
 * repeated.
 */
export async function orForget<T>(ctx: Ctx, used: string[], run: (used: string[]) => Promise<T>): Promise<T> {
  try {
    return await run(used);
  } catch (error) {
    if (error instanceof ApiError && error.code === 'temporarily_unavailable')
      for (const id of used) ctx.defer(forgetState(globalOf(ctx).db, id));
    throw error;
  }
}
