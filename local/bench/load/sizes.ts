/** How many there are of what is measured beside many. */
export interface Sizes {
  receipts: number;
  payments: number;
  /** Sessions of the sandbox that run at once. */
  sandboxes: number;
}

export const FULL_SIZES: Sizes = { receipts: 100_000, payments: 100_000, sandboxes: 100 };
export const QUICK_SIZES: Sizes = { receipts: 1_000, payments: 1_000, sandboxes: 4 };

/** As it stands in the names of rows. */
export const countText = (count: number): string => count.toLocaleString('en');
