/** A refusal of the service, or that no answer came. */
export interface Failure {
  ok: false;
  /** 0 where no answer came. */
  status: number;
  code: string;
  detail: string;
  meta: { reason?: string; provider?: string; payment_id?: string; authorization_id?: string; recovered_payment_id?: string };
  retryAfterMs: number | null;
}

export type Answer<T> = { ok: true; value: T } | Failure;

/** Whether the same call may succeed a little later. */
export const isPassing = ({ status }: Failure): boolean => status === 0 || status === 429 || status >= 500;
