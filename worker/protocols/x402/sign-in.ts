/**
 * Extension `sign-in-with-x` of x402 on Solana: a wallet that has paid signs a text, and uses what it has left. The nonce is a MAC over the
 * offer, so that an offer costs no write. Single use is enforced where the units are. Pure.
 * (worker/protocols/README.md#x402-v2-sign-in)
 * @module
 */

import { z } from '@hono/zod-openapi';
import { equalBytes, hmacSha256, macRing, verifyEd25519 } from '#core/crypto.ts';
import { base58, base58Bytes, base64, hex, utf8 } from '#core/encoding.ts';
import { assert } from '#core/errors.ts';
import { iso, SECOND, unixSeconds } from '#core/time.ts';
import { isOnOrigin } from './origins.ts';
import { decodeHeader, type PaymentRequired } from './wire.ts';

export const SIGN_IN_WITH_X = 'sign-in-with-x';
/** Length of the header SIGN-IN-WITH-X: common proxies end a header line there. */
export const SIGN_IN_CHARS_MAX = 8_192;
export const SIGN_IN_SECONDS = 300;
export const SIGN_IN_RANDOM_BYTES = 8;
const MAC_BYTES = 8;
const STATEMENT = 'Sign in to use what this wallet has paid for.';

const text = { type: 'string' };
const uri = { type: 'string', format: 'uri' };
const time = { type: 'string', format: 'date-time' };
const SCHEMA = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: {
    domain: text,
    address: text,
    statement: text,
    uri,
    version: text,
    chainId: text,
    type: text,
    nonce: text,
    issuedAt: time,
    expirationTime: time,
    notBefore: time,
    requestId: text,
    resources: { type: 'array', items: uri },
    signature: text,
  },
  required: ['domain', 'address', 'uri', 'version', 'chainId', 'type', 'nonce', 'issuedAt', 'signature'],
};

/** Text without line breaks, because each field of the signed text is a line. */
const line = z.string().regex(/^[^\r\n]*$/);

/** Payload of the header SIGN-IN-WITH-X. */
const SignInProof = z.object({
  domain: line,
  address: line,
  statement: line.nullish(),
  uri: line,
  version: line,
  chainId: line,
  type: z.enum(['eip191', 'ed25519']),
  nonce: line,
  issuedAt: line,
  expirationTime: line.nullish(),
  notBefore: line.nullish(),
  requestId: line.nullish(),
  resources: z.array(line).nullish(),
  signatureScheme: z.enum(['eip191', 'eip1271', 'eip6492', 'siws']).nullish(),
  signature: line,
});
export type SignInProof = z.infer<typeof SignInProof>;

/** Extension of a challenge, as far as a client reads it. */
const Declared = z.object({
  info: z.record(z.string(), z.unknown()),
  supportedChains: z.array(z.object({ chainId: line, type: line })),
});

/** Terms of an offer to a wallet: the units of one product, at one URL of its merchant. */
export interface SignInTerms {
  livemode: boolean;
  merchantId: string;
  productId: string;
  uri: string;
  /** CAIP-2. */
  chainId: string;
}

type Signed = Pick<SignInProof, 'uri' | 'chainId' | 'issuedAt'> & { expirationTime: string };

/** JSON of a string list is unambiguous. The first string separates this use of the key. */
function macOf(key: Uint8Array, { livemode, merchantId, productId }: Omit<SignInTerms, 'uri'>, signed: Signed, random: string): Uint8Array {
  const { uri, chainId, issuedAt, expirationTime } = signed;
  const mode = livemode ? 'live' : 'sandbox';
  const fields = ['x402-sign-in', mode, merchantId, productId, uri, chainId, issuedAt, expirationTime, random];
  return hmacSha256(key, utf8(JSON.stringify(fields))).slice(0, MAC_BYTES);
}

/** Extension of a challenge. `now` is truncated to seconds, so that no clock of a verifier is behind. */
export function newSignIn(terms: SignInTerms, { keys, random, now }: { keys: string; random: Uint8Array; now: number }) {
  assert(random.length === SIGN_IN_RANDOM_BYTES, `a sign-in takes ${SIGN_IN_RANDOM_BYTES} random bytes`);
  const { uri, chainId } = terms;
  const issued = unixSeconds(now) * SECOND;
  const [issuedAt, expirationTime] = [iso(issued), iso(issued + SIGN_IN_SECONDS * SECOND)];
  const head = hex.encode(random);
  const nonce = head + hex.encode(macOf(macRing(keys)[0]!, terms, { uri, chainId, issuedAt, expirationTime }, head));
  return {
    info: { domain: new URL(uri).host, uri, version: '1', nonce, issuedAt, expirationTime, statement: STATEMENT },
    supportedChains: [{ chainId, type: 'ed25519', signatureScheme: 'siws' }],
    schema: SCHEMA,
  };
}

/** Builds the text of Sign-In With Solana, as the reference does. */
export function signInText(signIn: Omit<SignInProof, 'type' | 'signature'>): string {
  const { domain, address, statement, uri, version, chainId, nonce, issuedAt, expirationTime, notBefore, requestId, resources } = signIn;
  return [
    `${domain} wants you to sign in with your Solana account:`,
    address,
    '',
    ...(statement ? [statement, ''] : []),
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId.split(':')[1]}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
    ...(expirationTime ? [`Expiration Time: ${expirationTime}`] : []),
    ...(notBefore ? [`Not Before: ${notBefore}`] : []),
    ...(requestId ? [`Request ID: ${requestId}`] : []),
    ...(resources?.length ? ['Resources:', ...resources.map((resource) => `- ${resource}`)] : []),
  ].join('\n');
}

