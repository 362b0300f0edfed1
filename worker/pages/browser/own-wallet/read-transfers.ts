import { readTransaction } from '../../parts/transaction.ts';

export interface TransferAsked {
  mint: string | null;
  decimals: number;
  units: bigint;
  /** Wallet for lamports, token account for a token. */
  destination: string;
  /** Owner of the token account, if the transaction opens that account. */
  owner: string | null;
  /** Subscription: the amount may be charged again after each period. Null for a single transfer. */
  periodHours: bigint | null;
}

/** Plans are in USDC, and their instruction does not carry the decimals. */
const PLAN_DECIMALS = 6;
const LAMPORT_DECIMALS = 9;

/** Lists the transfers of a transaction in wire form. Throws if the transaction cannot be decoded. */
export function readTransfers(transaction: Uint8Array): TransferAsked[] {
  const { steps } = readTransaction(transaction);
  const opened = new Map(steps.flatMap((step) => (step.kind === 'account' ? [[step.account, step.owner] as const] : [])));
  return steps.flatMap((step): TransferAsked[] => {
    switch (step.kind) {
      case 'subscribe': {
        const { owner, terms } = step;
        const { mint, units, hours } = terms;
        return [{ mint, decimals: PLAN_DECIMALS, units, destination: owner, owner, periodHours: hours }];
      }
      case 'transfer': {
        const { mint, decimals, units, to } = step;
        return [{ mint, decimals, units, destination: to, owner: opened.get(to) ?? null, periodHours: null }];
      }
      case 'lamports':
        return [{ mint: null, decimals: LAMPORT_DECIMALS, units: step.units, destination: step.to, owner: null, periodHours: null }];
      default:
        return [];
    }
  });
}

export function decimalOf(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0*$/, '');
}
