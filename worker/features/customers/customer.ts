import type { z } from '@hono/zod-openapi';
import { canonicalJson } from '#core/encoding.ts';
import { ApiError, raise } from '#core/errors.ts';
import type { CustomerId } from '#core/ids.ts';
import { type TimelineBody, toTimelineItems } from '#features/webhooks/timeline.ts';
import type { Scope } from '#platform/context.ts';
import { commit, isConstraint, transact } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import { customerKeyOf } from '#platform/db/search/customer.ts';
import { loadCustomerIds } from '#platform/db/search/customer-ids.ts';
import { insertCustomerRow, newCustomerRow } from '#platform/db/search/new-customer.ts';
import type { Company, CustomerRow } from '#platform/db/tables/entitlements.ts';
import { changedMetadata, hasRoom, type MetadataPatch, TOO_MANY_KEYS } from '#platform/http/bodies/own-fields.ts';
import type { Customer } from '#rules/balance.ts';
import { NO_ACCESS, type ShownCustomer, toCustomerResource } from './resource.ts';
import { findCustomerRow, findOwnRow, isKnownCustomer, listAccess, listMerged, updateCustomerRow } from './store.ts';
import { loadCustomerTimeline } from './timeline.store.ts';

interface Details {
  email?: string | null | undefined;
  name?: string | null | undefined;
  company?: Company | null | undefined;
}

const known = (customerId: CustomerId): ApiError =>
  new ApiError('state_conflict', {
    detail: 'The customer exists. Update it instead.',
    meta: { customer_id: customerId },
  });

const addressOf = (email: string | null | undefined): string | null => email?.trim().toLowerCase() ?? null;

/**
 * Notes a customer before a sale names it. Throws 409 state_conflict with `meta.customer_id` if the merchant has something of the customer,
 * or a concurrent call was first.
 */
export async function createCustomer(
  ctx: Scope,
  key: Customer,
  { metadata = {}, ...details }: Details & { metadata?: Record<string, string> | undefined },
  storeAnswer: StoreAnswer<ShownCustomer>,
): Promise<ShownCustomer> {
  const noted = { email: addressOf(details.email), name: details.name ?? null, company: details.company ?? null, metadata };
  const [newId] = await loadCustomerIds(ctx.db, ctx, [key]);
  const id = newId!;
  const row = { ...newCustomerRow(ctx, id, key), ...noted };
  if (await isKnownCustomer(ctx, key)) throw known(id);
  const made: ShownCustomer = { row, access: NO_ACCESS, merged: [] };
  try {
    return await commit(ctx, await withAnswer({ events: [], writes: [insertCustomerRow(ctx, row)], result: made }, storeAnswer(made)));
  } catch (error) {
    throw isConstraint(error) && (await findOwnRow(ctx, id)) ? known(id) : error;
  }
}

export async function readCustomer(ctx: Scope, customerId: CustomerId): Promise<ShownCustomer> {
  const row = (await findCustomerRow(ctx, customerId)) ?? raise('not_found');
  const [access, merged] = await Promise.all([listAccess(ctx, [row]), listMerged(ctx, [row.id])]);
  return { row, access: access.get(row.id) ?? NO_ACCESS, merged: merged.get(row.id) ?? [] };
}

/** Key that a membership has as text. */
export const parseKey = (text: string): Customer =>
  text.startsWith('ref:') ? { customerRef: text.slice('ref:'.length) } : { walletAddress: text.slice('wallet:'.length) };

/** Lists the newest events of a customer and their deliveries, newest first. Throws 404. */
export async function readCustomerTimeline(ctx: Scope, customerId: CustomerId, limit: number): Promise<z.infer<typeof TimelineBody>> {
  const row = (await findCustomerRow(ctx, customerId)) ?? raise('not_found');
  const merged = (await listMerged(ctx, [row.id])).get(row.id) ?? [];
  const found = await loadCustomerTimeline(ctx, row, [row, ...merged].map(customerKeyOf));
  return { items: toTimelineItems(found).reverse().slice(0, limit), next: null };
}

/** Throws 409 state_conflict for a customer that is being erased, or is erased. */
export function requireUnerased({ status }: CustomerRow): void {
  if (status === 'active') return;
  const detail = 'The customer is erased, or is about to be. Nothing of it can be changed.';
  throw new ApiError('state_conflict', { detail, meta: { reason: status } });
}

const isSame = (a: unknown, b: unknown): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);

type Patch = Details & { metadata?: z.infer<typeof MetadataPatch> | undefined };

function patchOf({ email, name, company, metadata }: Patch, row: CustomerRow): Partial<CustomerRow> {
  const merged = metadata && changedMetadata(row.metadata, metadata);
  if (merged && !hasRoom(merged))
    throw new ApiError('validation_error', { problems: [{ loc: ['body', 'metadata'], msg: TOO_MANY_KEYS, type: 'too_big' }] });
  const named = { email: email === undefined ? undefined : addressOf(email), name, company, metadata: merged };
  return Object.fromEntries(
    Object.entries(named).filter(([field, value]) => value !== undefined && !isSame(value, row[field as keyof CustomerRow])),
  );
}

/** Updates the merchant's details of a customer, with `customer.updated`. Throws 404, 409 for an erased one, 422 for too much metadata. */
export const changeCustomer = (
  ctx: Scope,
  customerId: CustomerId,
  input: Patch,
  storeAnswer: StoreAnswer<ShownCustomer>,
): Promise<ShownCustomer> =>
  transact(ctx, { reload: () => readCustomer(ctx, customerId) }, async (before) => {
    requireUnerased(before.row);
    const patch = patchOf(input, before.row);
    if (Object.keys(patch).length === 0) return unchangedWithAnswer(before, storeAnswer);
    const row: CustomerRow = { ...before.row, ...patch, updatedAt: ctx.now, version: before.row.version + 1 };
    const after: ShownCustomer = { ...before, row };
    const [shown, previous] = [toCustomerResource(after), toCustomerResource(before)];
    const fields = (['emails', 'name', 'company', 'metadata'] as const).filter((field) => !isSame(shown[field], previous[field]));
    const change = {
      events: [
        {
          ...{ merchantId: ctx.merchantId, livemode: ctx.livemode, type: 'customer.updated' as const },
          subject: { type: 'customer' as const, id: row.id, version: row.version },
          object: shown,
          previous: Object.fromEntries(fields.map((field) => [field, previous[field] ?? null])),
        },
      ],
      writes: updateCustomerRow(ctx, before.row, { ...patch, updatedAt: ctx.now }),
      result: after,
    };
    return withAnswer(change, storeAnswer(after, { before }));
  });
