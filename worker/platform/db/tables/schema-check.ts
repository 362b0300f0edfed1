import { getTableName, is, sql } from 'drizzle-orm';
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { remembered } from '#core/isolate/memory.ts';
import { SECOND } from '#core/time.ts';
import type { Db } from '#platform/context.ts';
import * as accounts from './accounts.ts';
import * as archives from './archives.ts';
import * as audits from './audits.ts';
import * as candidates from './candidates.ts';
import * as checkout from './checkout.ts';
import * as entitlements from './entitlements.ts';
import * as events from './events.ts';
import * as idempotency from './idempotency.ts';
import * as keys from './keys.ts';
import * as mail from './mail.ts';
import * as memberships from './memberships.ts';
import * as analytics from './office/analytics.ts';
import * as billing from './office/billing.ts';
import * as factors from './office/factors.ts';
import * as listings from './office/listings.ts';
import * as names from './office/names.ts';
import * as partitions from './office/partitions.ts';
import * as people from './office/people.ts';
import * as placements from './office/placements.ts';
import * as signIn from './office/sign-in.ts';
import * as support from './office/support.ts';
import * as operations from './operations.ts';
import * as payments from './payments.ts';
import * as plans from './plans.ts';
import * as products from './products.ts';
import * as rails from './rails.ts';
import * as receipts from './receipts.ts';
import * as sandbox from './sandbox.ts';
import * as metered from './settlements.ts';
import * as settlements from './settlements.ts';
import * as setups from './setups.ts';
import * as txClaims from './tx-claims.ts';
import * as webhooks from './webhooks.ts';

const TABLES = [
  accounts,
  archives,
  audits,
  billing,
  candidates,
  checkout,
  entitlements,
  events,
  factors,
  analytics,
  idempotency,
  keys,
  listings,
  mail,
  memberships,
  metered,
  names,
  operations,
  partitions,
  payments,
  people,
  placements,
  plans,
  products,
  rails,
  receipts,
  sandbox,
  settlements,
  setups,
  signIn,
  support,
  txClaims,
  webhooks,
].flatMap((module) => Object.values(module).filter((value) => is(value, SQLiteTable))) as SQLiteTable[];

export const wantedColumns = (): string[] =>
  TABLES.flatMap((table) => getTableConfig(table).columns.map(({ name }) => `${getTableName(table)}.${name}`));

/** Lists columns of this release that the database lacks because migrations are missing. Form `table.column`. */
export async function listMissingColumns(db: Db): Promise<string[]> {
  // Restricted to our tables, because the platform's internal tables must not be read.
  const tables = JSON.stringify(TABLES.map(getTableName));
  const rows = await db.all<{ name: string }>(
    sql`SELECT t.value || '.' || c.name AS name FROM json_each(${tables}) t, pragma_table_info(t.value) c`,
  );
  const present = new Set(rows.map(({ name }) => name));
  return wantedColumns().filter((name) => !present.has(name));
}

/** Minimum interval between two checks of a database while migrations are missing. */
const POLL_EVERY_MS = 5 * SECOND;

/** Once complete, a schema remains complete for the isolate, because migrations only add. */
const schemas = remembered(() => ({ known: {} as Record<string, { missing: string[]; checkedAt: number }> }));

/** Lists missing columns. While any is missing, checked again every few seconds. A failed read proves nothing, and lists none. */
export async function listKnownMissing(name: string, db: Db, now: number, note: (reason: string) => void): Promise<string[]> {
  const known = schemas.known[name];
  if (known && (known.missing.length === 0 || now < known.checkedAt + POLL_EVERY_MS)) return known.missing;
  try {
    const missing = await listMissingColumns(db);
    schemas.known[name] = { missing, checkedAt: now };
    return missing;
  } catch (error) {
    note(`schema of ${name}: ${formatErrorChain(error)}`);
    return [];
  }
}

export const isKnownSchema = (name: string): boolean => schemas.known[name]?.missing.length === 0;

/** Throws 503 misconfigured while a database lacks columns of this release. */
export async function requireSchema(name: string, db: Db, now: number): Promise<void> {
  const missing = await listKnownMissing(name, db, now, () => {});
  if (missing.length > 0) throw new ApiError('misconfigured', { retryAfterSeconds: 30 });
}
