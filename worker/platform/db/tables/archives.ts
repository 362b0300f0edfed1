import { blob, index, integer, primaryKey, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import type { AccountId } from '#core/ids.ts';
import { flag } from './columns.ts';

/**
 * Objects of the archive, which hold what the database no longer does: each a run of a merchant's events of one day, in their order,
 * and the receipts among them. Made by the sweep alone, in the batch that takes the events out, and never ended. A merchant's objects
 * are numbered in the order of their events.
 */
export const archives = sqliteTable(
  'archives',
  {
    id: integer('id').primaryKey({ autoIncrement: true }),
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    /** The object's name, of which a hash of what is in it and the run that wrote it are parts: no other run ever writes under it. */
    key: text('key').notNull(),
    /** The lowest and the highest of its events' ids, which begin with their time. */
    firstEventId: text('first_event_id').notNull(),
    lastEventId: text('last_event_id').notNull(),
  },
  (table) => [index('archives_by_event').on(table.merchantId, table.livemode, table.lastEventId)],
);

/**
 * Objects that are being written, and are not in `archives` yet. The row ends in the batch that puts the object there; of a run that died
 * before that, the sweep gives it up after an hour, and deletes first the object and then the row.
 */
export const archiveDrafts = sqliteTable(
  'archive_drafts',
  {
    key: text('key').primaryKey(),
    begunAt: integer('begun_at').notNull(),
    isGivenUp: flag('is_given_up').notNull().default(false),
  },
  (table) => [index('archive_drafts_by_age').on(table.begunAt)],
);

/** How many events of a type an object holds, and of all types under `ANY_TYPE`: what lists count and page by. */
export const archivedTypes = sqliteTable(
  'archived_types',
  {
    merchantId: text('merchant_id').$type<AccountId>().notNull(),
    livemode: flag('livemode').notNull(),
    type: text('type').notNull(),
    archiveId: integer('archive_id').notNull(),
    events: integer('events').notNull(),
  },
  (table) => [primaryKey({ columns: [table.merchantId, table.livemode, table.type, table.archiveId] })],
);

/** Which objects hold events of a payment or membership: where its timeline is read from. */
export const archivedStories = sqliteTable(
  'archived_stories',
  {
    /** The 16 bytes of its id. */
    storyId: blob('story_id').notNull(),
    archiveId: integer('archive_id').notNull(),
  },
  (table) => [primaryKey({ columns: [table.storyId, table.archiveId] })],
);

export const ANY_TYPE = '*';
