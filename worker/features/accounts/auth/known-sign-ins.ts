/**
 * Sign-ins that go on where strangers behind the same address have used up the limits that all share: from a network of an earlier sign-in, or with the
 * ticket of the first half. Each has the limit of its bucket again, per email, wallet or passkey: who uses that up ends it at this address.
 * @module
 */

import type { AccountId } from '#core/ids.ts';
import type { Ctx } from '#platform/context.ts';
import { readText } from '#platform/http/bodies/request-body.ts';
import type { RouteContext } from '#platform/http/openapi.ts';
import type { KnownCaller, Subject } from '#platform/http/rate-limit.ts';
import type { SessionMethod } from '#rules/access/sessions.ts';
import { SIGN_IN_PROVIDERS } from '#rules/admission.ts';
import { isKnownCaller, isKnownNetwork, isKnownPerson, learnCaller } from '../passwords/known-callers.ts';
import { emailKeysOf, normaliseEmail } from './sign-in.ts';

export const readEmailKey = async (c: RouteContext): Promise<string> => emailKeysOf(c.var.ctx, await readText(c, 'email')).keys[0];
export const readPasskeyId = async (c: RouteContext): Promise<string> => `passkey:${await readText(c, 'response', 'id')}`;
const readWallet = async (c: RouteContext): Promise<string> => `wallet:${await readText(c, 'wallet_address')}`;

const knownBy = (subject: (c: RouteContext) => Promise<string>): KnownCaller => ({
  isPossible: (c) => isKnownNetwork(c),
  isKnown: async (c) => isKnownCaller(c, await subject(c)),
  own: subject,
});
const learning = (subject: (c: RouteContext) => Promise<string>): KnownCaller => ({
  ...knownBy(subject),
  learn: async (c) => learnCaller(c, await subject(c)),
});

/** Password of a person who signed in from the network. Each sign-in makes it known. */
export const knownEmail: KnownCaller = {
  isPossible: (c) => isKnownNetwork(c),
  isKnown: async (c) => isKnownPerson(c, normaliseEmail(await readText(c, 'email'))),
  own: readEmailKey,
};
export const knownPasskey = learning(readPasskeyId);
export const knownWallet = learning(readWallet);
/** Message that a known wallet is to sign. */
export const messageOfKnownWallet = knownBy(readWallet);

/** Calls that name no person and check nothing: where one of these ways succeeded, all calls of the address alone limit them. */
const anyKnown = (own: string, ...ways: SessionMethod[]): KnownCaller => ({ isPossible: (c) => isKnownNetwork(c, ways), own: () => own });
export const anyKnownPasskey = anyKnown('', 'passkey');
/** Its own limit bounds the calls to the provider that a callback causes. */
export const anyKnownProvider = anyKnown('providers', ...SIGN_IN_PROVIDERS);

/** Person of a token, which no stranger has. */
export const personOfToken = (personId: AccountId): KnownCaller => ({ isPossible: async () => true, own: () => personId });

/** Second half of a sign-in: the ticket proves the first half, so no stranger uses up its limit. */
export function withTicket(
  read: (ctx: Ctx, text: string) => { personId: AccountId } | null,
  kind: string,
): { by: Subject; known: KnownCaller } {
  const readPersonId = async (c: RouteContext) => read(c.var.ctx, await readText(c, 'ticket'))?.personId;
  const by = async (c: RouteContext) => `${kind}:${(await readPersonId(c)) ?? ''}`;
  return { by, known: { isPossible: async (c) => (await readPersonId(c)) !== undefined, own: by } };
}
