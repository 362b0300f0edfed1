/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-154a11ad.js',
  receipt: '/assets/receipt-a3c53292.js',
  demoWallet: '/assets/demo-wallet-2c0788ac.js',
} as const;
