import type { KeyPairSigner } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';

export interface Budget {
  /** Dollars, for example `$0.10`. */
  perPayment: string;
  /** Base units of USDC: 1 USDC is 1,000,000. */
  total: bigint;
}

export interface Purse {
  spent: bigint;
  /** Pays what a server asks with 402, and throws if that exceeds the budget. */
  fetch: typeof fetch;
}

/** Returns a `fetch` that pays from `wallet` within `budget`. */
export function openPurse(wallet: KeyPairSigner, rpcUrl: string, { perPayment, total }: Budget): Purse {
  const purse: Purse = { spent: 0n, fetch };
  const client = new x402Client()
    .register('solana:*', new ExactSvmScheme(wallet, { rpcUrl }))
    .setSpendControls({ maxAmountPerPayment: perPayment });
  // Counted before the payment exists, so that requests at the same time cannot exceed the budget together.
  client.onBeforePaymentCreation(async ({ selectedRequirements }) => {
    const amount = BigInt(selectedRequirements.amount);
    if (purse.spent + amount > total) return { abort: true, reason: `it would exceed the budget: ${purse.spent} of ${total} are spent` };
    purse.spent += amount;
  });
  purse.fetch = wrapFetchWithPayment(fetch, client);
  return purse;
}
