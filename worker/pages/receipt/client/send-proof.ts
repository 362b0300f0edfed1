import { callApi } from '../../browser/call-api.ts';
import { newIdempotencyKey } from '../../browser/idempotency-key.ts';
import { readSession } from '../../browser/session.ts';
import { outcomeOf, type ProofFacts } from '../send-proof.ts';

/** For a seller who is signed in in this tab: has the service mail the proof. The same letter, asked for again without an answer, is one. */
export function openProofForm({ receiptId, locale, words }: ProofFacts): void {
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
