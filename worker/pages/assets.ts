/** Written by local/pages.ts: the scripts of the hosted pages under the names their content gives them. */
export const PAGE_ASSETS = {
  checkout: '/assets/checkout-69201134.js',
  account: '/assets/account-74da4cf5.js',
  subscribing: '/assets/subscribing-d884550e.js',
  receipt: '/assets/receipt-516defeb.js',
  testWallet: '/assets/test-wallet-7ac10ee0.js',
  demoWallet: '/assets/demo-wallet-0037bc9e.js',
} as const;
