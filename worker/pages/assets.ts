/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-51c10641.js',
  account: '/assets/account-35a0d370.js',
  subscribing: '/assets/subscribing-b2f7d544.js',
  receipt: '/assets/receipt-9b138cad.js',
  testWallet: '/assets/test-wallet-3430db70.js',
  demoWallet: '/assets/demo-wallet-f6207b60.js',
} as const;
