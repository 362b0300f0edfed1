/** Codes of readiness checks, with what each requires. */
export const CHECKS = {
  app_found: 'The app exists in your account and mode.',
  product_found: 'The product exists in your account, mode and app.',
  product_active: 'The product is neither archived nor disabled by the operator, and sales are not paused.',
  price_set: 'The price suits the asset of every rail of the product.',
  rail_enabled:
    'At least one rail is allowed and enabled, every enabled rail is available, the Solana node responds, and the SOL price source responds if a second asset is accepted.',
  payout_wallet_set: 'Every rail of the product has a payout wallet that can spend: the product’s, the rail’s or the account’s.',
  payout_ata_exists:
    'The payout wallet has a USDC account. Checkout buyers can create it: there, a warning. For a small price in SOL, the wallet holds enough to receive it.',
  fee_wallet_configured: 'The service fee, if any, has a wallet that can receive it. Only the operator can resolve it.',
  webhook_endpoint_enabled: 'An enabled endpoint receives this product’s events. A warning: sales work without it.',
  plan_active: 'The plan is active. A warning if a paid plan ends soon, because its limits end with it. The free plan sells too.',
  live_mode_confirmed: 'Live mode is confirmed. Required by x402.',
  live_key_present: 'A live key with execute exists. A warning: without one, only a signed-in person can consume and settle.',
  subscription_plan_published: 'A product that renews automatically has a published plan of its current terms.',
  listed: 'Agents find the product in the public catalogue. A warning: sales work without it.',
} as const;

export type CheckCode = keyof typeof CHECKS;
