/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-fc295868.js',
  account: '/assets/account-0bda7680.js',
  subscribing: '/assets/subscribing-06db291e.js',
  receipt: '/assets/receipt-9b138cad.js',
  testWallet: '/assets/test-wallet-3430db70.js',
  demoWallet: '/assets/demo-wallet-f6207b60.js',
} as const;
