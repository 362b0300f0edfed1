import { and, eq, isNull, lt } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import type { HandoffId, IdentitySessionId, PaymentId } from '../core/ids.ts';
import { vetoUnlessChanged, type Write } from '../db/commit.ts';
import { handoffs, identitySessions } from '../db/handoff.ts';

export type Handoff = typeof handoffs.$inferSelect;
export type IdentitySession = typeof identitySessions.$inferSelect;

/** Of any merchant: whoever asks has shown a token that names it. */
export const findHandoff = (db: Db, handoffId: HandoffId) => db.select().from(handoffs).where(eq(handoffs.id, handoffId)).get();

export const insertHandoff = (db: Db, handoff: Handoff): Write => db.insert(handoffs).values(handoff);

/** Statements, not effects: the second fails the batch where another payment was begun with it first. */
export const useHandoff = (ctx: Ctx, { id }: Handoff, paymentId: PaymentId): Write[] => [
  ctx.db
    .update(handoffs)
    .set({ paymentId })
    .where(and(eq(handoffs.id, id), isNull(handoffs.paymentId))),
  vetoUnlessChanged(ctx),
];

/** Of any merchant: the id itself is the capability. */
export const findIdentitySession = (db: Db, identitySessionId: IdentitySessionId) =>
  db.select().from(identitySessions).where(eq(identitySessions.id, identitySessionId)).get();

export const insertIdentitySession = (db: Db, session: IdentitySession): Write => db.insert(identitySessions).values(session);

/** Statements, not effects: the second fails the batch where somebody else was named for it first. */
export const completeIdentitySession = (ctx: Ctx, { id, providerUserId, username, completedAt }: IdentitySession): Write[] => [
  ctx.db
    .update(identitySessions)
    .set({ providerUserId, username, completedAt })
    .where(and(eq(identitySessions.id, id), isNull(identitySessions.providerUserId))),
  vetoUnlessChanged(ctx),
];

/** Forgets who was expected and who came, once no payment can begin with it any more. Answers how many rows. */
export async function deleteEnded(db: Db, before: number): Promise<number> {
  const [sent, met] = await db.batch([
    db.delete(handoffs).where(lt(handoffs.expiresAt, before)).returning({ id: handoffs.id }),
    db.delete(identitySessions).where(lt(identitySessions.expiresAt, before)).returning({ id: identitySessions.id }),
  ]);
  return sent.length + met.length;
}
