/**
 * Extension `offer-receipt` of x402: offers and receipts as JWS (EdDSA), verified with the DID document of the issuer. Pure.
 * (x402-foundation/x402, specs/extensions/extension-offer-and-receipt.md, RFC 7515)
 * @module
 */

import type { SigningKey } from '#core/crypto.ts';
import { base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import type { PaymentRequirements } from './wire.ts';

export const OFFER_RECEIPT = 'offer-receipt';
const VERSION = 1;

const text = { type: 'string' };
const integer = { type: 'integer' };

/** Builds the JSON Schema of `info`, in which every field is required. */
const schemaOf = (info: Record<string, unknown>) => ({
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: info,
  required: Object.keys(info),
});
const signed = (more: Record<string, unknown> = {}) => ({
  type: 'object',
  properties: { format: text, ...more, signature: text },
  required: ['format', 'signature'],
});
const OFFERS_SCHEMA = schemaOf({ offers: { type: 'array', items: signed({ acceptIndex: integer }) } });
const RECEIPT_SCHEMA = schemaOf({ receipt: signed() });

export interface Issuer {
  did: string;
  key: SigningKey;
}

/** Returns the DID of a base URL: its host, with the port encoded. */
export const didOf = (baseUrl: string): string => `did:web:${encodeURIComponent(new URL(baseUrl).host)}`;

/** Compact JWS over canonical JSON. */
function signJws(payload: object, { did, key }: Issuer): string {
  const header = JSON.stringify({ alg: 'EdDSA', kid: `${did}#${key.keyId}` });
  const input = `${base64url.encode(utf8(header))}.${base64url.encode(utf8(canonicalJson(payload)))}`;
  return `${input}.${base64url.encode(key.sign(utf8(input)))}`;
}

/** Signs one entry of `accepts` for a resource. It names no memo, so many challenges may share it. `validUntil`: seconds. */
export function signOffer(issuer: Issuer, resourceUrl: string, accepted: PaymentRequirements, validUntil: number): string {
  const { scheme, network, asset, payTo, amount } = accepted;
  return signJws({ version: VERSION, resourceUrl, scheme, network, asset, payTo, amount, validUntil }, issuer);
}

export const toOffersExtension = (signatures: readonly string[]) => ({
  info: { offers: signatures.map((signature, acceptIndex) => ({ format: 'jws', acceptIndex, signature })) },
  schema: OFFERS_SCHEMA,
});

interface ReceiptFacts {
  network: string;
  resourceUrl: string;
  payer: string;
  transaction: string;
  /** Seconds. */
  issuedAt: number;
}

/** Signed receipt of a settled payment, as the extension of a settlement's response. */
export const toReceiptExtension = (issuer: Issuer, facts: ReceiptFacts) => ({
  info: { receipt: { format: 'jws', signature: signJws({ version: VERSION, ...facts }, issuer) } },
  schema: RECEIPT_SCHEMA,
});

/** DID document of an issuer with all its keys, old ones too. */
export function didDocument(did: string, keys: readonly SigningKey[]) {
  const methods = keys.map(({ keyId, jwk: { kty, crv, x } }) => ({
    id: `${did}#${keyId}`,
    type: 'JsonWebKey2020' as const,
    controller: did,
    publicKeyJwk: { kty, crv, x, kid: keyId, alg: 'EdDSA' as const },
  }));
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/suites/jws-2020/v1'],
    id: did,
    verificationMethod: methods,
    assertionMethod: methods.map(({ id }) => id),
  };
}
