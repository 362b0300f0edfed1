/** Tables read by key, which need no rowid tree. drizzle cannot express WITHOUT ROWID, so `npm run db:squash` adds it. */
export const WITHOUT_ROWID: readonly string[] = [
  'archived_subjects',
  'archived_types',
  'audit_archives',
  'audit_entries',
  'claims',
  'customers',
  'ended_deliveries',
  'endpoint_hours',
  'joined_accounts',
  'listing_words',
  'members',
  'memberships',
  'names',
  'settlements',
  'tx_claims',
  'webhook_deliveries',
];
