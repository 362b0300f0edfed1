/**
 * How the rows of each table belong to a partition. The mover copies these tables in this order. A table that is neither here nor in
 * `NOT_OWNED` fails a test.
 * @module
 */

import { getTableName } from 'drizzle-orm';
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core';
import { accounts, loginNonces, payoutWallets } from '../tables/accounts.ts';
import { archiveDrafts, archivedSales, archivedSubjects, archivedTypes, archiveOwners, archives } from '../tables/archives.ts';
import { audits } from '../tables/audits.ts';
import { cursors, paymentCandidates } from '../tables/candidates.ts';
import { endedSessions, handoffs, identitySessions, paymentSessions } from '../tables/checkout.ts';
import { buyerSellers, customers, entitlements } from '../tables/entitlements.ts';
import { acts } from '../tables/events.ts';
import { guard, idempotencyRecords } from '../tables/idempotency.ts';
import { apiKeys } from '../tables/keys.ts';
import { bouncedAddresses, mails } from '../tables/mail.ts';
import { memberships } from '../tables/memberships.ts';
import { analyticsCursors, analyticsDays, analyticsQuarters, analyticsTotals, endedDeliveries } from '../tables/office/analytics.ts';
import { auditArchives, auditEntries } from '../tables/office/audit-log.ts';
import { billingCustomers, processorEvents } from '../tables/office/billing.ts';
import { sellerDomains } from '../tables/office/domains.ts';
import { passkeys, recoveryCodes, totpSecrets } from '../tables/office/factors.ts';
import { listings, listingWords } from '../tables/office/listings.ts';
import { names } from '../tables/office/names.ts';
import { changedRows, held, moves } from '../tables/office/partitions.ts';
import { invitations, joinedAccounts, members, persons } from '../tables/office/people.ts';
import { communities, placements, platformChecks } from '../tables/office/placements.ts';
import { signInIdentities, usedSignInStates } from '../tables/office/sign-in.ts';
import { supportMessages, supportTickets } from '../tables/office/support.ts';
import { alarms, feePayerReadings, parkedMessages, sweeps, switchedOff } from '../tables/operations.ts';
import { payments, refunds, unmatchedPayments } from '../tables/payments.ts';
import { activations } from '../tables/plans.ts';
import { accessApps, products } from '../tables/products.ts';
import { railSettings } from '../tables/rails.ts';
import { brandLogos, buyerDetails, receiptMetadata, receiptNames, receipts } from '../tables/receipts.ts';
import { sandboxAccounts, sandboxSessions, sandboxTransactions } from '../tables/sandbox.ts';
import { channelPayouts, meteredSessions, settlements } from '../tables/settlements.ts';
import { setupIntents } from '../tables/setups.ts';
import { subscriptionAuthorizations, subscriptionCollections } from '../tables/subscriptions/authorizations.ts';
import { subscriptionPlans } from '../tables/subscriptions/plans.ts';
import { txClaims } from '../tables/tx-claims.ts';
import { endpointHours, webhookDeliveries, webhookEndpoints } from '../tables/webhooks.ts';
import { WITHOUT_ROWID } from './without-rowid.ts';

/** SQL of the partition of a row, three hex digits. `row`: alias of the table, `new` or `old`. */
type PartitionSql = (row: string) => string;

export interface OwnedTable {
  name: string;
  columns: readonly SQLiteColumn[];
  /** Columns by which a row is found in both databases. */
  key: readonly SQLiteColumn[];
  hasRowid: boolean;
  partition: PartitionSql;
  /** Columns that the target computes, because their value counts within one database. The SQL reads the row by `value(column)`. */
  computed: Readonly<Record<string, ((value: (column: SQLiteColumn) => string) => string) | null>>;
  /** True for a table with rows that no statement updates, so that a move creates and drops one trigger less. */
  isNeverUpdated?: true;
  /** SQL condition of rows that are copied with every partition, and not deleted. */
  shared?: PartitionSql;
  /** Statement of the trigger of an insertion, for rows that the insertion changes in the target. */
  alsoChanged?: string;
}

export const isBlob = (column: SQLiteColumn): boolean => column.getSQLType() === 'blob';

/** SQL of a value as JSON can hold it. A column of bytes may contain text that SQL wrote. */
export const encoded = (column: SQLiteColumn, row: string): string => {
  const value = `${row}.${column.name}`;
  return isBlob(column) ? `CASE typeof(${value}) WHEN 'blob' THEN 'x' || hex(${value}) ELSE 't' || ${value} END` : value;
};

