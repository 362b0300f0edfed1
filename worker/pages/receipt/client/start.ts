import { fromBase58 } from '../../parts/bytes.ts';

/** Verifies the receipt in the reader's browser from its bytes and the published key, so that the server need not be trusted. */
interface Facts {
  document: string;
  sha256: string;
  signature: string;
  keyId: string;
  valid: string;
  invalid: string;
}
interface Published {
  keys: { kid: string; kty: string; crv: string; x: string }[];
}

const hexOf = (bytes: ArrayBuffer): string => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join('');

async function checkReceipt({ document: text, sha256, signature, keyId }: Facts): Promise<boolean | null> {
  const bytes = new TextEncoder().encode(text);
  const response = await fetch('/.well-known/svc-receipt-keys.json', { credentials: 'omit' });
  const { keys } = (await response.json()) as Published;
  const published = keys.find(({ kid }) => kid === keyId);
  const signed = fromBase58(signature);
  if (!published || !signed || hexOf(await crypto.subtle.digest('SHA-256', bytes)) !== sha256) return false;
  const jwk = { kty: published.kty, crv: published.crv, x: published.x };
  const key = await crypto.subtle.importKey('jwk', jwk, 'Ed25519', false, ['verify']).catch(() => null);
  return key === null ? null : crypto.subtle.verify('Ed25519', key, signed, bytes);
}

const button = document.getElementById('print');
if (button) {
  button.hidden = false;
  button.addEventListener('click', () => print());
}

const source = document.getElementById('facts')?.textContent;
const verdict = document.getElementById('browser-verdict');
const facts = source ? (JSON.parse(source) as Facts) : null;
if (facts && verdict && 'subtle' in crypto) {
  void checkReceipt(facts)
    .then((isValid) => {
      if (isValid !== null) verdict.textContent = isValid ? facts.valid : facts.invalid;
    })
    .catch(() => {});
}
