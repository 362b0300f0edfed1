/**
 * The HTTP authentication scheme `Payment`: challenge, credential and receipt as `mppx` 0.11 writes and reads them. The challenge's id is
 * a MAC over all of it, so that making one costs no write; single use is not its business. Pure.
 * (worker/protocols/README.md#mpp-the-payment-scheme)
 * @module
 */

import { z } from '@hono/zod-openapi';
import { equalBytes, hmacSha256, macRing } from '#core/crypto.ts';
import { base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { iso } from '#core/time.ts';

const SCHEME = 'Payment';
/** What the public client takes at most. */
const REQUEST_CHARACTERS_MAX = 16 * 1024;

/** The parameters of a challenge, as they stand in a header and as a credential echoes them: `request` is base64url of canonical JSON. */
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
  // Clients of earlier versions show the object that it holds.
  opaque: z
    .union([z.string().max(4096), z.record(z.string(), z.string()).transform((held) => base64url.encode(utf8(canonicalJson(held))))])
    .optional(),
});
export type Challenge = z.infer<typeof ChallengeEcho>;

const CredentialText = z.object({ challenge: ChallengeEcho, payload: z.unknown(), source: z.string().max(256).optional() });
export type PaymentCredential = z.infer<typeof CredentialText>;

/** In the order in which the reference writes them. */
const PARAMETERS = ['id', 'realm', 'method', 'intent', 'request', 'description', 'digest', 'expires', 'header', 'opaque'] as const;

/** What the MAC covers, joined as the reference joins it: a field that is absent leaves its place empty, `header` none. */
const macText = ({ realm, method, intent, request, expires, digest, header, opaque }: Omit<Challenge, 'id'>): string =>
  [realm, method, intent, request, expires ?? '', digest ?? '', ...(header ? [header] : []), opaque ?? ''].join('|');

const macOf = (key: Uint8Array, challenge: Omit<Challenge, 'id'>): Uint8Array => hmacSha256(key, utf8(macText(challenge)));

/** Bytes by which two challenges of the same moment differ: each is told to one caller, who alone can show it. */
const OWN_BYTES = 16;

/** A challenge of ours; `keys`: a ring of MAC keys, the first signs. `expiresAt` in ms. */
export function newPaymentChallenge(
  { realm, intent, request, expiresAt }: { realm: string; intent: string; request: object; expiresAt: number },
  keys: string,
): Challenge {
  const own = { nonce: base64url.encode(crypto.getRandomValues(new Uint8Array(OWN_BYTES))) };
  const [encodedRequest, opaque] = [request, own].map((held) => base64url.encode(utf8(canonicalJson(held)))) as [string, string];
  const challenge = { realm, method: 'solana', intent, request: encodedRequest, expires: iso(expiresAt), opaque };
  return { id: base64url.encode(macOf(macRing(keys)[0]!, challenge)), ...challenge };
}

/** Did we make this very challenge, under any key of the ring? All are tried, so that which one it was cannot be timed. */
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

/** The value of `WWW-Authenticate`. */
export const formatChallenge = (challenge: Challenge): string =>
  `${SCHEME} ${PARAMETERS.flatMap((name) => (challenge[name] === undefined ? [] : [`${name}=${quoted(challenge[name])}`])).join(', ')}`;

/** The request inside a challenge, or null where it is no JSON object. */
export function readRequest({ request }: Challenge): Record<string, unknown> | null {
  const bytes = bytesOf(request);
  const value = bytes && jsonOf(bytes);
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}

/** The credential in a value of `Authorization`, which may name other schemes too. */
export function parseCredential(header: string): Result<PaymentCredential, 'absent' | 'malformed'> {
  const token = header.split(',').flatMap((part) => /^\s*payment\s+(\S+)\s*$/i.exec(part)?.[1] ?? [])[0];
  if (token === undefined) return err('absent');
  const bytes = bytesOf(token);
  const parsed = CredentialText.safeParse(bytes && jsonOf(bytes));
  return parsed.success ? ok(parsed.data) : err('malformed');
}

/** The value of `Payment-Receipt`. `reference` names what was paid by; whatever stands beside it is the method's own. */
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

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    return null;
  }
}