/** SQL of a key as JSON text. */
export const keyText = (key: readonly SQLiteColumn[], row: string): string =>
  `json_array(${key.map((column) => encoded(column, row)).join(', ')})`;

/** Partition in a UUID: its text, or its 16 bytes. */
const inColumn =
  (column: SQLiteColumn): PartitionSql =>
  (row) =>
    isBlob(column) ? `lower(substr(hex(${row}.${column.name}), 18, 3))` : `substr(${row}.${column.name}, 21, 3)`;

function owned(
  table: SQLiteTable,
  by: SQLiteColumn | PartitionSql,
  options: Partial<Omit<OwnedTable, 'name' | 'partition'>> = {},
): OwnedTable {
  const { columns, primaryKeys } = getTableConfig(table);
  const [composite] = primaryKeys;
  const name = getTableName(table);
  return {
    name,
    columns,
    key: composite?.columns ?? columns.filter(({ primary }) => primary),
    hasRowid: !WITHOUT_ROWID.includes(name),
    partition: typeof by === 'function' ? by : inColumn(by),
    computed: {},
    ...options,
  };
}

/** Records of an account begin with its id. Those of a caller without one may be of any partition, and expire. */
const HAS_ACCOUNT = (row: string) => `substr(${row}.scope, 37, 1) = ':' AND substr(${row}.scope, 15, 1) = '7'`;

const rowNumberOf = (value: (column: SQLiteColumn) => string): string => {
  const id = value(receiptMetadata.receiptId);
  const archived = isBlob(receiptMetadata.receiptId) ? id : `unhex(replace(${id}, '-', ''))`;
  return `coalesce((SELECT rowid FROM receipts WHERE id = ${id}), (SELECT row_number FROM archived_sales WHERE receipt_id = ${archived}))`;
};

const partitionOfLog =
  (merchantId: SQLiteColumn): PartitionSql =>
  (row) =>
    `iif(substr(hex(${row}.merchant_id), 13, 1) = '7', ${inColumn(merchantId)(row)}, NULL)`;

/** A used link of a person names the account after its kind: `not-me:<account id>:…`. Other states are of no partition. */
const partitionOfState: PartitionSql = (row) => `iif(${row}.id GLOB 'not-me:*', substr(${row}.id, 28, 3), NULL)`;

