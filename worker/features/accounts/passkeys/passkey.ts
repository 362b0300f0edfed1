import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import { newId, type PasskeyId } from '#core/ids.ts';
import { iso, isoOrNull } from '#core/time.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { findNamed, type IsUsed, NameTaken, withNames } from '#platform/db/names/names.ts';
import { commitWithAnswer, type StoreAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { Passkey } from '#platform/db/tables/office/factors.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { hasPassword, PASSKEYS_MAX } from '#rules/access/factors.ts';
import { newRecoveryCodes } from '#rules/access/recovery-codes.ts';
import { ownNameOf } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { planAddedFactor, planRemovedFactor } from '../factors/factors.ts';
import { deletePasskey, findPasskey, findPasskeyByCredential, insertPasskey, listPasskeys, setPasskeyName } from '../factors/store.ts';
import { listIdentities } from '../oauth/store.ts';
import { randomText } from '../signed-values.ts';
import { getAccount } from '../store.ts';
import { beginCeremony, CEREMONY_MS, relyingParty, takeCeremony } from './ceremony.ts';
import { ALGORITHMS, type PasskeyProblem, type RegistrationResponse, verifyRegistration } from './verify.ts';

const keyOf = (credentialId: string): string => sha256Hex(utf8(credentialId));

/** True if the person has the passkey that a key of the directory names. */
export const isPasskeyUsed: IsUsed = async ({ db }, personId, keys) =>
  (await listPasskeys(db, personId)).some(({ credentialId }) => keys.includes(keyOf(credentialId)));

export const passkeyName = (credentialId: string) => ({ kind: 'passkey', keys: [keyOf(credentialId)], isUsed: isPasskeyUsed }) as const;

/** Finds a passkey of any person, and the database of the person. */
export const findCredential = (ctx: Ctx, credentialId: string): Promise<{ home: Shard; passkey: Passkey } | undefined> =>
  findNamed(ctx, passkeyName(credentialId), async (home) => {
    const passkey = await findPasskeyByCredential(home.db, credentialId);
    return passkey && { home, passkey };
  });

const descriptorOf = ({ credentialId: id, transports }: Passkey) => ({ id, type: 'public-key' as const, transports });

/** Options to sign with a passkey: one of `known`, or any of the person who signs in. */
export const requestOptions = (ctx: Ctx, challenge: string, known: readonly Passkey[]) => ({
  challenge,
  rpId: relyingParty(ctx).id,
  allowCredentials: known.map(descriptorOf),
  userVerification: 'required' as const,
  timeout: CEREMONY_MS,
});

/** Begins a registration. Throws 403 sign_in_required or step_up_required, 409 state_conflict for the eleventh passkey. */
export async function beginRegistration(ctx: Scope, actor: Actor) {
  requireFreshSignIn(ctx, actor);
  const [account, known] = await Promise.all([getAccount(ctx.db, actor.accountId), listPasskeys(ctx.db, actor.accountId)]);
  requirePasskeyRoom(account);
  // An authenticator replaces a passkey of the same handle, and offers one person for all of them.
  const userHandle = known[0]?.userHandle ?? randomText();
  const { ceremonyId, challenge } = beginCeremony(ctx, { kind: 'register', personId: account.id, userHandle });
  const { id, name } = relyingParty(ctx);
  return {
    ceremony_id: ceremonyId,
    options: {
      rp: { id, name },
      user: { id: userHandle, name: account.email ?? account.walletAddress ?? ownNameOf(account), displayName: ownNameOf(account) },
      challenge,
      pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: CEREMONY_MS,
      excludeCredentials: known.map(descriptorOf),
      authenticatorSelection: { residentKey: 'required' as const, requireResidentKey: true, userVerification: 'required' as const },
      attestation: 'none' as const,
    },
  };
}

function requirePasskeyRoom({ factors }: Account): void {
  if ((factors?.passkeys ?? 0) < PASSKEYS_MAX) return;
  const detail = `A person has at most ${PASSKEYS_MAX} passkeys. Remove one first.`;
  throw new ApiError('state_conflict', { detail, meta: { limit: PASSKEYS_MAX } });
}

const PROBLEMS: Record<PasskeyProblem, string> = {
  challenge: 'Expected a response to an unused challenge of the last five minutes. Begin again',
  origin: 'Expected a response from a page of this service',
  rp_id: 'Expected a passkey of this service',
  user_verification: 'Expected that the authenticator verified the person, by a PIN or a fingerprint for example',
  format: 'Expected an attestation of a supported algorithm, with a valid signature',
};

const refusedResponse = (problem: PasskeyProblem): ApiError =>
  new ApiError('validation_error', {
    problems: [{ loc: ['body', 'response'], msg: PROBLEMS[problem], type: problem }],
    meta: { reason: problem },
  });

const knownPasskey = (): ApiError =>
  new ApiError('state_conflict', {
    detail: 'The passkey is registered already. Sign in with it, or use another one.',
    meta: { reason: 'passkey_known' },
  });

export interface AddedPasskey {
  passkey: Passkey;
  codes: readonly string[] | null;
}

/**
 * Registers a passkey, with recovery codes if it is the first factor. Throws 403 sign_in_required or step_up_required, 409 state_conflict for
 * a known passkey or the eleventh, 422 validation_error with the problem of the response.
 */
export async function registerPasskey(
  ctx: Scope,
  actor: Actor,
  { ceremonyId, response, name }: { ceremonyId: string; response: RegistrationResponse; name: string | undefined },
  storeAnswer: StoreAnswer<AddedPasskey>,
): Promise<AddedPasskey> {
  requireFreshSignIn(ctx, actor);
  const { accountId: personId } = actor;
  const ceremony = await takeCeremony(ctx, ceremonyId, { kind: 'register', personId });
  if (!ceremony) throw refusedResponse('challenge');
  const verified = await verifyRegistration(ctx, ceremony, response);
  if ('problem' in verified) throw refusedResponse(verified.problem);
  const passkey: Passkey = {
    id: newId<PasskeyId>(ctx.wallNow, personId),
    personId,
    ...verified,
    userHandle: ceremony.userHandle!,
    name: name ?? `Passkey of ${iso(ctx.wallNow).slice(0, 10)}`,
    createdAt: ctx.wallNow,
    lastUsedAt: null,
  };
  const codes = newRecoveryCodes();
  let added: AddedPasskey = { passkey, codes: null };
  const add = (reserved: Parameters<Parameters<typeof withNames>[3]>[0]) =>
    changeAccount(ctx, personId, async (account) => {
      if (await findPasskeyByCredential(ctx.db, passkey.credentialId)) throw knownPasskey();
      requirePasskeyRoom(account);
      const change = { passkeys: (account.factors?.passkeys ?? 0) + 1 };
      const planned = planAddedFactor(ctx, account, { change, alert: { change: 'passkey_added', named: passkey.name }, codes });
      added = { passkey, codes: planned.codes };
      return {
        values: planned.values,
        writes: [...reserved, insertPasskey(ctx.db, passkey), ...planned.writes, ...(await storeAnswer(added))],
        wasStored: async () => (await findPasskey(ctx.db, personId, passkey.id)) !== undefined,
      };
    });
  await withNames(ctx, personId, [passkeyName(passkey.credentialId)], add).catch((error: unknown) => {
    throw error instanceof NameTaken ? knownPasskey() : error;
  });
  return added;
}

/** Renames a passkey. Throws 404. */
export async function renamePasskey(
  ctx: Scope,
  actor: Actor,
  { id, name }: { id: PasskeyId; name: string },
  storeAnswer: StoreAnswer<Passkey>,
): Promise<Passkey> {
  const passkey = (await findPasskey(ctx.db, actor.accountId, id)) ?? raise('not_found');
  const result = { ...passkey, name };
  const writes = name === passkey.name ? [] : [setPasskeyName(ctx.db, passkey, name)];
  return commitWithAnswer(ctx, { events: [], writes, result, before: passkey }, storeAnswer);
}

/**
 * Removes a passkey. Its caller ends the sessions that it began. Throws 403 step_up_required, 404, or 409 state_conflict for the only way to
 * sign in.
 */
export async function removePasskey(ctx: Scope, actor: Actor, id: PasskeyId, storeAnswer: StoreAnswer<null>): Promise<void> {
  requireFreshSignIn(ctx, actor);
  await changeAccount(ctx, actor.accountId, async (account) => {
    const passkey = (await findPasskey(ctx.db, account.id, id)) ?? raise('not_found');
    const passkeys = account.factors!.passkeys - 1;
    if (passkeys === 0) await requireOtherWayIn(ctx, account);
    const planned = planRemovedFactor(ctx, account, { change: { passkeys }, alert: { change: 'passkey_removed', named: passkey.name } });
    return {
      values: planned.values,
      writes: [...deletePasskey(ctx, passkey), ...planned.writes, ...(await storeAnswer(null))],
      wasStored: async () => (await findPasskey(ctx.db, account.id, id)) === undefined,
    };
  });
}

async function requireOtherWayIn(ctx: Shard, account: Account): Promise<void> {
  if (hasPassword(account) || account.walletKey !== null || (await listIdentities(ctx.db, account.id)).length > 0) return;
  throw new ApiError('state_conflict', {
    detail: 'The passkey is the only sign-in method of the account. Set a password or link a provider first.',
    meta: { reason: 'last_way_in' },
  });
}

export const toPasskeyResource = ({ id, name, isBackedUp, transports, createdAt, lastUsedAt }: Passkey) => ({
  passkey_id: id,
  name,
  backed_up: isBackedUp,
  transports,
  created_at: iso(createdAt),
  last_used_at: isoOrNull(lastUsedAt),
});
