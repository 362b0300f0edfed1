import { z } from '@hono/zod-openapi';
import { type Asset, toMoneyResource } from '#core/money.ts';
import { iso } from '#core/time.ts';
import type { Refund } from '#platform/db/tables/payments.ts';
import { MoneyBody, Timestamp, TransactionSignature } from '#platform/http/openapi.ts';

export const RefundBody = z
  .object({
    amount: MoneyBody,
    tx_signature: TransactionSignature,
    at: Timestamp,
  })
  .openapi('Refund');

export const toRefundResource = (asset: Asset, { units, txSignature, at }: Refund): z.infer<typeof RefundBody> => ({
  amount: toMoneyResource({ asset, units: BigInt(units) }),
  tx_signature: txSignature,
  at: iso(at),
});
