import { and, asc, desc, eq, gt, lte, type SQL, sql } from 'drizzle-orm';
import type { AccountId, TicketId, TicketMessageId } from '#core/ids.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { readEach } from '#platform/db/each-database.ts';
import { listPage, newestFirst, type PageRequest, rowsOf } from '#platform/db/page.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { persons } from '#platform/db/tables/office/people.ts';
import { supportMessages, supportTickets, type Ticket, type TicketMessage } from '#platform/db/tables/office/support.ts';
import { casUpdate, commitMany, type RowStep } from '#platform/db/versioned.ts';
import type { TicketStatus } from '#rules/states.ts';

const REACHABLE = sql`status = 'active' AND email_verified = 1 AND email IS NOT NULL`;

export async function listReachableStaff(db: Db, limit: number): Promise<AccountId[]> {
  const isStaff = and(sql`is_staff = 1 AND owner_id = accounts.id`, REACHABLE);
  return (
    await db
      .select({ id: persons.id })
      .from(persons)
      .innerJoin(accounts, eq(accounts.id, persons.id))
      .where(isStaff)
      .orderBy(asc(persons.id))
      .limit(limit)
  ).map(({ id }) => id);
}

export const findTicket = (db: Db, ticketId: TicketId) => db.select().from(supportTickets).where(eq(supportTickets.id, ticketId)).get();

/** Lists a thread's last messages, optionally before one of them, newest first. Returns none if `before` is not in the thread. */
export function listMessages(db: Db, ticketId: TicketId, before: TicketMessageId | null, limit: number): Promise<TicketMessage[]> {
  const isBefore = sql`(created_at, rowid) < (SELECT b.created_at, b.rowid FROM support_messages b WHERE b.id = ${boundId(before)} AND b.ticket_id = ${boundId(ticketId)})`;
  return db
    .select()
    .from(supportMessages)
    .where(and(eq(supportMessages.ticketId, ticketId), before === null ? undefined : isBefore))
    .orderBy(desc(supportMessages.createdAt), sql`rowid DESC`)
    .limit(limit);
}

export const listTickets = (scope: Scope, status: TicketStatus | undefined, page: PageRequest) =>
  listPage(
    scope.db,
    supportTickets,
    rowsOf(supportTickets, scope, [[supportTickets.status, status]]),
    newestFirst(supportTickets.lastMessageAt),
    page,
  );

/** Lists the tickets of all merchants in this mode, across databases. */
export async function listAllTickets(ctx: Scope, status: TicketStatus | undefined, page: PageRequest) {
  const isAsked = and(eq(supportTickets.livemode, ctx.livemode), status === undefined ? undefined : eq(supportTickets.status, status))!;
  const order = newestFirst(supportTickets.lastMessageAt);
  if (ctx.databases.length === 1) return listPage(ctx.db, supportTickets, isAsked, order, page);
  // Merging requires all rows up to the page's end from each database.
  const upToIt = { ...page, offset: 0, perPage: page.offset + page.perPage };
  const { found } = await readEach(ctx, ({ db }) => listPage(db, supportTickets, isAsked, order, upToIt));
  const items = found.flatMap(({ items }) => items).sort((one, other) => other.lastMessageAt - one.lastMessageAt);
  const total = found.reduce((sum, { total }) => sum + total, 0);
  return { items: items.slice(page.offset, upToIt.perPage), total };
}

export async function getOpenTicketCount(scope: Scope): Promise<number> {
  return scope.db.$count(supportTickets, and(rowsOf(supportTickets, scope), sql`${supportTickets.status} IN ('open', 'pending')`));
}

export const insertTicket = (db: Db, ticket: Ticket): Write => db.insert(supportTickets).values(ticket);

export const updateTicket = (ctx: Shard, before: Ticket, after: Ticket): Write[] => casUpdate(ctx, supportTickets, before, after);

const since = (authorId: string, after: number): SQL => and(eq(supportMessages.authorId, authorId), gt(supportMessages.writtenAt, after))!;

/** Plans a message. Aborts if its author wrote `max` messages after `limit.after`. */
export const insertMessage = (ctx: Shard, message: TicketMessage, limit: { after: number; max: number }): Write[] => [
  abortIf(ctx, sql`(SELECT count(*) FROM support_messages WHERE ${since(message.authorId, limit.after)}) >= ${limit.max}`),
  ctx.db.insert(supportMessages).values(message),
];

export const listWritten = (db: Db, authorId: string, after: number) =>
  db.select({ at: supportMessages.writtenAt }).from(supportMessages).where(since(authorId, after)).orderBy(asc(supportMessages.writtenAt));

/** SQL condition for the context's clock: one sandbox session's rows, or rows of none. Repeats the index's expression literally. */
const ofClock = ({ sandbox }: Pick<Shard, 'sandbox'>): SQL =>
  sandbox === null || sandbox.sessionId === null
    ? sql`sandbox_session_id IS NULL`
    : sql`sandbox_session_id = ${boundId(sandbox.sessionId)}`;

/** Returns the time of the last message on the session's next resolved ticket to close, epoch ms. Null: none. */
export async function findQuietSince(ctx: Shard): Promise<number | null> {
  const [row] = await ctx.db.all<{ at: number | null }>(
    sql`SELECT min(updated_at) AS at FROM support_tickets WHERE status = 'resolved' AND ${ofClock(ctx)}`,
  );
  return row?.at ?? null;
}

/** Lists resolved tickets without activity since `before`, the quietest first. */
export const listSilent = (ctx: Shard, before: number, limit: number): Promise<Ticket[]> =>
  ctx.db
    .select()
    .from(supportTickets)
    .where(and(sql`status = 'resolved'`, ofClock(ctx), lte(supportTickets.updatedAt, before)))
    .orderBy(asc(supportTickets.updatedAt))
    .limit(limit);

/** Moves tickets in one batch. Tickets changed since they were read are left unchanged. */
export const moveTogether = (ctx: Shard, steps: RowStep<{ status: string; updatedAt: number }>[]): Promise<void> =>
  commitMany(ctx, supportTickets, steps);
