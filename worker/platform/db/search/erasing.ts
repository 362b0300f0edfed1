import type { Scope } from '#platform/context.ts';
import { type ErasedCustomer, erasedRefOf } from '#rules/access/erased-customer.ts';
import type { Customer } from '#rules/balance.ts';
import type { CustomerRow, ErasureProgress } from '../tables/entitlements.ts';
import { customerKeyOf } from './customer.ts';

/** Key of an erased customer, and the one that its rows get. A wallet stays. */
export interface ErasedKey {
  id: CustomerRow['id'];
  key: Customer;
  erased: Customer;
}

/** Customer under erasure, with those that were merged into it. */
export interface Erasing {
  ctx: Scope;
  row: CustomerRow;
  progress: ErasureProgress;
  keys: readonly ErasedKey[];
  customer: ErasedCustomer;
  /** Business time up to which rows are the customer's. */
  until: number;
}

export function erasedKeyOf(row: CustomerRow): ErasedKey {
  const key = customerKeyOf(row);
  return { id: row.id, key, erased: 'customerRef' in key ? { customerRef: erasedRefOf(key.customerRef, row.id) } : key };
}

export function erasingOf(ctx: Scope, row: CustomerRow, merged: readonly CustomerRow[], progress: ErasureProgress): Erasing {
  const rows = [row, ...merged];
  const keys = rows.map(erasedKeyOf);
  const replaced = keys.flatMap(({ key, erased }) =>
    'customerRef' in key && 'customerRef' in erased ? [[key.customerRef, erased.customerRef] as const] : [],
  );
  return {
    ...{ ctx, row, progress, keys },
    customer: {
      ids: new Set(rows.map(({ id }) => id)),
      refs: new Map(replaced),
      wallets: new Set(keys.flatMap(({ key }) => ('walletAddress' in key ? [key.walletAddress] : []))),
      emails: new Set(progress.emails),
    },
    until: progress.sealedAt ?? Number.MAX_SAFE_INTEGER,
  };
}