/** Parses a SIGN-IN-WITH-X header. Null if unreadable. Never throws, whatever a client sends. */
export function parseSignIn(header: string): SignInProof | null {
  const parsed = header.length <= SIGN_IN_CHARS_MAX ? SignInProof.safeParse(decodeHeader(header)) : null;
  return parsed?.success ? parsed.data : null;
}

/** Reasons as the reference names them, but for `not_offered`, which is this service's own. */
export type SignInProblem = `invalid_siwx_${
  | 'header'
  | 'not_offered'
  | 'unsupported_chain'
  | 'domain_mismatch'
  | 'uri_mismatch'
  | 'issued_at'
  | 'issued_at_in_future'
  | 'issued_at_too_old'
  | 'expiration_time'
  | 'expired'
  | 'not_before'
  | 'not_yet_valid'
  | 'nonce'
  | 'malformed_signature'
  | 'signature'}`;

interface Expected extends Omit<SignInTerms, 'uri'> {
  /** Origins of the merchant's shops. Null if the product offers no sign-in. */
  origins: readonly string[] | null;
}

interface Verdict {
  /** Null if the sign-in is valid. */
  problem: SignInProblem | null;
  /** True if the wallet signed the text, also if the sign-in has expired or is refused for another reason. */
  isSigned: boolean;
}

/** Verifies a sign-in, in the order of the reference. Every key of the ring is accepted for the nonce. */
export function verifySignIn(signIn: SignInProof, expected: Expected, at: { keys: string; now: number }): Verdict {
  const unsigned = findSignatureProblem(signIn);
  return { problem: findTermsProblem(signIn, expected, at) ?? unsigned, isSigned: unsigned === null };
}

function findTermsProblem(signIn: SignInProof, expected: Expected, { keys, now }: { keys: string; now: number }): SignInProblem | null {
  if (expected.origins === null) return 'invalid_siwx_not_offered';
  if (signIn.type !== 'ed25519' || signIn.chainId !== expected.chainId) return 'invalid_siwx_unsupported_chain';
  const problem = findOriginProblem(signIn, expected.origins) ?? findTimeProblem(signIn, now);
  return problem ?? (isOurNonce(signIn, expected, keys) ? null : 'invalid_siwx_nonce');
}

function findOriginProblem({ domain, uri }: SignInProof, origins: readonly string[]): SignInProblem | null {
  const named = origins.filter((origin) => new URL(origin).host === domain);
  if (named.length === 0) return 'invalid_siwx_domain_mismatch';
  return isOnOrigin(uri, named) ? null : 'invalid_siwx_uri_mismatch';
}

function findTimeProblem({ issuedAt, expirationTime, notBefore }: SignInProof, now: number): SignInProblem | null {
  const issued = Date.parse(issuedAt);
  if (Number.isNaN(issued)) return 'invalid_siwx_issued_at';
  if (issued > now) return 'invalid_siwx_issued_at_in_future';
  if (now - issued > SIGN_IN_SECONDS * SECOND) return 'invalid_siwx_issued_at_too_old';
  const expires = Date.parse(expirationTime ?? '');
  if (Number.isNaN(expires)) return 'invalid_siwx_expiration_time';
  if (expires < now) return 'invalid_siwx_expired';
  if (!notBefore) return null;
  const begins = Date.parse(notBefore);
  if (Number.isNaN(begins)) return 'invalid_siwx_not_before';
  return now < begins ? 'invalid_siwx_not_yet_valid' : null;
}

/** Constant time over the key ring. */
function isOurNonce({ nonce, expirationTime, ...signed }: SignInProof, expected: Expected, keys: string): boolean {
  if (!/^[0-9a-f]{32}$/.test(nonce)) return false;
  const [random, mac] = [nonce.slice(0, 2 * SIGN_IN_RANDOM_BYTES), hex.decode(nonce.slice(2 * SIGN_IN_RANDOM_BYTES))];
  const fields = { ...signed, expirationTime: expirationTime ?? '' };
  return macRing(keys)
    .map((key) => equalBytes(macOf(key, expected, fields, random), mac))
    .includes(true);
}

function findSignatureProblem(signIn: SignInProof): SignInProblem | null {
  const [signature, publicKey] = [base58Bytes(signIn.signature, 64), base58Bytes(signIn.address, 32)];
  if (!signature || !publicKey) return 'invalid_siwx_malformed_signature';
  return verifyEd25519(signature, utf8(signInText(signIn)), publicKey) ? null : 'invalid_siwx_signature';
}

interface Signer {
  address: string;
  sign(message: Uint8Array): Uint8Array;
}

/** Signs in as the public client does: returns the value of SIGN-IN-WITH-X, or null if the challenge offers no sign-in on this chain. */
export function signInAs({ address, sign }: Signer, { extensions }: PaymentRequired, chainId: string): string | null {
  const declared = Declared.safeParse(extensions?.[SIGN_IN_WITH_X]);
  const chain = declared.data?.supportedChains.find((one) => one.chainId === chainId);
  const unsigned = SignInProof.omit({ signature: true }).safeParse({ ...declared.data?.info, ...chain, address });
  if (!unsigned.success) return null;
  const proof: SignInProof = { ...unsigned.data, signature: base58.encode(sign(utf8(signInText(unsigned.data)))) };
  return base64.encode(utf8(JSON.stringify(proof)));
}
