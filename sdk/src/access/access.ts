import type { Consumption, Customer, SettledPayment } from '../api/types.ts';
import type { WaitUntil } from './refunds.ts';
import type { Refusal } from './refusals.ts';

/** What a handler may know about why it runs. */
export interface Access {
  /** null only when served by `failOpen`, or where the service names none. */
  consumptionId: string | null;
  entitlementId: string | null;
  units: number;
  /** Units left afterwards; null where use is not counted. */
  remaining: number | null;
  customer: Customer | null;
  /** The payment settled for this request, if one came with it. */
  payment: SettledPayment | null;
  /** True where this request was probably served before and runs again because of `onReplay: 'serve'`. */
  isReplay: boolean;
  isFailOpen: boolean;
}

/** The little a gate needs to see of a request. */
export interface Incoming {
  method: string;
  /** The absolute URL of the request. */
  url: string;
  header(name: string): string | null | undefined;
  waitUntil?: WaitUntil | undefined;
}

export type Admission =
  | { access: Access; paymentResponse: string | null; refusal?: never }
  | { refusal: Refusal; access?: never; paymentResponse?: never };

export const accessOf = (use: Pick<Consumption, 'entitlement_id' | 'units' | 'remaining'> & { consumption_id?: string }) => ({
  consumptionId: use.consumption_id ?? null,
  entitlementId: use.entitlement_id,
  units: use.units,
  remaining: use.remaining,
});

/** The access of a request that runs while the service is away, because the merchant set `failOpen`. */
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
