import { ApiError } from '#core/errors.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { commitNew, isConstraint, type Write } from '#platform/db/commit.ts';
import { homeForNew, homeOf } from '#platform/db/directory.ts';
import { findNamed, NameTaken, withNames } from '#platform/db/names/names.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { ProviderAway } from '#platform/providers/sign-in.ts';
import { isHandedOver, personStatusOf } from '#rules/access/roles.ts';
import type { SignInProvider } from '#rules/admission.ts';
import { planVerification } from '../auth/owner-emails.ts';
import { personObject } from '../auth/sessions.ts';
import { emailKeysOf, emailName, findAccountByEmail, normaliseEmail } from '../auth/sign-in.ts';
import { changeAccount } from '../change-account.ts';
import { claiming, hasSoldAnywhere, planRevokeAccess, withoutAccess } from '../claim/claim.ts';
import { moveAddress } from '../claim/move-address.ts';
import { abortIfSold, findAccountAccess } from '../claim/store.ts';
import { factorRequired } from '../factors/ticket.ts';
import { NEW_ACCOUNT, newAccount, recordNewAccount } from '../new-account.ts';
import { forgetNetworks } from '../passwords/tries.ts';
import { abortIfTaken, findAccount, forgetLogo, getAccount, insertAccount } from '../store.ts';
import { findOwner, identityName, isLinked, isLocked } from './identities.ts';
import { addIdentity, joinTicket, newJoining, recordLink } from './join.ts';
import type { Person, ProviderError } from './provider.ts';
import { titleOf } from './registry.ts';
import type { BegunSignIn } from './state.ts';
import { findIdentity, insertIdentity, noteEmail, setJoinAsked } from './store.ts';

type OAuthRefusal = Exclude<ProviderError, 'provider_unavailable'>;

export type OAuthOutcome =
  | { kind: 'signed_in'; account: Account }
  | { kind: 'linked' }
  | { kind: 'password_required'; ticket: string }
  | { kind: 'refused'; reason: OAuthRefusal };

const refused = (reason: OAuthRefusal): OAuthOutcome => ({ kind: 'refused', reason });

function signInOutcome(account: Account): OAuthOutcome {
  const status = personStatusOf(account);
  if (status === 'suspended') return refused('account_suspended');
  if (status === 'deleted') return refused('account_deleted');
  return { kind: 'signed_in', account };
}
const TRIES_MAX = 3;

/**
 * Decides the sign-in of a person whom a provider identified. A known provider subject retains its account even if the email changed.
 * Otherwise the email decides, and only if the provider has verified it. An address that the provider does not assign joins no account: a new
 * account gets a verification email instead. Concurrent sign-ins end the same: the loser reads again.
 */
export async function decideOutcome(ctx: Ctx, begun: BegunSignIn, person: Person): Promise<OAuthOutcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await tryOutcome(ctx, begun, person);
    } catch (error) {
      const isLost = isConstraint(error) || error instanceof NameTaken || (error instanceof ApiError && error.code === 'state_conflict');
      if (!isLost) throw error;
      if (attempt === TRIES_MAX) throw new ProviderAway('others changed the account at every try');
    }
  }
}

async function tryOutcome(ctx: Ctx, begun: BegunSignIn, person: Person): Promise<OAuthOutcome> {
  const provider = begun.provider as SignInProvider;
  const known = await findNamed(ctx, identityName(ctx, provider, person.subject), ({ db }) => findOwner(db, ctx, provider, person.subject));
  if (begun.accountId !== null) return linkPerson(homeOf(ctx, begun.accountId), begun, person, known?.accountId ?? null);
  if (known) {
    const home = homeOf(ctx, known.accountId);
    if (!isLocked(known) && known.email !== person.email) await noteEmail(home.db, known, person.email);
    return signInOutcome(await getAccount(home.db, known.accountId));
  }
  if (person.email === null || !person.isEmailVerified) return refused('email_unverified');
  const account = await findAccountByEmail(ctx, person.email);
  if (!account) {
    if (begun.mode === 'login') return refused('account_not_found');
    return registerPerson(homeForNew(ctx, `${provider}:${person.subject}`), provider, person);
  }
  if (!person.isEmailBelieved) return refused('email_unverified');
  const outcome = signInOutcome(account);
  if (outcome.kind === 'refused') return outcome;
  const home = homeOf(ctx, account.id);
  if (account.emailVerified) return resumeAccount(home, account, provider, person);
  const claimed = await claimAccount(home, account, provider, person);
  await forgetNetworks(ctx, account.email);
  return claimed;
}

