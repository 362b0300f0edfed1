import { fromBase58 } from '../checkout/client/bytes.ts';

/** The receipt checked once more, by the reader's own browser: the same bytes, the published key, no word of ours needed. */
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

/** Null where this browser does not know Ed25519. */
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
const place = document.getElementById('browser-verdict');
if (source && place && 'subtle' in crypto) {
  const facts = JSON.parse(source) as Facts;
  void checkReceipt(facts)
    .then((isValid) => {
      if (isValid !== null) place.textContent = isValid ? facts.valid : facts.invalid;
    })
    .catch(() => {});
}
