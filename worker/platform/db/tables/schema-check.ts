import { getTableName, is, sql } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import type { Db } from '#platform/context.ts';
import * as access from './access.ts';
import * as archives from './archives.ts';
import * as audits from './audits.ts';
import * as candidates from './candidates.ts';
import * as commerce from './commerce.ts';
import * as handoff from './handoff.ts';
import * as identity from './identity.ts';
import * as messaging from './messaging.ts';
import * as operations from './operations.ts';
import * as sessions from './sessions.ts';
import * as txClaims from './tx-claims.ts';

const TABLES = [access, archives, audits, candidates, commerce, handoff, identity, messaging, operations, sessions, txClaims].flatMap(
  (module) => Object.values(module).filter((value) => is(value, SQLiteTable)),
) as SQLiteTable[];

/** As `table.column`. */
export const wantedColumns = (): string[] =>
  TABLES.flatMap((table) => getTableConfig(table).columns.map(({ name }) => `${getTableName(table)}.${name}`));

/** Columns this release reads and writes that the database does not have: its migrations were not applied. As `table.column`. */
export async function listMissingColumns(db: Db): Promise<string[]> {
  // Tables of the platform's own beside ours may not be looked at.
  const tables = JSON.stringify(TABLES.map(getTableName));
  const rows = await db.all<{ name: string }>(
    sql`SELECT t.value || '.' || c.name AS name FROM json_each(${tables}) t, pragma_table_info(t.value) c`,
  );
  const present = new Set(rows.map(({ name }) => name));
  return wantedColumns().filter((name) => !present.has(name));
}
