import { ApiError } from '#core/errors.ts';
import type { AccountId, PasskeyId } from '#core/ids.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { globalOf, homeOf } from '#platform/db/directory.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Origin } from '#rules/access/sessions.ts';
import { SIGN_IN_PROVIDERS, type SignIn } from '#rules/admission.ts';
import { type ProvenFactor, personObject, startSession } from '../auth/sessions.ts';
import { requireActivePerson } from '../auth/sign-in.ts';
import { noteRefusedSignIn, refusalReasonOf } from '../entries/sign-ins.ts';
import { linkJoining, orForget } from '../oauth/join.ts';
import { listIdentities } from '../oauth/store.ts';
import { beginCeremony } from '../passkeys/ceremony.ts';
import { findCredential, requestOptions } from '../passkeys/passkey.ts';
import type { AuthenticationResponse } from '../passkeys/verify.ts';
import { findAccount, getAccount, takeState } from '../store.ts';
import { checkPasskey, checkProof, type FactorProof, isCode } from './prove.ts';
import { findPasskey, listPasskeys } from './store.ts';
import { type FactorTicket, readTicket } from './ticket.ts';
import { tryCode, tryTicket, wrongProof } from './tries.ts';

interface SignedIn {
  account: Account;
  signIn: SignIn;
}

const refusedPasskey = () => wrongProof('The passkey is not known here, or its challenge was used or has expired. Begin again.');

export function beginPasskeySignIn(ctx: Ctx) {
  const { ceremonyId, challenge } = beginCeremony(ctx, { kind: 'sign_in' });
  return { ceremony_id: ceremonyId, options: requestOptions(ctx, challenge, []) };
}

/** Signs in with a passkey alone. Throws 401 invalid_credentials, 403 for a suspended or deleted account. */
export async function signInWithPasskey(
  ctx: Ctx,
  { ceremonyId, response }: { ceremonyId: string; response: AuthenticationResponse },
  origin: Origin,
): Promise<SignedIn> {
  const found = await findCredential(ctx, response.id);
  if (!found) throw refusedPasskey();
  const { home, passkey } = found;
  const account = await getAccount(home.db, passkey.personId);
  const proven = await checkPasskey(home, account, { passkey, ceremonyId, response, kind: 'sign_in' });
  if (!proven) {
    noteRefusedSignIn(ctx, async () => account, { method: 'passkey', reason: 'invalid_credentials' });
    throw refusedPasskey();
  }
  requireActivePerson(account);
  if (!(await proven.spend())) throw refusedPasskey();
  return { account, signIn: await beginProven(home, account, 'passkey', origin, proven) };
}

/** Begins a session by a factor. Removing the passkey meanwhile ends it: a passkey that is removed from here on ends it itself. */
async function beginProven(
  home: Shard,
  account: Account,
  method: FactorTicket['method'],
  origin: Origin,
  proven: ProvenFactor,
): Promise<SignIn> {
  const signIn = await startSession(home, account, method, origin, proven);
  const { passkeyId } = proven;
  if ((await isRemoved(home, account.id, passkeyId)) || (await isUnlinked(home, account.id, method))) {
    await personObject(home, account.id).endSession(signIn.sessionId, home.wallNow);
    throw wrongProof('The way to sign in was removed. Use another one.');
  }
  return signIn;
}

const isRemoved = async ({ db }: Shard, personId: AccountId, passkeyId: PasskeyId | null): Promise<boolean> =>
  passkeyId !== null && (await findPasskey(db, personId, passkeyId)) === undefined;

async function isUnlinked({ db }: Shard, personId: AccountId, method: FactorTicket['method']): Promise<boolean> {
  const provider = SIGN_IN_PROVIDERS.find((name) => name === method);
  return provider !== undefined && !(await listIdentities(db, personId)).some((linked) => linked.provider === provider);
}

/**
 * Completes a sign-in with a factor, and links the provider that the ticket names, unless it is linked otherwise meanwhile. The first right proof
 * uses the ticket up before the factor, so that no second code is spent, unless the session could not be stored. Throws 401 invalid_credentials,
 * 403 for a suspended or deleted account, 429 rate_limited after too many wrong codes.
 */
export async function redeemTicket(
  ctx: Ctx,
  { ticket: text, proof }: { ticket: string; proof: FactorProof },
  origin: Origin,
): Promise<SignedIn> {
  const ticket = readTicket(ctx, text);
  const home = ticket && homeOf(ctx, ticket.personId);
  const account = ticket && (await findAccount(home!.db, ticket.personId));
  if (!ticket || !home || !account || account.factors === null) throw wrongProof('The ticket was used or has expired. Sign in again.');
  requireActivePerson(account);
  const proven = await tryTicket(ctx, { ...ticket, isCode: isCode(proof) }, async () => {
    const checked = ticket.tokenVersion === account.tokenVersion ? await checkProof(home, account, proof, 'sign_in') : null;
    const isOurs = checked && (await takeState(globalOf(ctx).db, ticket.id, ticket.expiresAt)) && (await checked.spend());
    return isOurs ? checked : null;
  }).catch((error: unknown) => {
    noteRefusedSignIn(ctx, async () => account, { method: 'factor', reason: refusalReasonOf(error) });
    throw error;
  });
  return orForget(ctx, [ticket.id], async (used) => {
    const { joining } = ticket;
    const isJoined = joining !== undefined && (await linkJoining(home, account, joining, used));
    const method = isJoined ? joining.provider : ticket.method;
    return { account, signIn: await beginProven(home, account, method, origin, proven) };
  });
}

/** Begins a ceremony with the passkeys of the signed-in person. Throws 409 state_conflict for a person without one. */
export async function beginStepUp(ctx: Scope, { accountId: personId }: Actor) {
  const known = await listPasskeys(ctx.db, personId);
  if (known.length === 0)
    throw new ApiError('state_conflict', { detail: 'You have no passkey. Send a code instead.', meta: { reason: 'no_passkey' } });
  const { ceremonyId, challenge } = beginCeremony(ctx, { kind: 'step_up', personId });
  return { ceremony_id: ceremonyId, options: requestOptions(ctx, challenge, known) };
}

/** Proves a factor in a session. Throws 401 invalid_credentials, 429 rate_limited at the fifth wrong code. */
export async function stepUp(ctx: Scope, actor: Actor, proof: FactorProof): Promise<SignedIn> {
  const account = await getAccount(ctx.db, actor.accountId);
  const check = async () => {
    const checked = await checkProof(ctx, account, proof, 'step_up');
    return checked && (await checked.spend()) ? checked : null;
  };
  const proven = isCode(proof) ? await tryCode(ctx, account.id, check) : await check();
  if (!proven) throw refusedPasskey();
  return { account, signIn: { ...actor.signIn!, factorTime: ctx.wallNow } };
}
