import { callApi } from '../../browser/call-api.ts';
import { newIdempotencyKey } from '../../browser/idempotency-key.ts';
import { readSession } from '../../browser/session.ts';
import { outcomeOf, type ProofFacts } from '../send-proof.ts';

/** Opens the form that emails the proof, for a seller signed in in this tab. A retry without an answer reuses its idempotency key. */
export function openProofForm({ receiptId, locale, texts }: ProofFacts): void {
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
    said.textContent = texts[outcome].replace('{email}', () => String(email));
    button.disabled = false;
    if (answer.ok) form.reset();
  });
}
