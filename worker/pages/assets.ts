/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-e874dbba.js',
  receipt: '/assets/receipt-cb368a3d.js',
  demoWallet: '/assets/demo-wallet-467b7f8b.js',
} as const;
