import { isSvcError } from '@paylatch/sdk';
import { client, PRODUCT } from './svc';

interface Member {
  version: number;
  /** Time in milliseconds. 0 without access. */
  until: number;
}

/** Members by reference, as the webhooks have reported them. Your database goes here. */
const globals = globalThis as { members?: Map<string, Member> };
globals.members ??= new Map();
const { members } = globals;

interface ReportedMembership {
  customer: { customer_ref?: string };
  status: string;
  expires_at: string | null;
  version: number;
}

/** Stores a membership, unless a later version is known: webhooks may arrive in another order. */
export function storeMembership({ customer, status, expires_at, version }: ReportedMembership): void {
  const reference = customer.customer_ref;
  if (reference === undefined || (members.get(reference)?.version ?? 0) >= version) return;
  const end = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at);
  members.set(reference, { version, until: status === 'active' || status === 'grace' ? end : 0 });
}

/** Returns when a visitor's access ends, or null without access. Asks the service about a visitor that no webhook has named. */
export async function findAccess(reference: string): Promise<number | null> {
  if (!members.has(reference)) {
    try {
      storeMembership(await client.memberships.lookup({ customer_ref: reference, product_id: PRODUCT }));
    } catch (error) {
      if (!isSvcError(error, 'not_found')) throw error;
    }
  }
  const until = members.get(reference)?.until ?? 0;
  return until > Date.now() ? until : null;
}
