import type { ConsumeResponse, Customer, SettleResponse } from '../generated/types.ts';
import type { Recording } from '../responses/responses.ts';
import type { WaitUntil } from './refunds.ts';
import type { Refusal } from './refusals.ts';

export interface Access {
  /** Null if served by `failOpen`, or if the service names none. */
  consumptionId: string | null;
  entitlementId: string | null;
  units: number;
  /** Units left afterwards. Null if use is not counted. */
  remaining: number | null;
  customer: Customer | null;
  payment: SettleResponse | null;
  /** True if this request was probably served before and runs again because of `onReplay: 'serve'`. */
  isReplay: boolean;
  isFailOpen: boolean;
}

export interface Incoming {
  method: string;
  url: string;
  header(name: string): string | null | undefined;
  waitUntil?: WaitUntil | undefined;
}

/** Options of calls for which a buyer waits. A longer Retry-After is given to the buyer. */
export const WHILE_BUYER_WAITS = { maxRetryAfterSeconds: 10 };

/** Whether a request has access. */
export type Verdict =
  | { access: Access; paymentResponse: string | null; refusal?: never }
  | { refusal: Refusal; access?: never; paymentResponse?: never };

/** Answer that needs no handler: a refusal, or the stored answer of the same request. */
export interface ReadyAnswer {
  status: number;
  headers: Record<string, string>;
  body: string | Uint8Array<ArrayBuffer> | null;
}

/** Access with which the handler runs, or the answer to send instead. `recording`: the handler's answer is to be recorded. */
export type Admission =
  | { access: Access; paymentResponse: string | null; recording: Recording | null; answer?: never }
  | { answer: ReadyAnswer; access?: never; paymentResponse?: never; recording?: never };

export const accessOf = (use: Pick<ConsumeResponse, 'entitlement_id' | 'units' | 'remaining'> & { consumption_id?: string }) => ({
  consumptionId: use.consumption_id ?? null,
  entitlementId: use.entitlement_id,
  units: use.units,
  remaining: use.remaining,
});

/** Access of a request served by `failOpen` during an outage. */
export const FAILED_OPEN: Access = {
  consumptionId: null,
  entitlementId: null,
  units: 0,
  remaining: null,
  customer: null,
  payment: null,
  isReplay: false,
  isFailOpen: true,
};
