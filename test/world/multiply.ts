/** The row whose `key` is `id` so many times, with these columns of its own, as SQL in which `i` counts from 1. */
export async function multiply(
  db: D1Database,
  table: string,
  key: string,
  id: string,
  times: number,
  own: Record<string, string>,
): Promise<void> {
  const { results } = await db.prepare(`SELECT name FROM pragma_table_info('${table}')`).all<{ name: string }>();
  const values = results.map(({ name }) => own[name] ?? `${table}.${name}`);
  await db
    .prepare(
      `INSERT INTO ${table} (${results.map(({ name }) => name)})
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${times})
       SELECT ${values} FROM ${table}, n WHERE ${table}.${key} = ?`,
    )
    .bind(id)
    .run();
}

/** Older copies of a receipt. Their links are negative, because the chain of its merchant grows meanwhile, to any length. */
export const copyReceipt = (db: D1Database, receiptId: string, times: number): Promise<void> =>
  multiply(db, 'receipts', 'id', receiptId, times, {
    id: "printf('01900000-0000-7000-b000-%012d', i)",
    payment_id: "'copy-' || i",
    tx_signature: "'copy-' || i",
    created_at: 'receipts.created_at - i',
    link_seq: '-i',
  });
