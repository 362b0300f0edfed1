/** Fields of answers that hold a prepared transaction. */
const FIELDS = ['transaction', 'create_ata_transaction', 'refund_transaction'];

export interface Prepared {
  /** Base64, wire form. */
  transaction: string;
  /** Checkout payment that the service sends the signed transaction of. */
  paymentId: string | null;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** First prepared transaction of an answer, however deep it stands: the fixes of readiness hold one too. */
function findIn(value: unknown): Prepared | null {
  if (value === null || typeof value !== 'object') return null;
  const fields = value as Record<string, unknown>;
  const [transaction] = FIELDS.flatMap((name) => textOf(fields[name]) ?? []);
  if (transaction !== undefined) return { transaction, paymentId: textOf(fields.payment_id) };
  for (const inner of Object.values(fields)) {
    const found = findIn(inner);
    if (found) return found;
  }
  return null;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Finds the prepared transaction in the answer of a call, or in a text that is the transaction alone; null where there is none. */
export function findPrepared(text: string): Prepared | null {
  const answer = text.trim();
  const found = /^[{[]/.test(answer) ? findIn(parse(answer)) : { transaction: answer, paymentId: null };
  const transaction = found?.transaction.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  return found && /^[A-Za-z0-9+/]{80,}={0,2}$/.test(transaction) ? { ...found, transaction } : null;
}
