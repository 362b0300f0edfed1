/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-5349bea3.js',
  receipt: '/assets/receipt-a7328a4e.js',
  demoWallet: '/assets/demo-wallet-50f82750.js',
} as const;
