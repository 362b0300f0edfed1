export interface Sizes {
  receipts: number;
  payments: number;
  sandboxes: number;
}

export const FULL_SIZES: Sizes = { receipts: 100_000, payments: 100_000, sandboxes: 100 };
export const QUICK_SIZES: Sizes = { receipts: 1_000, payments: 1_000, sandboxes: 4 };

export const countText = (count: number): string => count.toLocaleString('en');
