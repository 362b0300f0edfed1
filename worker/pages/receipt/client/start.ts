import { callApi } from '../../browser/call-api.ts';
import { newIdempotencyKey } from '../../browser/idempotency-key.ts';
import { readSession } from '../../browser/session.ts';
import { fromBase58 } from '../../parts/bytes.ts';
import { outcomeOf, type ProofFacts } from '../send-proof.ts';

/** Checks the receipt once more in the reader's own browser, from its bytes and the published key, so that nothing of the server has to be believed. */
interface Facts {
  proof: ProofFacts;
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

/** True where the signature verifies; null where this browser does not know Ed25519. */
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
const facts = source ? (JSON.parse(source) as Facts) : null;
if (facts) openProofForm(facts.proof);
if (facts && place && 'subtle' in crypto) {
  void checkReceipt(facts)
    .then((isValid) => {
      if (isValid !== null) place.textContent = isValid ? facts.valid : facts.invalid;
    })
    .catch(() => {});
}

/** For a seller who is signed in in this tab: has the service mail the proof. The same letter, asked for again without an answer, is one. */
function openProofForm({ receiptId, locale, words }: ProofFacts): void {
  const session = readSession();
  const section = document.getElementById('send-proof');
  const form = section?.querySelector('form');
  const button = form?.querySelector('button');
  const said = document.getElementById('proof-said');
  if (!session || !section || !form || !button || !said) return;
  section.hidden = false;
  const signInLine = document.getElementById('seller-sign-in')!;
  signInLine.hidden = true;
  let unanswered: { text: string; idempotencyKey: string } | null = null;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    said.textContent = '';
    const fields = new FormData(form);
    const [email, message] = ['proof-email', 'proof-message'].map((name) => String(fields.get(name)).trim());
    const body = { email, locale, ...(message ? { message } : {}) };
    const text = JSON.stringify(body);
    const idempotencyKey = unanswered?.text === text ? unanswered.idempotencyKey : newIdempotencyKey();
    const answer = await callApi('POST', `/v1/receipt/${receiptId}/send-proof`, { token: session.token, idempotencyKey, body });
    unanswered = !answer.ok && (answer.status === 0 || answer.status >= 500) ? { text, idempotencyKey } : null;
    const outcome = outcomeOf(answer);
    signInLine.hidden = outcome !== 'ended';
    said.textContent = words[outcome].replace('{email}', () => String(email));
    button.disabled = false;
    if (answer.ok) form.reset();
  });
}
