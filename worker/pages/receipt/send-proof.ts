import type { Failure } from '../parts/answer.ts';

export const PROOF_OUTCOMES = {
  sent: 'rSent',
  foreign: 'rSendForeign',
  unverified: 'rSendUnverified',
  ended: 'rSendEnded',
  often: 'rSendOften',
  no_mail: 'rSendNoMail',
  input: 'rSendInput',
  offline: 'pOffline',
  later: 'rSendLater',
} as const;
type ProofOutcome = keyof typeof PROOF_OUTCOMES;

export interface ProofFacts {
  receiptId: string;
  locale: string;
  texts: Record<ProofOutcome, string>;
}

const BY_CODE: Record<string, ProofOutcome> = {
  not_found: 'foreign',
  invalid_authorization: 'ended',
  rate_limited: 'often',
  mail_not_configured: 'no_mail',
  validation_error: 'input',
  offline: 'offline',
};

export function outcomeOf(answer: { ok: true } | Failure): ProofOutcome {
  if (answer.ok) return 'sent';
  if (answer.meta.reason === 'email_unverified') return 'unverified';
  return BY_CODE[answer.code] ?? 'later';
}
