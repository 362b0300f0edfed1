import type { Fix } from '#features/products/selling/fixes.ts';

/** The checks of readiness, in the order in which they are answered, and what each means. */
export const CHECKS = {
  app_found: 'The named app exists, is yours and of this mode. Blocks.',
  product_found: 'The named product exists, is yours, of this mode, and of the named app. Blocks.',
  product_active: 'The product is neither archived nor switched off by the operator. Blocks.',
  price_set: 'The price is in the asset of every rail the product is offered on. Blocks.',
  rail_enabled:
    'At least one rail is allowed and switched on, the service can serve each one that is, and the Solana node answers; so does the source of the price of SOL where another asset than that of the price is accepted. Blocks.',
  payout_wallet_set:
    'Every rail the product is offered on knows a wallet: the product’s, the rail’s or the account’s, and somebody can spend from it. Blocks.',
  payout_ata_exists:
    'The payout wallet has a USDC account. Blocks x402, whose buyers cannot create it; a warning where only checkout is offered. For a small price in SOL, the wallet holds enough to receive it. Blocks.',
  fee_wallet_configured:
    'A service that takes a fee has a wallet for it, which can receive it. Blocks checkout; only the operator can mend it.',
  webhook_endpoint_enabled:
    'An enabled endpoint hears of this product’s events. A warning: sales work without, you only do not hear of them.',
  plan_active: 'Every plan sells, the free one too; a warning when a paid plan is about to end, since its limits end with it.',
  live_mode_confirmed:
    'You said that you are ready to be paid by those who buy by themselves. Blocks x402; plain checkout sells without it.',
  live_key_present: 'A live key with execute exists. A warning: without one only a signed-in person’s token can consume and settle.',
  subscription_plan_published: 'A product that renews itself has a published plan of its present terms. Blocks.',
} as const;

export type CheckCode = keyof typeof CHECKS;

export interface Check {
  code: CheckCode;
  status: 'pass' | 'fail' | 'warn' | 'skip';
  message: string;
  fix: Fix | null;
}

export const pass = (code: CheckCode, message: string): Check => ({ code, status: 'pass', message, fix: null });
export const skip = (code: CheckCode, message: string): Check => ({ code, status: 'skip', message, fix: null });
export const warn = (code: CheckCode, message: string, fix: Fix | null): Check => ({ code, status: 'warn', message, fix });
export const fail = (code: CheckCode, message: string, fix: Fix): Check => ({ code, status: 'fail', message, fix });
