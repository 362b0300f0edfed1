/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-4ace1784.js',
  receipt: '/assets/receipt-bee47bab.js',
  demoWallet: '/assets/demo-wallet-6bfe7d31.js',
} as const;