async function linkPerson(
  ctx: Shard,
  { accountId, provider, tokenVersion, sessionId, isWithoutFactor }: BegunSignIn,
  person: Person,
  owner: string | null,
): Promise<OAuthOutcome> {
  const account = await findAccount(ctx.db, accountId!);
  if (!account) return refused('account_not_found');
  const outcome = signInOutcome(account);
  if (outcome.kind === 'refused') return outcome;
  if (account.tokenVersion !== tokenVersion || (isWithoutFactor && account.factors !== null)) return refused('access_denied');
  const isOpen = await personObject(ctx, account.id).useSession({ sessionId: sessionId!, tokenVersion }, ctx.wallNow);
  if (!isOpen) return refused('access_denied');
  if (owner !== null) return owner === accountId ? { kind: 'linked' } : refused('identity_in_use');
  return (await addIdentity(ctx, account, provider as SignInProvider, person)) ? { kind: 'linked' } : refused('identity_in_use');
}

/**
 * Joins an account that both sides verified. One with a password has to show it once: its maker may have been another person. Until then a
 * password reset ends all other access.
 */
async function resumeAccount(ctx: Shard, account: Account, provider: SignInProvider, person: Person): Promise<OAuthOutcome> {
  if (account.passwordHash !== null) {
    await setJoinAsked(ctx.db, account.id, ctx.wallNow);
    if (await isLinked(ctx, account.id, provider)) return refused('identity_in_use');
    return { kind: 'password_required', ticket: joinTicket(ctx, account, provider, person) };
  }
  // A factor has to be proven before anything is linked. Until then the provider proves the address, as an emailed link does.
  if (account.factors !== null) {
    if (await isLinked(ctx, account.id, provider)) return refused('identity_in_use');
    throw factorRequired(ctx, account, 'email_link', newJoining(ctx, provider, person));
  }
  return (await addIdentity(ctx, account, provider, person)) ? { kind: 'signed_in', account } : refused('identity_in_use');
}

const nameOf = ({ displayName }: Person): string => displayName.trim().slice(0, 120) || NEW_ACCOUNT;

const ownSettings = (person: Person, account: Account): Partial<Account> => ({
  name: nameOf(person),
  locale: 'en',
  ...(isHandedOver(account) ? {} : { displayName: nameOf(person), merchantSettings: {}, notificationPrefs: {}, timezone: 'UTC' }),
});

/**
 * Gives an account with an unverified address to the person whom the provider verified, because another person may have created it. All
 * earlier access is revoked. Once buyers have paid the account it stays with its maker, and the address gets a new account.
 */
async function claimAccount(ctx: Shard, account: Account, provider: SignInProvider, person: Person): Promise<OAuthOutcome> {
  const identity = identityName(ctx, provider, person.subject);
  if (await hasSoldAnywhere(ctx, account)) {
    const plan = (_: Account, { id }: Account) => [insertIdentity(ctx, id, provider, person), recordLink(ctx, id, provider)];
    const reader = { displayName: nameOf(person), passwordHash: null, names: [identity], plan };
    return { kind: 'signed_in', account: await moveAddress(ctx, account, reader) };
  }
  const claim = (reserved: Write[]) =>
    changeAccount(ctx, account.id, async (row) => {
      if (row.emailVerified || personStatusOf(row) !== 'active' || row.emailKey !== account.emailKey)
        throw new ApiError('state_conflict', { meta: { reason: 'contended' } });
      const access = await findAccountAccess(ctx, row);
      return {
        values: { ...withoutAccess(ctx, row, access), ...ownSettings(person, row), passwordHash: null },
        writes: [
          ...reserved,
          abortIfSold(ctx, account.id),
          ...planRevokeAccess(ctx, row, { access, alert: { change: 'provider_linked', named: titleOf(provider) } }),
          ...(isHandedOver(row) ? [] : [forgetLogo(ctx.db, account.id)]),
          insertIdentity(ctx, account.id, provider, person),
          recordLink(ctx, account.id, provider),
        ],
        wasStored: async () => (await findIdentity(ctx.db, provider, person.subject))?.accountId === account.id,
      };
    });
  const claimed = await claiming(ctx, account, () => withNames(ctx, account.id, [identity], claim));
  return { kind: 'signed_in', account: claimed };
}

async function registerPerson(ctx: Shard, provider: SignInProvider, person: Person): Promise<OAuthOutcome> {
  const email = normaliseEmail(person.email!);
  const keys = emailKeysOf(ctx, email);
  const account = {
    ...newAccount(ctx, nameOf(person), { email, emailKey: keys.keys[0] }),
    emailVerified: person.isEmailBelieved,
  };
  const writes = [
    ...abortIfTaken(ctx, account.id, keys),
    ...insertAccount(ctx.db, account),
    insertIdentity(ctx, account.id, provider, person),
    recordNewAccount(ctx, account),
    recordLink(ctx, account.id, provider),
    ...(person.isEmailBelieved ? [] : planVerification(ctx, account)),
  ];
  const named = [emailName(ctx, email), identityName(ctx, provider, person.subject)];
  await withNames(ctx, account.id, named, (reserved) =>
    commitNew(ctx, { events: [], writes: [...reserved, ...writes], result: null }, () => findAccount(ctx.db, account.id)),
  );
  return { kind: 'signed_in', account };
}
