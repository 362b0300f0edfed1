import { and, desc, eq, getTableColumns, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { AccountId, MailId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { decodeId } from '#platform/db/tables/columns.ts';
import { bouncedAddresses, MAIL_DUE_AT, type Mail, mails } from '#platform/db/tables/mail.ts';
import { switchedOff } from '#platform/db/tables/operations.ts';

export interface MailCount {
  templates: Mail['template'][];
  addressKeys?: readonly string[];
  accountId?: AccountId;
  subjectId?: string;
  /** Counts only emails with the flag `is_to_stranger` in their facts. */
  isToStranger?: true;
  /** Counts only security alerts about this change. */
  change?: string;
  since: number;
}

const isCounted = ({ templates, addressKeys, accountId, subjectId, isToStranger, change, since }: MailCount): SQL =>
  and(
    inArray(mails.template, templates),
    addressKeys ? inArray(mails.addressKey, [...addressKeys]) : undefined,
    accountId ? eq(mails.accountId, accountId) : undefined,
    subjectId ? eq(mails.subjectId, subjectId) : undefined,
    isToStranger ? sql`${mails.facts} ->> '$.is_to_stranger' = 1` : undefined,
    change ? sql`${mails.facts} ->> '$.change' = ${change}` : undefined,
    sql`${mails.createdAt} > ${since}`,
  )!;

export async function getMailCount(db: Db, counted: MailCount): Promise<{ count: number; oldestAt: number | null }> {
  const found = await db
    .select({ count: sql<number>`count(*)`, oldestAt: sql<number | null>`min(${mails.createdAt})` })
    .from(mails)
    .where(isCounted(counted))
    .get();
  return found ?? { count: 0, oldestAt: null };
}

export const abortIfMailsAbove = (ctx: Shard, counted: MailCount, max: number): Write =>
  abortIf(ctx, sql`(SELECT count(*) FROM ${mails} WHERE ${isCounted(counted)}) >= ${max}`);

/** Removes emails from the counts of their addresses. */
export const uncountMails = (db: Db, counted: MailCount): Write => db.update(mails).set({ addressKey: null }).where(isCounted(counted));

/** Inserts an email unless one with its cause exists or the `unless` limit is met. */
export function insertMail({ db }: Pick<Shard, 'db'>, mail: Mail, unless?: { counted: MailCount; max: number }): Write {
  const values = sql.join(
    Object.entries(getTableColumns(mails)).map(([name, column]) => sql`${sql.param(mail[name as keyof Mail], column)}`),
    sql`, `,
  );
  const isFull = unless ? sql`(SELECT count(*) FROM ${mails} WHERE ${isCounted(unless.counted)}) >= ${unless.max}` : sql`false`;
  return db.insert(mails).select(sql`SELECT ${values} WHERE NOT ${isFull}`).onConflictDoNothing();
}

const isDue = (now: number) => and(lte(mails.nextAttemptAt, now), lte(mails.leaseUntil, now));

interface MailPace {
  max: number;
  perSecond: number;
  patienceMs: number;
}

/** Claims due emails without a pending message, longest due first, each with its send second from now. */
export async function takeDueMails(db: Db, now: number, { max, perSecond, patienceMs }: MailPace) {
  const second = sql`(row_number() OVER (ORDER BY ${MAIL_DUE_AT}) - 1) / CAST(${perSecond} AS INTEGER)`;
  const due = sql`SELECT rowid AS due_row, ${second} AS second FROM mails
    WHERE next_attempt_at IS NOT NULL AND ${MAIL_DUE_AT} <= ${now} AND lease_until <= ${now} ORDER BY ${MAIL_DUE_AT} LIMIT ${max}`;
  const taken = await db.all<{
    id: ArrayLike<number>;
    second: number;
  }>(sql`UPDATE mails SET queued_until = ${now + patienceMs} + due.second * 1000
    FROM (${due}) AS due WHERE mails.rowid = due.due_row RETURNING id, (queued_until - ${now + patienceMs}) / 1000 AS second`);
  return taken.map((mail) => ({ ...mail, id: decodeId(mail.id) as MailId }));
}

/** Leases a due email for one attempt. Returns undefined if the email is not due or leased already. */
export const leaseMail = (db: Db, mailId: MailId, now: number, leaseUntil: number) =>
  db
    .update(mails)
    .set({ leaseUntil, attempt: sql`attempt + 1` })
    .where(and(eq(mails.id, mailId), eq(mails.status, 'waiting'), isDue(now)))
    .returning()
    .get();

export const finishAttempt = (db: Db, { id, leaseUntil }: Pick<Mail, 'id' | 'leaseUntil'>, values: Partial<Mail>) =>
  db
    .update(mails)
    .set({ ...values, leaseUntil: 0, queuedUntil: 0 })
    .where(and(eq(mails.id, id), eq(mails.leaseUntil, leaseUntil), eq(mails.status, 'waiting')));

/** Account of the newest email that was sent to an address since a time, among templates. */
export const findSenderTo = (db: Db, addressKeys: readonly string[], templates: Mail['template'][], since: number) =>
  db
    .select({ accountId: mails.accountId, createdAt: mails.createdAt })
    .from(mails)
    .where(and(isCounted({ templates, addressKeys, since }), eq(mails.status, 'sent')))
    .orderBy(desc(mails.createdAt))
    .limit(1)
    .get();

export const forgetMail = (db: Db, { id, leaseUntil }: Pick<Mail, 'id' | 'leaseUntil'>) =>
  db.delete(mails).where(and(eq(mails.id, id), eq(mails.leaseUntil, leaseUntil)));

/** Erases personal data in an account's emails and drops pending ones. */
export const dropMailsOf = ({ db, wallNow }: Shard, accountId: AccountId, max: number): Write =>
  db
    .update(mails)
    .set({
      status: sql`CASE WHEN status = 'waiting' THEN 'dropped' ELSE status END`,
      endedAt: sql`coalesce(ended_at, ${wallNow})`,
      nextAttemptAt: null,
      address: null,
      facts: {},
    })
    .where(
      sql`rowid IN (SELECT rowid FROM mails WHERE account_id = ${boundId(accountId)} AND (status = 'waiting' OR address IS NOT NULL OR facts <> '{}') LIMIT ${max})`,
    );

export const isBouncedAddress = async (db: Db, addressKeys: readonly string[], reasons: BounceReason[]): Promise<boolean> =>
  (await db
    .select({ one: sql`1` })
    .from(bouncedAddresses)
    .where(and(inArray(bouncedAddresses.addressKey, [...addressKeys]), inArray(bouncedAddresses.reason, reasons)))
    .get()) !== undefined;

export type BounceReason = 'bounced' | 'complained';

export const findBounce = async (db: Db, addressKeys: readonly string[]): Promise<BounceReason | null> =>
  (
    await db
      .select({ reason: bouncedAddresses.reason })
      .from(bouncedAddresses)
      .where(inArray(bouncedAddresses.addressKey, [...addressKeys]))
      .orderBy(bouncedAddresses.reason)
      .get()
  )?.reason ?? null;

/** Stores a bounce. A complaint may become a bounce later, but not the reverse. */
export const rememberBounce = (db: Db, addressKey: string, reason: BounceReason, bouncedAt: number) => {
  const upsert = db.insert(bouncedAddresses).values({ addressKey, reason, bouncedAt });
  return reason === 'complained'
    ? upsert.onConflictDoNothing()
    : upsert.onConflictDoUpdate({ target: bouncedAddresses.addressKey, set: { reason, bouncedAt }, setWhere: sql`reason = 'complained'` });
};

export const forgetBounce = (db: Db, addressKeys: readonly string[]) =>
  db.delete(bouncedAddresses).where(inArray(bouncedAddresses.addressKey, [...addressKeys]));

export const MAIL_SWITCH = 'mail';
export const isMailOff = async (db: Db): Promise<boolean> =>
  (await db.select().from(switchedOff).where(eq(switchedOff.subject, MAIL_SWITCH)).get()) !== undefined;

/** Lists the newest emails, for a local machine. */
export const listNewestMails = (db: Db, limit: number) => db.select().from(mails).orderBy(sql`rowid DESC`).limit(limit);
