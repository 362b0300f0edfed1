import { createHash, createPublicKey, type JsonWebKey, verify } from 'node:crypto';
import { pathToFileURL } from 'node:url';

// Imports nothing of the service: a third party with a receipt and the published keys can write this program, and it must agree with the
// service independently.

export interface PublishedReceipt {
  document: unknown;
  sha256: string;
  signature: string;
  key_id: string;
}

export interface PublishedKeys {
  keys: { kid: string; kty: string; crv: string; x: string }[];
}

type Finding = { valid: true; sha256: string } | { valid: false; reason: 'sha256_mismatch' | 'unknown_key' | 'signature_invalid' };

/** Verifies a receipt from its bytes: canonical form, hash, then the signature with the published key. */
export function verifyReceipt(receipt: PublishedReceipt, published: PublishedKeys): Finding {
  const bytes = Buffer.from(canonicalize(receipt.document), 'utf8');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  if (sha256 !== receipt.sha256) return { valid: false, reason: 'sha256_mismatch' };
  const jwk = published.keys.find(({ kid }) => kid === receipt.key_id);
  if (jwk?.kty !== 'OKP' || jwk.crv !== 'Ed25519') return { valid: false, reason: 'unknown_key' };
  const publicKey = createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x } satisfies JsonWebKey, format: 'jwk' });
  const signature = decodeBase58(receipt.signature, 64);
  if (signature === null || !verify(null, bytes, publicKey, signature)) return { valid: false, reason: 'signature_invalid' };
  return { valid: true, sha256 };
}

/** Canonicalizes JSON (RFC 8785): members sorted by UTF-16 code units, no white space, ECMAScript numbers and strings. */
export function canonicalize(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalize).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalize(member)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

function decodeBase58(text: string, length: number): Buffer | null {
  let number = 0n;
  for (const character of text) {
    const digit = BASE58.indexOf(character);
    if (digit < 0) return null;
    number = number * 58n + BigInt(digit);
  }
  const hex = number.toString(16).padStart(length * 2, '0');
  return hex.length === length * 2 ? Buffer.from(hex, 'hex') : null;
}

// node local/demo/verify-receipt.ts <url of a public receipt>
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const url = URL.parse(process.argv[2] ?? '');
  if (url === null) throw new Error('Usage: node local/demo/verify-receipt.ts <url of a public receipt>');
  const [receipt, keys] = await Promise.all(
    [url, new URL('/.well-known/svc-receipt-keys.json', url)].map(async (source) => (await fetch(source)).json()),
  );
  const finding = verifyReceipt(receipt as PublishedReceipt, keys as PublishedKeys);
  console.log(JSON.stringify(finding));
  process.exitCode = finding.valid ? 0 : 1;
}
