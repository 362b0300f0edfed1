/** Older names, which the adapters use. */
export type {
  ConsumeRequest as Consume,
  ConsumeResponse as Consumption,
  Customer,
  SettleResponse as SettledPayment,
} from '../generated/types.ts';

import type { SettlePending, SettleResponse } from '../generated/types.ts';

export type Settlement = SettleResponse | SettlePending;
export type ProductReference = { product_id: string } | { external_product_id: string };
