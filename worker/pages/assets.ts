/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-fff007b0.js',
  receipt: '/assets/receipt-e1eab0a6.js',
  demoWallet: '/assets/demo-wallet-848d950a.js',
} as const;
