export interface Amount {
  asset: string;
  amount: string;
}

export const amountOf = ({ amount, asset }: Amount): string => `${amount} ${asset}`;
export const optionalAmount = (amount: Amount | undefined): string | undefined => amount && amountOf(amount);

/** Names the time that a payment buys. */
export const periodOf = (days: number | null): string => (days === null ? 'without end' : days === 1 ? 'a day' : `${days} days`);
