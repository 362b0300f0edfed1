/**
 * Sign-ins that strangers behind the same address cannot prevent: each has a limit of its own once it succeeded from the network, or with the ticket
 * of its first half.
 * @module
 */

import { readText } from '#platform/http/bodies/request-body.ts';
import type { RouteContext } from '#platform/http/openapi.ts';
import type { KnownCaller, Subject } from '#platform/http/rate-limit.ts';
import { isKnownCaller, learnCaller } from '../passwords/known-callers.ts';
import { emailKeysOf } from './sign-in.ts';

export const readEmailKey = async (c: RouteContext): Promise<string> => emailKeysOf(c.var.ctx, await readText(c, 'email')).keys[0];
export const readPasskeyId = async (c: RouteContext): Promise<string> => `passkey:${await readText(c, 'response', 'id')}`;
const readWallet = async (c: RouteContext): Promise<string> => `wallet:${await readText(c, 'wallet_address')}`;

const knownBy = (subject: (c: RouteContext) => Promise<string>): KnownCaller => ({
  isKnown: async (c) => isKnownCaller(c, await subject(c)),
  own: subject,
});

const ANY_PASSKEY = 'passkeys';

/** Password of a person who signed in from the network. */
export const knownEmail: KnownCaller = { ...knownBy(readEmailKey), learn: async (c) => learnCaller(c, [await readEmailKey(c)]) };

export const knownPasskey: KnownCaller = {
  ...knownBy(readPasskeyId),
  learn: async (c) => learnCaller(c, [await readPasskeyId(c), ANY_PASSKEY]),
};

/** Options name no person and store nothing. Where a passkey signed in, all calls of the address alone limit them. */
export const anyKnownPasskey: KnownCaller = { isKnown: (c) => isKnownCaller(c, ANY_PASSKEY), own: () => '' };

export const knownWallet: KnownCaller = { ...knownBy(readWallet), learn: async (c) => learnCaller(c, [await readWallet(c)]) };
/** Message that a known wallet is to sign. */
export const messageOfKnownWallet: KnownCaller = knownBy(readWallet);

/** Second half of a sign-in: the ticket proves the first half, so no stranger uses up its limit. */
export const withTicket = (personIdOf: (c: RouteContext, ticket: string) => string | undefined, own: Subject): KnownCaller => ({
  isKnown: async (c) => personIdOf(c, await readText(c, 'ticket')) !== undefined,
  own,
});
