/**
 * HTTP authentication scheme `Payment`: challenge, credential and receipt as in `mppx` 0.11. The challenge id is a MAC over all fields, so
 * issuing costs no write. Single use is enforced elsewhere. Pure. (worker/protocols/README.md#mpp-the-payment-scheme)
 * @module
 */

import { z } from '@hono/zod-openapi';
import { equalBytes, hmacSha256, macRing } from '#core/crypto.ts';
import { base64url, canonicalJson, parseJson, utf8 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { iso } from '#core/time.ts';

const SCHEME = 'Payment';
const REQUEST_CHARACTERS_MAX = 16 * 1024;

/** Parameters of a challenge in a header and in a credential's echo. `request` is base64url of canonical JSON. */
const ChallengeEcho = z.object({
  id: z.string().min(1).max(256),
  realm: z.string().max(256),
  method: z.string().max(64),
  intent: z.string().max(64),
  request: z.string().min(1).max(REQUEST_CHARACTERS_MAX),
  description: z.string().max(1024).optional(),
  digest: z.string().max(256).optional(),
  expires: z.iso.datetime().optional(),
  header: z.string().max(64).optional(),
  // Clients of earlier versions echo the decoded object.
  opaque: z
    .union([z.string().max(4096), z.record(z.string(), z.string()).transform((held) => base64url.encode(utf8(canonicalJson(held))))])
    .optional(),
});
export type Challenge = z.infer<typeof ChallengeEcho>;

const CredentialText = z.object({ challenge: ChallengeEcho, payload: z.unknown(), source: z.string().max(256).optional() });
export type PaymentCredential = z.infer<typeof CredentialText>;

/** Order of the reference implementation. */
const PARAMETERS = ['id', 'realm', 'method', 'intent', 'request', 'description', 'digest', 'expires', 'header', 'opaque'] as const;

/** Input of the MAC, joined like the reference: an absent field leaves an empty slot, except `header`. */
const macText = ({ realm, method, intent, request, expires, digest, header, opaque }: Omit<Challenge, 'id'>): string =>
  [realm, method, intent, request, expires ?? '', digest ?? '', ...(header ? [header] : []), opaque ?? ''].join('|');

const macOf = (key: Uint8Array, challenge: Omit<Challenge, 'id'>): Uint8Array => hmacSha256(key, utf8(macText(challenge)));

/** Random bytes that distinguish challenges of the same moment, so that only the caller who received a challenge can present it. */
const OWN_BYTES = 16;

/** Issues a challenge. `keys` is a ring of MAC keys, of which the first signs. `expiresAt` is in ms. */
export function newPaymentChallenge(
  { realm, intent, request, expiresAt }: { realm: string; intent: string; request: object; expiresAt: number },
  keys: string,
): Challenge {
  const own = { nonce: base64url.encode(crypto.getRandomValues(new Uint8Array(OWN_BYTES))) };
  const [encodedRequest, opaque] = [request, own].map((held) => base64url.encode(utf8(canonicalJson(held)))) as [string, string];
  const challenge = { realm, method: 'solana', intent, request: encodedRequest, expires: iso(expiresAt), opaque };
  return { id: base64url.encode(macOf(macRing(keys)[0]!, challenge)), ...challenge };
}

/** True if a key of the ring made this challenge. All keys are tried, so that timing does not reveal which one. */
export function isOurs(challenge: Challenge, keys: string): boolean {
  const { id, ...rest } = challenge;
  const claimed = bytesOf(id);
  return (
    claimed !== null &&
    macRing(keys)
      .map((key) => equalBytes(macOf(key, rest), claimed))
      .includes(true)
  );
}

const quoted = (text: string): string => `"${text.replace(/[\\"]/g, '\\$&').replace(/[^\x20-\x7e]/g, unicodeEscape)}"`;
const unicodeEscape = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

export const formatChallenge = (challenge: Challenge): string =>
  `${SCHEME} ${PARAMETERS.flatMap((name) => (challenge[name] === undefined ? [] : [`${name}=${quoted(challenge[name])}`])).join(', ')}`;

export function readRequest({ request }: Challenge): Record<string, unknown> | null {
  const bytes = bytesOf(request);
  const value = bytes && parseJson(bytes);
  return value && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

/** Parses the credential from `Authorization`, which may name other schemes too. */
export function parseCredential(header: string): Result<PaymentCredential, 'absent' | 'malformed'> {
  const token = header.split(',').flatMap((part) => /^\s*payment\s+(\S+)\s*$/i.exec(part)?.[1] ?? [])[0];
  if (token === undefined) return err('absent');
  const bytes = bytesOf(token);
  const parsed = CredentialText.safeParse(bytes && parseJson(bytes));
  return parsed.success ? ok(parsed.data) : err('malformed');
}

/** Value of `Payment-Receipt`. `reference` identifies the payment. Other fields are specific to the method. */
export const formatReceipt = (receipt: { reference: string; at: number } & Record<string, unknown>): string => {
  const { at, ...facts } = receipt;
  return base64url.encode(utf8(canonicalJson({ method: 'solana', status: 'success', timestamp: iso(at), ...facts })));
};

function bytesOf(text: string): Uint8Array | null {
  try {
    return base64url.decode(text.replace(/=+$/, ''));
  } catch {
    return null;
  }
}
