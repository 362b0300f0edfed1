import type { Scope } from '#platform/context.ts';
import type { ErasedCustomer } from '#rules/access/erased-customer.ts';
import type { CustomerRow, ErasedKey, ErasureProgress } from '../tables/entitlements.ts';

/** Customer under erasure, with those that were merged into it. */
export interface Erasing {
  ctx: Scope;
  row: CustomerRow;
  progress: ErasureProgress;
  keys: readonly ErasedKey[];
  customer: ErasedCustomer & { emails: Set<string> };
  /** Business time up to which rows are the customer's. */
  until: number;
}

export function erasingOf(ctx: Scope, row: CustomerRow, progress: ErasureProgress): Erasing {
  const { keys, until } = progress;
  const replaced = keys.flatMap(({ key, erased }) =>
    'customerRef' in key && 'customerRef' in erased ? [[key.customerRef, erased.customerRef] as const] : [],
  );
  return {
    ...{ ctx, row, progress, keys, until },
    customer: {
      ids: new Set(keys.map(({ id }) => id)),
      refs: new Map(replaced),
      wallets: new Set(keys.flatMap(({ key }) => ('walletAddress' in key ? [key.walletAddress] : []))),
      emails: new Set(progress.emails),
    },
  };
}
