/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-05f8f7d6.js',
  receipt: '/assets/receipt-a7328a4e.js',
  demoWallet: '/assets/demo-wallet-a7b00aca.js',
} as const;
