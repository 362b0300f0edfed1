import { Buyer } from '../world/actors/buyer.ts';
import { Owner } from '../world/actors/owner.ts';
import type { PlantedFault } from './planted-fault.ts';

/** Faults of what is paid, and of what the books say of it. */
export const PAYMENT_FAULTS: readonly PlantedFault[] = [
  {
    name: 'confirm-without-lock',
    breaks: 'Two confirmations of one session are both stored, because neither takes its lock.',
    mutations: [
      {
        find: 'ctx.db.batch([insertActs(ctx, acts2), ...writes])',
        replace: 'ctx.db.batch([insertActs(ctx, acts2).onConflictDoNothing(), ...writes])',
      },
      {
        find: 'where(and(isRow(table2, before), eq(table2.version, before.version), provided))',
        replace: 'where(and(isRow(table2, before), provided))',
      },
      {
        find: 'insertMembership = (db, membership2) => db.insert(memberships).values(membership2);',
        replace: 'insertMembership = (db, membership2) => db.insert(memberships).values(membership2).onConflictDoNothing();',
      },
      // A payment has one receipt and one membership. Each alone would refuse the second confirmation.
      {
        find: ' + 1`, afterSeq });',
        replace: ' + 1`, afterSeq }).onConflictDoNothing();',
      },
    ],
    roles: [Buyer],
    finding: /receipts of .* (are|list)|neither booked nor unmatched|receipt \S+ names/,
  },
  {
    name: 'amount-off-by-one',
    breaks: 'A payment that is short by one base unit counts as paid.',
    mutations: [{ find: 'if (paid < expected.priceUnits) return', replace: 'if (paid + 1n < expected.priceUnits) return' }],
    finding: /confirmed without a payment in full|brought \d+, the books say/,
  },
  {
    name: 'grace-ignored',
    breaks: 'Money that lands within the grace after a session does not confirm it.',
    mutations: [
      { find: 'Math.floor(payment2.expiresAt / SECOND) + payment2.lateGraceSeconds', replace: 'Math.floor(payment2.expiresAt / SECOND)' },
    ],
    finding: /was paid in full and on time, and is/,
  },
  {
    name: 'price-of-today',
    breaks: 'A session is confirmed by the present price of its product, not by the price that it promised.',
    mutations: [
      {
        find: 'db.select({ payment: payments, merchantName: accounts.displayName, requiresIdentity: products.requiresIdentity }).from(payments)',
        replace:
          'db.select({ payment: payments, priceNow: products.priceAmount, merchantName: accounts.displayName, requiresIdentity: products.requiresIdentity }).from(payments)',
      },
      {
        find: 'memberships: ofBuyer.map(',
        replace: 'memberships: (found.payment.priceAmount = found.priceNow, ofBuyer).map(',
      },
    ],
    finding: /confirmed without a payment in full|was paid in full and on time, and is|the books say/,
  },
  {
    name: 'refund-counted-twice',
    breaks: 'A refund is recorded again at each report of its transaction.',
    mutations: [
      { find: 'if (hasRefund(payment2, txSignature)) return payment2;', replace: '' },
      {
        find: 'if (hasRefund(payment2, transaction.signature)) return unchangedWithAnswer(payment2, storeAnswer2);\n      if (refund2.seenAt !== null)',
        replace: 'if (false)',
      },
      {
        find: '...storeSeenRefund(ctx, seen2, transaction.slot),\n        ...change.writes',
        replace: '...(refund2.seenAt === null ? storeSeenRefund(ctx, seen2, transaction.slot) : []),\n        ...change.writes',
      },
    ],
    roles: [Buyer, Owner],
    finding: /refund \w+ is recorded twice|gave back/,
  },
  {
    name: 'refund-missing-in-totals',
    breaks: 'The totals of a shop leave out what it refunded.',
    mutations: [{ find: 'refundedUnits: refundedOf(payment2.refunded),', replace: 'refundedUnits: 0n,' }],
    finding: /went back, the refunds add up to/,
  },
  {
    name: 'event-outside-batch',
    breaks: 'A change and its event are stored by two batches, and a crash between them loses the event.',
    mutations: [
      {
        find: 'const [stored] = await ctx.db.batch([insertActs(ctx, acts2), ...writes]);',
        replace: 'if (writes.length > 0) await ctx.db.batch(writes);\n      const stored = await insertActs(ctx, acts2);',
      },
    ],
    finding: /summary of .* (says|counts)|never reached endpoint|goes? on failing|gave nobody units/,
  },
  {
    name: 'fork-overlooked',
    breaks: 'A payment stays confirmed after the chain dropped its transaction.',
    mutations: [
      {
        find: 'onDropped: (ctx, paymentId2, step) => orphanPayment(ctx, paymentId2, step),',
        replace: 'onDropped: (ctx, paymentId2, step) => storeStep(ctx, step),',
      },
    ],
    finding: /which paid .* nothing|brought nothing/,
  },
  {
    name: 'receipt-number-skipped',
    breaks: 'A receipt takes a place of its chain that does not follow the one before.',
    mutations: [{ find: ' + 1`, afterSeq });', replace: ' + 2`, afterSeq });' }],
    finding: /has place \d+ of the chain/,
  },
];