export const OWNED: readonly OwnedTable[] = [
  owned(accounts, accounts.id),
  owned(persons, persons.id),
  owned(members, members.accountId),
  owned(invitations, invitations.accountId),
  owned(joinedAccounts, joinedAccounts.personId),
  owned(payoutWallets, payoutWallets.merchantId),
  owned(apiKeys, apiKeys.merchantId),
  owned(signInIdentities, signInIdentities.accountId),
  // The first database holds the states of no partition.
  owned(usedSignInStates, partitionOfState, { isNeverUpdated: true }),
  owned(passkeys, passkeys.personId),
  owned(totpSecrets, totpSecrets.personId),
  owned(recoveryCodes, recoveryCodes.personId, { isNeverUpdated: true }),
  owned(setupIntents, setupIntents.accountId),
  owned(activations, activations.accountId, { isNeverUpdated: true }),
  owned(billingCustomers, billingCustomers.accountId),
  owned(processorEvents, processorEvents.accountId, { isNeverUpdated: true }),
  owned(sellerDomains, sellerDomains.merchantId),
  owned(railSettings, railSettings.merchantId),
  owned(brandLogos, brandLogos.merchantId),
  owned(accessApps, accessApps.id),
  owned(products, products.id),
  owned(switchedOff, (row) => `iif(${row}.subject LIKE 'product:%', substr(${row}.subject, 29, 3), NULL)`, { isNeverUpdated: true }),
  owned(listings, listings.id),
  owned(listingWords, listingWords.listingId, { isNeverUpdated: true }),
  owned(acts, acts.merchantId),
  owned(payments, payments.id),
  owned(unmatchedPayments, unmatchedPayments.id),
  owned(refunds, refunds.id),
  owned(paymentCandidates, paymentCandidates.paymentId, { key: [paymentCandidates.paymentId, paymentCandidates.txSignature] }),
  owned(paymentSessions, paymentSessions.id),
  owned(handoffs, handoffs.id),
  owned(identitySessions, identitySessions.id),
  owned(endedSessions, endedSessions.id, { isNeverUpdated: true }),
  owned(settlements, settlements.paymentId),
  owned(meteredSessions, meteredSessions.merchantId),
  owned(channelPayouts, channelPayouts.paymentId, { isNeverUpdated: true }),
  owned(txClaims, txClaims.subjectId),
  owned(memberships, memberships.id),
  owned(placements, placements.membershipId),
  owned(entitlements, entitlements.merchantId),
  owned(customers, customers.id),
  owned(buyerSellers, buyerSellers.merchantId, { isNeverUpdated: true }),
  owned(subscriptionPlans, subscriptionPlans.merchantId),
  owned(subscriptionAuthorizations, subscriptionAuthorizations.merchantId),
  owned(subscriptionCollections, subscriptionCollections.paymentId),
  owned(archives, archives.merchantId),
  owned(archivedTypes, archivedTypes.merchantId, { isNeverUpdated: true }),
  owned(archivedSubjects, (row) => `(SELECT ${inColumn(archives.merchantId)('a')} FROM archives a WHERE a.id = ${row}.archive_id)`, {
    isNeverUpdated: true,
  }),
  owned(archiveOwners, archiveOwners.merchantId, { isNeverUpdated: true }),
  owned(receiptNames, receiptNames.merchantId, {
    key: [receiptNames.merchantId, receiptNames.livemode, receiptNames.name, receiptNames.productId],
    // The database numbers them, for its full-text index.
    computed: { id: null },
    isNeverUpdated: true,
  }),
  owned(receipts, receipts.id),
  owned(archivedSales, archivedSales.paymentId, {
    key: [archivedSales.paymentId],
    // Below all numbers of receipts in the database, so that no receipt gets one of them.
    computed: { row_number: () => '(SELECT min(0, coalesce(min(row_number), 0)) FROM archived_sales) - 1 - j.key' },
    alsoChanged: `INSERT INTO changed_rows(changed_table, key) SELECT 'receipt_metadata', ${keyText([receiptMetadata.receiptId], 'm')} FROM receipt_metadata m WHERE m.row_number = new.row_number`,
  }),
  owned(buyerDetails, buyerDetails.merchantId, { isNeverUpdated: true }),
  owned(receiptMetadata, receiptMetadata.receiptId, { computed: { row_number: rowNumberOf } }),
  owned(webhookEndpoints, webhookEndpoints.id),
  owned(webhookDeliveries, webhookDeliveries.merchantId),
  owned(endpointHours, endpointHours.merchantId),
  owned(analyticsDays, analyticsDays.merchantId),
  owned(analyticsQuarters, analyticsQuarters.merchantId),
  owned(analyticsTotals, analyticsTotals.merchantId),
  owned(endedDeliveries, endedDeliveries.merchantId),
  owned(sandboxSessions, sandboxSessions.id),
  owned(sandboxTransactions, sandboxTransactions.merchantId),
  owned(sandboxAccounts, sandboxAccounts.merchantId),
  owned(supportTickets, supportTickets.id),
  owned(supportMessages, supportMessages.ticketId),
  owned(mails, mails.id),
  // The log of the service is of no partition: the first database holds it.
  owned(auditEntries, partitionOfLog(auditEntries.merchantId)),
  owned(auditArchives, partitionOfLog(auditArchives.merchantId)),
  owned(idempotencyRecords, (row) => `iif(${HAS_ACCOUNT(row)}, substr(${row}.scope, 21, 3), NULL)`, {
    shared: (row) => `NOT (${HAS_ACCOUNT(row)})`,
  }),
];

/** Tables with rows of no partition, and the database that has them. A move leaves them alone. */
export const NOT_OWNED: readonly { where: string; tables: readonly SQLiteTable[] }[] = [
  { where: 'the directory', tables: [names, moves] },
  {
    where: 'the first database, for the deployment',
    tables: [alarms, communities, feePayerReadings, loginNonces, parkedMessages, platformChecks],
  },
  { where: 'every database, alike', tables: [bouncedAddresses] },
  {
    where: 'each database, for its own work',
    tables: [analyticsCursors, archiveDrafts, audits, changedRows, cursors, guard, held, sweeps],
  },
];
