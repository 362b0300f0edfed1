/** A column of a table, as SQLite tells of it. */
interface Column {
  name: string;
  type: string;
  /** Place in the primary key, from 1; 0 outside it. */
  pk: number;
  /** No two rows may have the same value of this column alone. */
  isUnique: number;
}

/** Values of columns as SQL over `n`, the number of a row: `{table: {column: expression}}`. */
export type Values = Record<string, Record<string, string>>;

const textOf = (text: string): string => `'${text}'`;
const cycle = (values: readonly string[]): string =>
  `CASE n % ${values.length} ${values.map((value, i) => `WHEN ${i} THEN ${textOf(value)}`).join(' ')} END`;

/** Where the rule below would leave something due, or would not be like life. */
const KNOWN: Values = {
  // One in three of a product's buyers has a reference of the merchant; one in fifty recovers another payment.
  payments: {
    customer_ref: "CASE WHEN n % 3 = 0 THEN 'customer-' || n END",
    recovers_payment_id: "CASE WHEN n % 50 = 0 THEN 'payments-id-' || (n - 1) END",
    late_grace_seconds: '120',
    // No product has more sessions open than strangers may begin: these are of products that nothing else is of.
    product_id: "CASE WHEN n % 4 < 2 THEN 'payments-product-' || (n / 500) ELSE :product END",
  },
  // What is in grace was paid for until some time ago.
  // Nothing is delivered for them.
  memberships: { paid_through: 'CASE WHEN n % 5 = 2 THEN :past ELSE :future END + n', deliver_to: 'NULL', delivery: 'NULL' },
  placements: { standing: 'NULL', provider: "'telegram'" },
  products: { delivery: 'NULL' },
  communities: { provider: "'telegram'" },
  // What the trigger over new receipts reads.
  receipts: { document: `'{"product_name":"Crowd ' || (n % 7) || '"}'` },
  // What is in the archive is of merchants who are not here, because there is no such object.
  archives: { merchant_id: "'archives-merchant-' || n" },
  archived_types: { merchant_id: "'archives-merchant-' || n" },
  // Of no receipt that is there; and a merchant has one logo.
  receipt_metadata: { row_number: '1000000000 + n' },
  brand_logos: { merchant_id: "'brand_logos-merchant-' || n" },
  // A merchant has one domain.
  seller_domains: { merchant_id: "'seller_domains-merchant-' || n" },
  payment_candidates: { origin: cycle(['sent', 'found', 'named', 'judged']) },
  events: { payment_id: "'payments-id-' || (n / 4)", membership_id: "'memberships-id-' || (n / 4)" },
  // No plan has more of them.
  webhook_endpoints: {
    merchant_id: "'webhook_endpoints-merchant-' || (n / 50)",
    failure_streak: 'n % 40',
    event_types: "'[]'",
    product_ids: "'[]'",
    created_by: `'{"kind":"person","id":"n"}'`,
    changed_by: 'NULL',
  },
  // What a broken endpoint holds back has no time.
  webhook_deliveries: {
    test_event: 'NULL',
    next_attempt_at: 'CASE WHEN n % 2 = 0 THEN :future + n END',
    endpoint_id: "'webhook_endpoints-id-' || (n / 100)",
  },
  // A merchant has one in each mode.
  analytics_totals: { merchant_id: "'analytics_totals-merchant-' || n" },
  // None of them is to be deleted at the processor.
  billing_customers: { erasing_since: 'NULL', past_due_since: "'{}'" },
  accounts: { processor_plans: "'[]'", former_emails: "'[]'" },
  support_tickets: { sandbox_session_id: 'NULL' },
  // A deployment has a handful of keys, and most rows name the same one.
  settlements: { fee_payer: "'fee-payer-' || (n % 3)" },
  subscription_authorizations: { puller: "'puller-' || (n % 3)", last_collection: 'NULL' },
  metered_sessions: { id: "printf('ms_%026d', n)", operator: "'operator-' || (n % 3)" },
  // A merchant has one for each rail: the others are of other merchants.
  rail_settings: { merchant_id: "'rail_settings-merchant-' || n" },
};

