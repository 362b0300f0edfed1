const FIELDS = ['transaction', 'create_ata_transaction', 'refund_transaction'];

export interface Prepared {
  transaction: string;
  /** Checkout payment of the transaction. The service sends the signed transaction itself. */
  paymentId: string | null;
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Returns the first prepared transaction at any depth, because readiness fixes contain one too. */
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

/** Finds a prepared transaction in an API answer or in a bare base64 text. Returns null if there is none. */
export function findPrepared(text: string): Prepared | null {
  const answer = text.trim();
  const found = /^[{[]/.test(answer) ? findIn(parse(answer)) : { transaction: answer, paymentId: null };
  const transaction = found?.transaction.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  return found && /^[A-Za-z0-9+/]{80,}={0,2}$/.test(transaction) ? { ...found, transaction } : null;
}
