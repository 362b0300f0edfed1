export interface Failure {
  ok: false;
  status: number;
  code: string;
  detail: string;
  meta: {
    reason?: string;
    provider?: string;
    payment_id?: string;
    authorization_id?: string;
    recovered_payment_id?: string;
    ticket?: string;
    methods?: string[];
  };
  retryAfterMs: number | null;
}

export type Answer<T> = { ok: true; value: T } | Failure;

/** True if the same call may succeed later. */
export const isPassing = ({ status }: Failure): boolean => status === 0 || status === 429 || status >= 500;
