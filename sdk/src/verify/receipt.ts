import type { Receipt, ReceiptVerification } from '../generated/types.ts';

/** Receipt as the API returns it. `receipt_id` and `tx_sig` are compared with the signed ones if they are present. */
export type SignedReceipt = Pick<Receipt, 'document' | 'sha256' | 'signature' | 'key_id'> & Partial<Pick<Receipt, 'receipt_id' | 'tx_sig'>>;

/** Content of `/.well-known/svc-receipt-keys.json`. */
export interface ReceiptKeys {
  readonly keys: readonly { readonly kid?: string; readonly kty?: string; readonly crv?: string; readonly x?: string }[];
}

const SIGNATURE_BYTES = 64;
/** No 64 bytes have more digits in base58. */
const SIGNATURE_DIGITS_MAX = 88;
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/**
 * Verifies a receipt from its bytes and the published keys, without the service. The answer has the form of `receipts.verify`. Only the
 * service knows `transaction_orphaned`. Throws TypeError for a value that is no receipt or no key set.
 */
export async function verifyReceipt(receipt: SignedReceipt, jwks: ReceiptKeys): Promise<ReceiptVerification> {
  requireReceipt(receipt);
  if (!Array.isArray(jwks?.keys)) throw new TypeError('The keys are no JWK set. Pass the content of /.well-known/svc-receipt-keys.json.');
  const bytes = new TextEncoder().encode(toCanonicalJson(receipt.document));
  const digest = new Uint8Array(await subtle().digest('SHA-256', bytes));
  const sha256 = [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const sha256Matches = sha256 === receipt.sha256;
  const key = await importKey(jwks, receipt.key_id);
  const signature = decodeBase58(receipt.signature);
  const signatureValid = key !== null && signature.length === SIGNATURE_BYTES && (await subtle().verify('Ed25519', key, signature, bytes));
  const reason = !key
    ? 'unknown_key'
    : !sha256Matches
      ? 'sha256_mismatch'
      : !signatureValid
        ? 'signature_invalid'
        : hasSignedIds(receipt)
          ? undefined
          : 'record_mismatch';
  return {
    valid: reason === undefined,
    ...(reason ? { reason } : {}),
    sha256_matches: sha256Matches,
    signature_valid: signatureValid,
    key_id: receipt.key_id,
    sha256,
    checked_at: new Date().toISOString(),
  };
}

function requireReceipt(receipt: unknown): asserts receipt is SignedReceipt {
  const { document, ...texts } = (receipt ?? {}) as Partial<SignedReceipt>;
  const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
  if (!isObject || [texts.sha256, texts.signature, texts.key_id].some((text) => typeof text !== 'string'))
    throw new TypeError('This is no receipt. Pass the answer of GET /v1/receipt/{receipt_id}: document, sha256, signature and key_id.');
}

const hasSignedIds = ({ receipt_id, tx_sig, document }: SignedReceipt): boolean =>
  (receipt_id ?? document.receipt_id) === document.receipt_id && (tx_sig ?? document.tx_sig) === document.tx_sig;

/** Canonicalizes JSON (RFC 8785). Throws TypeError for a value that is no JSON, such as a cycle. */
export function toCanonicalJson(value: unknown): string {
  try {
    return canonicalize(value);
  } catch (cause) {
    throw new TypeError('This is no receipt. Its document is no JSON.', { cause });
  }
}

function canonicalize(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalize)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  // Sorted by UTF-16 code units.
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => `${JSON.stringify(name)}:${canonicalize(member)}`)}}`;
}

function subtle() {
  const found = typeof crypto === 'undefined' ? undefined : crypto.subtle;
  if (!found) throw new Error('WebCrypto is missing. Browsers have it on https pages only.');
  return found;
}

/** Imports the Ed25519 key of this id. Returns null if the set has none. */
async function importKey({ keys }: ReceiptKeys, keyId: string) {
  const jwk = keys.find((key) => key?.kid === keyId);
  if (jwk?.kty !== 'OKP' || jwk.crv !== 'Ed25519' || typeof jwk.x !== 'string') return null;
  const { kty, crv, x } = jwk;
  try {
    return await subtle().importKey('jwk', { kty, crv, x }, 'Ed25519', false, ['verify']);
  } catch (cause) {
    if ((cause as Partial<Error>).name !== 'NotSupportedError') return null;
    throw new Error('WebCrypto has no Ed25519 here. Node 22, Workers, Deno, Bun, Chrome 137, Firefox 129 and Safari 17 have it.', {
      cause,
    });
  }
}

/** Decodes base58. Returns no bytes for a text that is none, or too long for a signature. */
function decodeBase58(text: string): Uint8Array<ArrayBuffer> {
  if (text.length > SIGNATURE_DIGITS_MAX) return new Uint8Array();
  const bytes: number[] = [];
  for (const digit of text) {
    let carry = BASE58.indexOf(digit);
    if (carry < 0) return new Uint8Array();
    for (let i = 0; i < bytes.length; i++) {
      carry += bytes[i]! * 58;
      bytes[i] = carry & 255;
      carry >>= 8;
    }
    if (carry > 0) bytes.push(carry);
  }
  // Each leading 1 is a zero byte.
  const zeros = text.length - text.replace(/^1+/, '').length;
  return Uint8Array.from([...Array<number>(zeros).fill(0), ...bytes.reverse()]);
}
