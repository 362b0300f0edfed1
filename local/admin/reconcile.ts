export interface ReconciledPage {
  payments_recredited: number;
  entitlements_compared: number;
  differing: object[];
  transactions_compared: number;
  unknown_payments: object[];
  failed: string[];
  next: string | null;
}

/**
 * `npm run admin -- reconcile`: asks page by page until all was compared, and prints what differed, a line of JSON each, and what it comes
 * to. False where something is left for a person, or for another run.
 */
export async function reconcileAll(
  request: (body: { since: string; after?: string }) => Promise<ReconciledPage>,
  since: string,
): Promise<boolean> {
  const all = { payments: 0, entitlements: 0, differing: 0, transactions: 0, unknown: 0, failed: 0 };
  for (let after: string | null = '0.'; after !== null; ) {
    const page: ReconciledPage = await request({ since, after });
    for (const one of page.differing) console.log(`differed: ${JSON.stringify(one)}`);
    for (const one of page.unknown_payments) console.log(`unknown payment: ${JSON.stringify(one)}`);
    for (const one of page.failed) console.log(`no response, run again: ${one}`);
    all.payments += page.payments_recredited;
    all.entitlements += page.entitlements_compared;
    all.differing += page.differing.length;
    all.transactions += page.transactions_compared;
    all.unknown += page.unknown_payments.length;
    all.failed += page.failed.length;
    after = page.next;
  }
  console.log(
    `${all.payments} payments sent to their objects; ${all.entitlements} entitlements compared, ${all.differing} differed; ` +
      `${all.transactions} transactions compared, ${all.unknown} payments unknown${all.failed > 0 ? `; ${all.failed} did not respond` : ''}`,
  );
  return all.unknown === 0 && all.failed === 0;
}
