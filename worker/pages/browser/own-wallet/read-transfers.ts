import { readTransaction } from '../../parts/transaction.ts';

/** Money that a transaction moves, as a wallet reads it before its person signs. */
export interface TransferAsked {
  /** What moves: lamports, or a token by its mint. */
  mint: string | null;
  decimals: number;
  units: bigint;
  /** A wallet where lamports move, a token account where a token does. */
  destination: string;
  /** Whose token account that is, where the transaction says so because it opens it. */
  owner: string | null;
  /** Of a subscription: so many hours later as much again may be charged. Null where it moves once. */
  periodHours: bigint | null;
}

/** Plans are in USDC, whose decimals the instruction does not name. */
const PLAN_DECIMALS = 6;
const LAMPORT_DECIMALS = 9;

/** What a transaction of the wire form pays to whom, in its order. Throws where it cannot be read. */
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

/** The decimal that so many units are. */
export function decimalOf(units: bigint, decimals: number): string {
  const digits = String(units).padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  return `${digits.slice(0, point)}.${digits.slice(point)}`.replace(/\.?0*$/, '');
}