/**
 * Fills every table up to `to` rows, over these merchants and their products: nothing of it is due, so whoever looks for work finds
 * none among it. Ids are `<table>-<column>-<n>`, states take turns, moments lie in the future but for those of creation. A new table
 * is filled by the same rule; `values` says where it does not fit.
 */
export async function fillTables(
  db: D1Database,
  {
    from = 1,
    to,
    merchants,
    products,
    values = {},
  }: { from?: number; to: number; merchants: string[]; products: string[]; values?: Values },
): Promise<string[]> {
  // Metadata last: its trigger takes back words that receipts have put into the index.
  const tables = await db
    .prepare(
      `SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'
        AND name NOT LIKE 'd1\\_%' ESCAPE '\\' AND name NOT IN ('guard', 'open_sessions', 'ended_deliveries') AND name NOT LIKE 'receipt\\_words%' ESCAPE '\\'
        ORDER BY name = 'receipt_metadata'`,
    )
    .all<{ name: string; sql: string }>();
  const statements: D1PreparedStatement[] = [];
  for (const { name: table, sql } of tables.results) {
    const { results: columns } = await db
      .prepare(
        `SELECT name, type, pk, EXISTS (SELECT 1 FROM pragma_index_list(?1) l WHERE l."unique"
            AND (SELECT group_concat(name) FROM pragma_index_info(l.name)) = c.name) AS isUnique
          FROM pragma_table_info(?1) c`,
      )
      .bind(table)
      .all<Column>();
    const states = [...(/CHECK\s*\([^)]*\bstatus\b[^)]*IN \(([^)]*)\)/i.exec(sql)?.[1] ?? '').matchAll(/'([^']+)'/g)].map(
      ([, state]) => state!,
    );
    const expressionOf = ({ name, type, pk, isUnique }: Column): string => {
      const isInteger = type.toLowerCase() === 'integer';
      const special = values[table]?.[name] ?? KNOWN[table]?.[name];
      if (special !== undefined) return special;
      // Numbered by the database.
      if (pk > 0 && isInteger && columns.filter((column) => column.pk > 0).length === 1) return 'NULL';
      if (name === 'merchant_id' || (name === 'account_id' && !isUnique)) return cycle(merchants);
      if (name === 'product_id') return cycle(products);
      if (name === 'status' && states.length > 0) return cycle(states);
      if (/^(?:created|updated)_at$/.test(name)) return ':past - n';
      if (/_(?:at|until|through)$/.test(name)) return ':future + n';
      if (/^(?:livemode|version)$/.test(name)) return '1';
      if (/^is_/.test(name)) return '0';
      if (/(?:^|_)amount$/.test(name)) return 'CAST(n AS TEXT)';
      // What is parsed whenever its row is read.
      if (/^(?:terms|metadata|notification_prefs|merchant_settings|quarters|products|counts)$/.test(name)) return "'{}'";
      if (/^(?:accepted_assets|allowed_rails|previous_sealed|manifest|evaluation|refunds|access_revoked_at)$/.test(name)) return 'NULL';
      if (name === 'asset') return "'USDC'";
      if (isInteger) return 'n';
      return `${textOf(`${table}-${name}-`)} || n`;
    };
    const now = Date.now();
    const expressions = columns
      .map(expressionOf)
      .join(', ')
      .replaceAll(':product', cycle(products))
      .replaceAll(':past', String(now - 3_600_000))
      .replaceAll(':future', String(now + 30 * 86_400_000));
    statements.push(
      db.prepare(
        `INSERT INTO ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
          WITH RECURSIVE rows(n) AS (SELECT ${from} UNION ALL SELECT n + 1 FROM rows WHERE n < ${to}) SELECT ${expressions} FROM rows`,
      ),
    );
  }
  await db.batch(statements);
  return tables.results.map(({ name }) => name);
}
